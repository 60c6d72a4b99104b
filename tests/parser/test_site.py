"""Pages of any site: their content without menus, their titles, metadata and links; those of a MediaWiki as ever."""

from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from trivium.errors import ParseError
from trivium.parser.documents.document_file import DocumentFile
from trivium.parser.html import parse_html
from trivium.parser.html.site import is_wiki
from trivium.parser.sources.discover import read
from trivium.parser.sources.source_items import Item
from trivium.settings.limits import DEFAULT_LIMITS
from trivium.types import Page

PROSE = "This is a sentence of the text, as long as such sentences are in manuals that people read. " * 4
MENU = "".join(f'<li><a href="p{n}.html">Chapter {n}</a></li>' for n in range(12))


def site(html: str, path: str = "site/docs/page.html", source: str = "page.html") -> Page:
    return parse_html(html, source=source, file=DocumentFile(html.encode(), source, path))


def texts(html: str) -> list[str]:
    return [chunk.text for _, chunk in site(html).all_chunks()]


@pytest.mark.parametrize(
    "around",
    [
        "<nav><ul>{menu}</ul></nav><main>{text}</main><footer>Imprint</footer>",
        "<div role=navigation><ul>{menu}</ul></div><div role=main>{text}</div>",
        "<div class='page-sidebar'>{menu}</div><article>{text}</article><div class=related>{menu}</div>",
        "<div><ul>{menu}</ul></div><div>{text}</div><div class=site-footer>Imprint</div>",
        "<table><tr><td>{menu}</td></tr></table>{text}<footer>Imprint</footer>",
        "<main>{text}<div class='toc'>{menu}</div><ul>{anchors}</ul></main>",
    ],
)
def test_menus_and_footers_are_left_out(around: str) -> None:
    text = f"<h1>Pumps</h1><p>{PROSE}</p><h2>Parts</h2><p>{PROSE}</p>"
    anchors = "".join(f'<li><a href="#s{n}">Section {n}</a></li>' for n in range(5))
    page = site(f"<title>Pumps - The Manual</title>{around.format(menu=MENU, text=text, anchors=anchors)}")
    assert page.title == "Pumps"
    assert [section.heading for section in page.sections] == ["Parts"]
    assert page.text == f"Pumps\n\n{PROSE.strip()}\n\nParts\n\n{PROSE.strip()}"


def test_a_list_of_links_in_the_content_that_a_page_marks_is_kept() -> None:
    page = site(f"<main><h1>Pumps</h1><p>{PROSE}</p><h2>See also</h2><ul>{MENU}</ul></main>")
    assert page.sections[0].chunks[0].references[:2] == ("p0.html", "p1.html")


def test_what_holds_most_of_the_text_is_no_menu_whatever_it_is_called() -> None:
    assert texts(f"<body class='with-sidebar'><div class='toolbar'><p>{PROSE}</p></div></body>") == [
        PROSE.strip()
    ]


def test_a_page_of_links_alone_is_read() -> None:
    assert "Chapter 3" in site(f"<title>Contents</title><ul>{MENU}</ul>").text


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title>Pumps | The Manual</title>", "<h1>Pumps</h1>", "Pumps"),
        ("<title>The Manual - Pumps</title><meta property=og:site_name content='The Manual'>", "", "Pumps"),
        ("<title>A | B</title><meta property=og:title content='Shared'>", "<h1>Other</h1>", "Shared"),
        ("<title>The Manual – pumps and hoses</title>", "<h1>Pumps and hoses</h1>", "Pumps and hoses"),
        ("<title>Pumps</title>", "<h1>Pumps<a href='#p'>¶</a></h1>", "Pumps"),
        ("", "<h1>Heading</h1>", "Heading"),
        ("", "", "page"),
    ],
)
def test_the_title_is_without_the_name_of_the_site(head: str, body: str, title: str) -> None:
    assert site(f"<head>{head}</head><body>{body}<p>{PROSE}</p></body>").title == title


def test_metadata_is_what_a_page_says_of_itself() -> None:
    page = site(
        '<html lang="en-GB"><head><meta name="author" content="Ann"><meta name="description" content="All of it.">'
        '<script type="application/ld+json">{"@type": "Article", "headline": "x", "datePublished": "2024-05-01"}</script>'
        f"</head><body><p>{PROSE}</p></body></html>"
    )
    assert page.metadata == {
        "author": "Ann",
        "description": "All of it.",
        "date": "2024-05-01",
        "language": "en-GB",
    }


@pytest.mark.parametrize(
    "broken", ["{", "[" * 100_000, '"x"', "[1, null]", '{"@graph": 1}', '{"headline": [], "author": [[[]]]}']
)
def test_metadata_that_is_broken_does_not_matter(broken: str) -> None:
    html = f'<script type="application/ld+json">{broken}</script><meta name=date content="yesterday"><p>{PROSE}</p>'
    assert site(html).metadata == {}


