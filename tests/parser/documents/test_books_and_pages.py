"""What HTML can express reads alike in a page of a site, a page of a MediaWiki, a book, and Markdown."""

from __future__ import annotations

import pytest

from tests.parser.documents.files import NAV, book_of, epub, read, texts
from trivium.parser.html import parse_html
from trivium.types import Page

FORMATS = ("site", "wiki", "epub", "markdown")


def page_of(format: str, html: str) -> Page:
    content = f"<div id='mw-content-text'><p>A farm.</p>{html}</div>"
    whole = f"<html><head><title>Farm</title></head><body>{content}</body></html>"
    if format == "wiki":
        return parse_html(whole)
    if format == "markdown":
        return read("markdown", f"A farm.\n\n{html}\n".encode())
    whole = whole.replace(" id='mw-content-text'", "")
    return read("html", whole.encode()) if format == "site" else read("epub", book_of(whole))


def shown(format: str, html: str) -> str:
    return "\n".join(text for _, _, text in texts(page_of(format, html))[1:])


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    ("html", "text"),
    [
        (
            "<p>6·10<sup>24</sup> H<sub>2</sub>O, <sup>3</sup>&frasl;<sub>8</sub> of 4&sup3;, 2&frac34;",
            "6·10²⁴ H₂O, 3/8 of 4³, 2¾",
        ),
        (
            "<p>Let <math><mi>v</mi><mo>=</mo><mfrac><mi>s</mi><mrow><mn>3</mn><mi>t</mi></mrow></mfrac></math> be",
            "Let v = s/(3t) be",
        ),
        ("<p>毎朝<ruby>洗<rt>せん</rt>濯<rt>たく</rt></ruby>する。</p>", "毎朝洗濯する。 (せん たく)"),
        (
            "<p>AsO<span class='template-chem2-su'><span>3−</span><span>4</span></span>,"
            " √<span style='border-top:1px solid'>k+5</span> and"
            " √<span style='text-decoration: overline'>7</span> of 10<sup>⁻⁶</sup>.</p>",
            "AsO₄³⁻, √(k+5) and √7 of 10⁻⁶.",
        ),
        ("<p>3<sup>k<sup>m</sup></sup> and r<sub>i<sub>j</sub></sub></p>", "3^(k^m) and r_(i_j)"),
        ("<ol start=4><li>Sow</li><li value=9>Reap</li><li>Rest</li></ol>", "4. Sow\n9. Reap\n10. Rest"),
        ("<ol reversed type=A><li>Sow</li><li>Reap</li></ol>", "B. Sow\nA. Reap"),
        ("<p>It costs <del>80</del> <s>75</s> <strike>70</strike> <ins>65</ins> euro.</p>", "It costs 65 euro."),
        (
            "<p>It costs <span style='color: red; text-decoration: line-through red'>80</span>"
            "<b style='text-decoration-line:line-through'>75</b> 65 euro.</p>",
            "It costs 65 euro.",
        ),
        ("<p style='text-decoration: underline'>Open.</p><p style='text-decoration:line-through'>Shut.</p>", "Open."),
        ("<ol><li>Sow</li><li style='text-decoration:line-through'>Wait</li><li>Reap</li></ol>", "1. Sow\n3. Reap"),
        (
            "<table><tr><th>Crop</th><th>May</th><th>June</th></tr><tr><td>Rye</td>"
            "<td style='text-decoration: line-through'>7</td><td>8</td></tr></table>",
            "Crop | May | June\nCrop: Rye; June: 8",
        ),
    ],
)  # fmt: skip
def test_what_html_can_express_reads_alike(format: str, html: str, text: str) -> None:
    assert shown(format, html) == text


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    ("table", "rows"),
    [
        (
            "<thead><tr><th rowspan=3>Crop</th><th>Sacks</th></tr></thead><tbody><tr><td>Rye</td><td>7</td></tr></tbody>",
            "Crop | Sacks\nCrop: Rye; Sacks: 7",
        ),
        (
            "<tbody><tr><th>Crop</th><th>Sacks</th></tr><tr><td rowspan=9>Rye</td><td>7</td></tr></tbody>"
            "<tbody><tr><td>Oat</td><td>5</td></tr></tbody>",
            "Crop | Sacks\nCrop: Rye; Sacks: 7\nCrop: Oat; Sacks: 5",
        ),
        (
            "<thead><tr><th>Field</th><th>Crop</th><th>Sacks</th></tr></thead><tbody><tr><th rowspan=3>North</th></tr>"
            "<tr><td>Rye</td><td>7</td></tr></tbody><tbody><tr><th rowspan=2>South</th></tr>"
            "<tr><td>Oat</td><td>5</td></tr></tbody>",
            "Field | Crop | Sacks\nField: North; Crop: Rye; Sacks: 7\nField: South; Crop: Oat; Sacks: 5",
        ),
        (
            "<thead><tr><th>Field</th><th>Crop</th></tr></thead><tbody><tr><th rowspan=2>North</th></tr></tbody>"
            "<tbody><tr><td>South</td><td>Oat</td></tr></tbody>",
            "Field | Crop\nField: North\nField: South; Crop: Oat",
        ),
    ],
)
def test_cells_do_not_span_rows_beyond_their_group(format: str, table: str, rows: str) -> None:
    assert shown(format, f"<table>{table}</table>") == rows


GAS = "N<sub>2</sub>O at 10<sup>3</sup> kPa"


def test_titles_headings_and_captions_are_read_like_paragraphs() -> None:
    name = "N₂O at 10³ kPa"
    body = f"<h1>{GAS}</h1><p>It is stored.</p>"
    site = f"<html><head><title>N2O at 103 kPa | Gases</title></head><body><main>{body}</main></body></html>"
    figure = f"<h2>A</h2><p>It is.</p><figure><img src=a.png alt=tank width=300><figcaption>{GAS}</figcaption></figure>"
    caption = f"<table><caption>{GAS}</caption><tr><td>1</td><td>2</td></tr></table>"
    assert read("html", site.encode()).title == name
    assert read("markdown", f"# {GAS}\n\nIt is stored.\n".encode()).title == name
    assert parse_html(f"<h1 id='firstHeading'>{GAS}</h1><div id='mw-content-text'><p>x</div>").title == name
    for format in FORMATS:
        assert [s.heading for s in page_of(format, f"<h2>{GAS}</h2><p>x</p>").sections] == [name]
        assert shown(format, caption).startswith(f"{name}\n")
    for format in ("site", "markdown", "wiki"):
        assert name in shown(format, figure)


def test_labels_of_the_table_of_contents_are_read_like_paragraphs() -> None:
    """Where they are plain text, they are taken from the heading that they name."""
    new = epub({"OEBPS/nav.xhtml": NAV.replace("The Lamp", GAS)})
    assert read("epub", new).sections[0].heading == "N₂O at 10³ kPa"
    chapter = f"<html><body><h1>{GAS}</h1><p>It is stored.</p></body></html>"
    old = epub({"OEBPS/nav.xhtml": NAV.replace("The Lamp", "N2O at 103 kPa"), "OEBPS/text/a.xhtml": chapter})
    assert read("epub", old).sections[0].heading == "N₂O at 10³ kPa"
