"""Formulas, numbers of lists, ruby, deletions and headers of rows in HTML and Markdown."""

from __future__ import annotations

import time

import pytest

from trivium.parser.documents import markdown
from trivium.parser.documents.document_file import DocumentFile
from trivium.parser.html import parse_html
from trivium.settings.limits import DEFAULT_LIMITS
from trivium.text.normalise import sentences


def shown(html: str) -> str:
    page = parse_html(f"<h1>Notes</h1>{html}")
    return "\n".join(chunk.text for _, chunk in page.all_chunks())


@pytest.mark.parametrize(
    ("mathml", "text"),
    [
        (
            "<mi>v</mi><mo>=</mo><mfrac><mrow><mi>s</mi><mo>-</mo><mn>1</mn></mrow><mrow><mn>4</mn><mi>t</mi></mrow></mfrac>",
            "v = (s - 1)/(4t)",
        ),
        ("<msup><mn>3</mn><mn>8</mn></msup><mo>+</mo><msub><mi>a</mi><mi>k</mi></msub>", "3⁸ + a_k"),
        ("<msqrt><mn>72</mn></msqrt><mroot><mi>y</mi><mn>3</mn></mroot>", "√72 ³√y"),
        ("<mn>5</mn><mfrac><mn>1</mn><mn>8</mn></mfrac>", "5 1/8"),
        ("<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>", "x_i²"),
        ("<mfenced><mi>p</mi><mi>q</mi></mfenced>", "(p, q)"),
        ("<mfenced open='[' close=''><mi>p</mi></mfenced>", "[p"),
        (
            "<mmultiscripts><mi>Ra</mi><none/><mn>2</mn><mprescripts/><mn>88</mn><mn>226</mn></mmultiscripts>",
            "²²⁶₈₈Ra²",
        ),
        ("<mmultiscripts><mi>T</mi><mi>k</mi><none/><none/><mi>m</mi></mmultiscripts>", "T_k^m"),
        ("<msup><msup><mi>y</mi><mn>4</mn></msup><mn>5</mn></msup>", "(y⁴)⁵"),
        ("<msup><msub><mi>y</mi><mn>4</mn></msub><mn>5</mn></msup>", "y₄⁵"),
        (
            "<munderover><mo>∏</mo><mrow><mi>j</mi><mo>=</mo><mn>3</mn></mrow><mn>12</mn></munderover><msub><mi>b</mi><mi>j</mi></msub>",
            "∏_(j=3)¹² b_j",
        ),
        (
            "<munder><mi>lim</mi><mrow><mi>t</mi><mo>→</mo><mn>9</mn></mrow></munder><mo>(</mo><mi>t</mi><mo>)</mo>",
            "lim_(t→9) (t)",
        ),
        ("<mover><mi>PQ</mi><mo>→</mo></mover><mover><mi>d</mi><mo>⏞</mo></mover>", "P\u20d7Q\u20d7 d"),
        ("<mfrac linethickness='0'><mn>8</mn><mn>3</mn></mfrac>", "(8 over 3)"),
        ("<msup><mn>60</mn><mo>∘</mo></msup><menclose notation='radical'><mi>q</mi></menclose>", "60°√q"),
        (
            "<mo>(</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mi>k</mi></mtd></mtr><mtr><mtd><mn>6</mn></mtd></mtr></mtable><mo>)</mo>",
            "(1, k; 6)",
        ),
        ("<semantics><mi>z</mi><annotation encoding='StarMath'>q</annotation></semantics>", "z"),
        (
            "<semantics><mi>z</mi><annotation encoding='application/x-tex'>\\zeta</annotation></semantics>",
            "\\zeta",
        ),
    ],
)
def test_formulas_are_one_line_of_text(mathml: str, text: str) -> None:
    assert shown(f"<p>Let <math>{mathml}</math> be") == f"Let {text} be"


def test_deep_formulas_are_read_in_linear_time() -> None:
    begin = time.process_time()
    assert shown("<p>x <math>" + "<mrow><mi>a</mi>" * 5_000 + "</math>").count("a") == 5_000
    assert time.process_time() - begin < 5


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<ol><li>Sow.</li><li>Reap.</li></ol>", "1. Sow.\n2. Reap."),
        ("<ol start=9><li>Sow<li><p>Reap</ol>", "9. Sow\n10. Reap"),
        ("<ol type=a><li>Sow<ol type=i><li>deep</ol><li value=5>Reap</ol>", "a. Sow\n  i. deep\ne. Reap"),
        ("<ol reversed><li>Sow<li>Reap</ol>", "2. Sow\n1. Reap"),
        ("<ol style='list-style-type: upper-roman'><li>Sow<li>Reap</ol>", "I. Sow\nII. Reap"),
        ("<ol class=list-unstyled><li>Sow</ol>", "Sow"),
        ("<ul><li>Sow</ul>", "Sow"),
        ("<table><tr><td><ol><li>Sow<li>Reap</ol><td>x</table>", "1. Sow\n2. Reap\nx"),
        ("<ol><li><img src=a.png><li>Reap</ol>", "2. Reap"),
    ],
)
def test_items_have_the_numbers_that_readers_see(html: str, text: str) -> None:
    assert shown(html) == text