def test_links_lead_to_other_pages_of_the_site_and_to_titles() -> None:
    page = site(
        "<head><link rel=canonical href='https://docs.example.org/a/b.html'></head><p>"
        "<a href='../x.html#part'>1</a> <a href='/y/'>2</a> <a href='https://docs.example.org/z.html?v=1'>3</a>"
        "<a href='https://other.example/w.html'>4</a> <a href='./v.html'>5</a> <a href='/wiki/Mars_(planet)'>6</a>"
        " <a href='#top'>7</a> <a href='mailto:a@b.c'>8</a> Text.</p>"
    )
    [chunk] = page.chunks
    assert chunk.references == ("../x.html#part", "/y/", "/z.html", "./v.html")
    assert [link.target for link in chunk.links] == ["Mars (planet)"]


def test_a_page_of_a_mediawiki_is_read_as_ever(tmp_path: Path) -> None:
    wiki = (
        '<link rel="canonical" href="https://en.wikipedia.org/wiki/Mars"><h1>Mars</h1>'
        '<p>A <a href="/wiki/Planet">planet</a>.</p>'
    )
    (tmp_path / "a.html").write_text(wiki)
    [page] = read(Item("html", str(tmp_path / "a.html"), path="x/a.html"))
    assert (page.title, page.path) == ("Mars", "")
    assert page.chunks == parse_html(wiki).chunks


def test_any_other_page_knows_where_it_lies(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(f"<h1>Pumps</h1><p>{PROSE}</p>")
    [page] = read(Item("html", str(tmp_path / "a.html"), path="x/a.html"))
    assert (page.title, page.path, page.format) == ("Pumps", "x/a.html", "html")
    assert page.modified is not None


def test_a_text_about_a_wiki_is_no_page_of_one() -> None:
    assert not is_wiki(b"<link rel=canonical href=https://example.org/about><a href=/wiki/Mars>Mars</a>")


def test_a_page_without_text_is_refused() -> None:
    with pytest.raises(ParseError, match="no text"):
        site("<title>x</title><main><script>x</script></main>")


def test_deeply_nested_elements_are_read_in_linear_time() -> None:
    depth = 20_000
    html = "<div><a href=x>" * depth + "text" + "</a></div>" * depth
    try:
        assert "text" in site(html).text
    except ParseError as error:
        assert "elements open" in str(error)


def test_limits_hold_for_pages_of_sites() -> None:
    limits = DEFAULT_LIMITS.model_copy(update={"tags": 10})
    with pytest.raises(ParseError, match="tags"):
        parse_html("<p>x</p>" * 20, limits=limits, file=DocumentFile(b"", "a", "a.html"))


def test_of_several_main_contents_the_one_with_the_title_is_read() -> None:
    """Although the discussion below it is longer."""
    talk = "".join(
        f"<p>I disagree with what number {n} said about the weir, as so often.</p>" for n in range(8)
    )
    article = "<h1>The weir leaks</h1><p>A plank of the weir is rotten.</p>"
    page = site(f'<div role="main">{article}</div><div role="main">{talk}</div>')
    assert "plank of the weir" in page.text and "I disagree" not in page.text


def test_text_for_browsers_without_scripts_is_read_where_there_is_no_other() -> None:
    hidden = "<noscript><h1>The weir leaks</h1><p>A plank of the weir is rotten.</p></noscript>"
    assert "plank of the weir" in site(f'<div id="app"></div>{hidden}').text
    assert (
        "plank" not in site(f"<main><p>The weir is mended, and the mill runs again.</p></main>{hidden}").text
    )


BARE = [
    f"<h1>Offer</h1><p>{PROSE}</p><table><tr><th>Item<th>Price<tr><td>Pump<td>12 EUR</table><h2>Terms</h2>",
    "<h1>Steps</h1><ol><li>Open<li>Close</ol><dl><dt>Weir<dd>A low dam</dl><h2>Last heading</h2>",
    f"<div><p>{PROSE}</p></div><div>Short line</div><aside>A note</aside><blockquote>Said</blockquote>",
    f'<main><p>{PROSE}</p><pre><code><span class="token comment"># why</span> x = 1</code></pre></main>',
]


@pytest.mark.parametrize("html", BARE)
def test_a_page_without_menus_loses_no_word(html: str) -> None:
    shown = set(LexborHTMLParser(html).body.text(separator=" ").split())
    page = site(html)
    kept = " ".join([page.title, page.text, *(chunk.text for _, chunk in page.all_chunks())])
    assert not {word for word in shown if word not in kept}


@pytest.mark.parametrize(
    "beside",
    [
        '<div class="comments"><p>I disagree with all that is said here about the weir.</p></div>',
        '<aside class="widget"><h3>Most read</h3><a href="x.html">Another weir</a></aside>',
        '<h3>More</h3><div class="teaser"><a href="x.html">Another weir</a><p>It leaks.</p></div>',
        '<p><a href="x.html">Read also how another weir was mended</a></p>',
    ],
)
def test_what_stands_beside_an_article_is_left_out(beside: str) -> None:
    article = f"<h1>The weir</h1><p>{PROSE}{PROSE}{PROSE}</p>{beside}"
    page = site(f"<head><meta property=og:type content=article></head><body><div>{article}</div></body>")
    assert "sentence of the text" in page.text
    assert not any(word in page.text for word in ("disagree", "Another", "another weir", "More", "Most read"))
