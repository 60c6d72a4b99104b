"""Which addresses are links to articles, and where in the text they stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.parser.html import parse_html
from trivium.parser.html.link_targets import _PLAIN, article_title, link_target

EN = "en.wikipedia.org"


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("/wiki/Alan_Turing", "Alan Turing"),
        ("/wiki/Alan_Turing#Legacy", "Alan Turing"),
        ("./Alan_Turing", "Alan Turing"),
        ("./alan_Turing#x", "Alan Turing"),
        ("//en.wikipedia.org/wiki/Mars", "Mars"),
        ("https://en.wikipedia.org/wiki/Mars?oldformat=true", "Mars"),
        ("https://EN.m.wikipedia.org/wiki/Mars", "Mars"),
        ("/wiki/%C3%89ire", "Éire"),
        ("/wiki/AC/DC", "AC/DC"),
        ("/wiki/What%3F", "What?"),
        ("/wiki/2001:_A_Space_Odyssey", "2001: A Space Odyssey"),
        ("/wiki/eBay", "EBay"),
        ("/wiki/%C3%9Fx", "ßx"),
        ("/wiki/Foo__bar_", "Foo bar"),
        ("/w/index.php?title=Yet_unwritten&action=edit&redlink=1", "Yet unwritten"),
        ("https://en.wikipedia.org/w/index.php?title=Yet_unwritten&action=edit&redlink=1", "Yet unwritten"),
        ("./Yet_unwritten?action=edit&redlink=1", "Yet unwritten"),
        ("/w/index.php?title=Mars&redirect=no", "Mars"),
    ],
)
def test_addresses_of_articles_name_their_title(href: str, expected: str) -> None:
    """Fragment and query are dropped, encoding undone, the first letter is capital."""
    assert link_target(href, EN) == expected


@pytest.mark.parametrize(
    "href",
    [
        "#cite_note-1",
        "",
        "/wiki/",
        "/wiki/#x",
        "/wiki/File:Mars.jpg",
        "/wiki/Category:Planets",
        "/wiki/category:planets",
        "/wiki/Help:IPA",
        "/wiki/Wikipedia:About",
        "/wiki/Special:Search",
        "/wiki/Template:Mars",
        "/wiki/Template_talk:Mars",
        "/wiki/Portal:Space",
        "/wiki/Talk:Mars",
        "/wiki/Datei:Mars.jpg",
        "/wiki/Cat%C3%A9gorie:Planète",
        "./File:Mars.jpg",
        "/wiki/:Category:Planets",
        "/w/index.php?title=Mars&action=edit",
        "/w/index.php?title=Mars&oldid=7",
        "/w/index.php?title=File:Gone.jpg&action=edit&redlink=1",
        "https://fr.wikipedia.org/wiki/Mars",
        "https://en.wiktionary.org/wiki/mars",
        "https://example.org/wiki/Mars",
        "https://example.org/",
        "mailto:someone@example.org",
        "javascript:alert(1)",
        "relative.html",
        "/wiki/" + "x" * 256,
        "//[bad",
    ],
)
def test_other_addresses_are_no_content_links(href: str) -> None:
    """Fragments, other namespaces, other sites, actions and impossible titles lead to no article."""
    assert link_target(href, EN) is None


def test_without_a_known_site_any_wikipedia_is_its_own() -> None:
    """A fragment does not say where it is from."""
    assert link_target("https://de.wikipedia.org/wiki/Mars", None) == "Mars"
    assert link_target("https://example.org/wiki/Mars", None) is None


@given(st.from_regex(_PLAIN, fullmatch=True))
def test_the_short_cut_for_plain_addresses_agrees_with_the_rules(href: str) -> None:
    """What needs no decoding gives the same title by either way."""
    assert link_target(href, EN) == article_title(href.removeprefix("/wiki/"))


@given(st.text(max_size=600))
def test_any_address_is_answered(href: str) -> None:
    """No address, however malformed, raises."""
    link_target(href, EN)


def links_of(html: str) -> list[tuple[str, str]]:
    page = parse_html(f"<title>Mars</title>{html}")
    return [(k.target, page.text[k.start : k.end]) for _, chunk in page.all_chunks() for k in chunk.links]


def test_a_link_delimits_its_visible_text() -> None:
    """White space around the anchor and inside its edges does not belong to it."""
    html = (
        '<p>The <a href="/wiki/Red_Planet"> red <i>planet</i> </a> and <a href="/wiki/Sun">the\n Sun</a>.</p>'
    )
    assert links_of(html) == [("Red Planet", "red planet"), ("Sun", "the Sun")]


def test_the_href_decides_not_the_title_attribute() -> None:
    """Titles of anchors may be anything."""
    assert links_of('<p><a href="/wiki/Sun" title="Moon">star</a></p>') == [("Sun", "star")]


def test_self_links_are_ignored() -> None:
    """Neither an anchor without href nor a link to the page itself or its sections counts."""
    html = (
        '<p><a class="mw-selflink">Mars</a> <a href="/wiki/Mars#Moons">moons</a> <a href="#Moons">m</a></p>'
    )
    assert links_of(html) == []


def test_a_link_around_an_image_is_kept_without_text() -> None:
    """It stands where the image stood."""
    page = parse_html(
        '<title>M</title><p>Flag <a href="/wiki/Norway"><img src="n.svg" alt="N"></a> here.</p>'
    )
    (chunk,) = page.chunks
    (link,) = chunk.links
    assert (link.target, link.start, link.end) == ("Norway", 4, 4)
    assert chunk.text == "Flag here."


def test_the_pages_own_site_is_read_from_its_canonical_link() -> None:
    """Absolute links to that site are internal, to another they are not."""
    html = (
        '<head><link rel="canonical" href="https://de.wikipedia.org/wiki/Mars"></head>'
        '<p><a href="https://de.wikipedia.org/wiki/Sonne">S</a> <a href="https://en.wikipedia.org/wiki/Sun">s</a></p>'
    )
    assert [link.target for link in parse_html(html).chunks[0].links] == ["Sonne"]


def test_a_link_across_blocks_is_recorded_in_each() -> None:
    """HTML allows blocks inside an anchor; no part may point outside its chunk."""
    html = '<a href="/wiki/Sun"><p>first part</p><p>second part</p></a>tail'
    assert links_of(html) == [("Sun", "first part"), ("Sun", "second part")]