def test_the_number_of_an_item_is_no_part_of_its_link_and_no_sentence() -> None:
    page = parse_html(
        "<h1>N</h1><ol type=a><li>Sow.<li><a href='/wiki/Harvest'>Reap</a> in May. Then rest.</ol>"
    )
    (link,) = page.chunks[0].links
    text = page.chunks[0].text
    assert page.text[link.start : link.end] == "Reap"
    assert [text[a:b] for a, b in sentences(text)] == ["a. Sow.", "b. Reap in May.", "Then rest."]


def test_markdown_keeps_powers_and_numbers_and_drops_what_is_struck_through() -> None:
    text = b"# Farm\n\n4. Sow 10<sup>6</sup> grains.\n5. Reap ~~all~~ half of the H<sub>2</sub>O.\n"
    page = markdown.read(DocumentFile(text, "farm.md", "farm.md"), DEFAULT_LIMITS)
    texts = [chunk.text for _, chunk in page.all_chunks()]
    assert texts == ["4. Sow 10⁶ grains.\n5. Reap half of the H₂O."]


def test_base_characters_of_ruby_are_one_word_and_its_readings_end_the_block() -> None:
    html = (
        "<p>毎朝<ruby>洗<rt>せん</rt>\n濯<rp>(</rp><rt>たく</rt></ruby><ruby>機<rt>き</rt></ruby>を回す。</p>"
    )
    assert shown(html) == "毎朝洗濯機を回す。 (せん たく き)"


def test_the_readings_of_ruby_do_not_interrupt_a_title() -> None:
    heading = "<ruby>水<rp>(</rp><rt>みず</rt><rp>)</rp>車<rt>くるま</rt></ruby>"
    assert parse_html(f"<h1>{heading}</h1><p>古い。").title == "水車 (みず くるま)"
    text = f"# {heading}\n\n古い。\n".encode()
    page = markdown.read(DocumentFile(text, "mill.md", "mill.md"), DEFAULT_LIMITS)
    assert (page.title, page.sections) == ("水車 (みず くるま)", ())


@pytest.mark.parametrize("mark", ["•", "–", "*", "▪"])
def test_items_typed_with_line_breaks_stand_on_lines_of_their_own(mark: str) -> None:
    assert (
        shown(f"<p>Bring:<br>{mark} rope<br>{mark} tea or<br>coffee")
        == f"Bring:\n{mark} rope\n{mark} tea or coffee"
    )


HEAD = "<tr><th>Floor<th>Room<th>Beds"
ROWS = "<tr><th rowspan=3>First<tr><td>Oak<td>2<tr><td>Elm<td>3"
READ = "Floor | Room | Beds\nFloor: First; Room: Oak; Beds: 2\nFloor: First; Room: Elm; Beds: 3"


@pytest.mark.parametrize(
    ("table", "text"),
    [
        (f"{HEAD}{ROWS}", READ),
        (f"<thead>{HEAD}</thead><tbody>{ROWS}</tbody>", READ),
        (
            f"{HEAD}<tr><th rowspan=2 scope=rowgroup>First<th scope=row>Oak<td>2<tr><th scope=row>Elm<td>3",
            READ,
        ),
        (
            f"{HEAD}<tr><th rowspan=4>First<tr><th rowspan=3>East<tr><td>2<tr><td>3",
            "Floor | Room | Beds\nFloor: First; Room: East; Beds: 2\nFloor: First; Room: East; Beds: 3",
        ),
        (
            "<tr><th rowspan=2>Inn<th colspan=2>Guests<tr><th>May<th>June<tr><td>Star<td>4<td>5",
            "Inn | Guests\nMay | June\nInn: Star; Guests May: 4, June: 5",
        ),
    ],
)
def test_a_row_of_only_spanning_headers_names_the_rows_below(table: str, text: str) -> None:
    assert shown(f"<table>{table}</table>") == text


def test_a_heading_with_a_subscript_that_is_the_title_is_no_section() -> None:
    page = parse_html("<html><title>N2O cylinders</title><body><h1>N<sub>2</sub>O cylinders</h1><p>Blue.")
    assert page.sections == ()
