"""What a page says of itself: title, aliases, revision, whatever skin wrote it."""

from __future__ import annotations

import json

import pytest

from trivium.errors import ParseError
from trivium.parser.html import parse_html

BODY = "<p>Some text.</p>"


def config(**values: object) -> str:
    """A configuration script as MediaWiki writes it into the head."""
    return f"<script>document.documentElement.className='client-js';RLCONF={json.dumps(values)};</script>"


def test_the_configured_name_outranks_every_other_title() -> None:
    """wgPageName is the truth; canonical link, heading, <title> and fallback are only shown forms."""
    page = parse_html(
        "<head><title>iPod - Wikipedia</title>"
        + config(wgPageName="IPod_Touch", wgTitle="iPod touch")
        + '<link rel="canonical" href="https://en.wikipedia.org/wiki/Other"></head>'
        + f'<body><h1 id="firstHeading"><i>iPod touch</i></h1><div id="mw-content-text">{BODY}</div></body>',
        title="Fallback",
    )
    assert page.title == "IPod Touch"


def test_the_canonical_link_outranks_heading_and_title() -> None:
    """Percent-encoding is undone, underscores become spaces."""
    page = parse_html(
        '<head><link rel="canonical" href="https://en.wikipedia.org/wiki/Caf%C3%A9_(bar)?x=1">'
        "<title>x</title></head>"
        f"<h1 id=firstHeading>café</h1>{BODY}"
    )
    assert page.title == "Café (bar)"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<h1 class="firstHeading"><i>Persephone</i></h1>', "Persephone"),
        ("<title>Trade winds - Wikipedia</title>", "Trade winds"),
        ("<title>Mars - Wikipedia, the free encyclopedia</title>", "Mars"),
        ("<title>Erde – Wikipedia</title>", "Erde"),
        ("<title>Catch-22 - a novel</title>", "Catch-22 - a novel"),
        ("<title>Mars - A Small Encyclopaedia</title><h1>Mars</h1>", "Mars"),
        ("<title>Something else</title><h1>Welcome</h1>", "Something else"),
        ("<h1>Only  a\n heading</h1>", "Only a heading"),
        ("", "The fallback"),
    ],
)
def test_visible_titles_come_in_order(html: str, expected: str) -> None:
    """First heading, then <title> less the site's name (the heading where both agree), then the fallback."""
    assert parse_html(html + BODY, title="The_fallback").title == expected


def test_titles_are_composed_unicode() -> None:
    """A decomposed é is one character in the canonical title."""
    assert parse_html(f"<title>Cafe\u0301</title>{BODY}").title == "Caf\u00e9"


@pytest.mark.parametrize("title", ["../../etc/passwd", "a\"b'c", "<b>", "semi;colon", "C:\\x", "🜁"])
def test_odd_titles_are_kept_as_data(title: str) -> None:
    """Slashes, quotes and markup in a configured title are characters like any other."""
    assert parse_html(f"<head>{config(wgPageName=title)}</head>{BODY}").title == title


def test_control_characters_do_not_reach_the_title() -> None:
    """They become spaces."""
    assert parse_html(f"<title>a&#1;b&#27;[31m</title>{BODY}").title == "a b [31m"


def test_an_impossible_title_falls_through_to_the_next() -> None:
    """A title of 10,000 characters is no title; the next candidate is taken."""
    page = parse_html(f"<head>{config(wgPageName='x' * 10_000)}<title>Real</title></head>{BODY}")
    assert page.title == "Real"


def test_a_page_without_any_title_is_refused_with_the_reason() -> None:
    """The message says what was expected and names the source."""
    with pytest.raises(ParseError, match=r"^here\.html: the page does not say what it is called.*title="):
        parse_html(BODY, source="here.html")


def test_a_damaged_configuration_is_passed_over() -> None:
    """A name that is no JSON string is ignored."""
    assert (
        parse_html(f'<head><script>x="wgPageName":"\\q"</script><title>Mars</title></head>{BODY}').title
        == "Mars"
    )


def test_revision_and_redirect_come_from_the_configuration() -> None:
    """The redirect that led to the page is an alias of it."""
    page = parse_html(
        f"<head>{config(wgPageName='Mars', wgRevisionId=951138671, wgRedirectedFrom='Red_Planet')}"
        f"</head>{BODY}"
    )
    assert page.revision == 951138671
    assert page.aliases == ("Red Planet",)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"<head>{config(wgPageName='M', wgRevisionId=0)}</head>", None),
        ('<div class="printfooter"><a href="/w/index.php?title=M&amp;oldid=42">x</a></div>', 42),
        ('<li id="t-permalink"><a href="/w/index.php?title=M&amp;oldid=43">x</a></li>', 43),
        ('<p><a href="/w/index.php?title=Other&amp;oldid=44">an old revision of another page</a></p>', None),
    ],
)
def test_the_revision_is_the_pages_own(html: str, expected: int | None) -> None:
    """Zero is none, and a link in the text to some revision says nothing of this page."""
    assert parse_html(f"{html}<title>M</title>{BODY}", title="M").revision == expected


def test_parsoid_names_its_revision_on_the_root() -> None:
    """about="…/revision/N"."""
    html = f'<html about="https://en.wikipedia.org/wiki/Special:Redirect/revision/99"><title>M</title>{BODY}</html>'
    assert parse_html(html).revision == 99


def test_the_visible_redirect_note_is_an_alias_where_no_configuration_is() -> None:
    """Natural Questions documents have no scripts left."""
    page = parse_html(
        '<title>Mars</title><span class="mw-redirectedfrom">(Redirected from '
        '<a href="/w/index.php?title=Red_Planet&amp;redirect=no">Red Planet</a>)</span>' + BODY
    )
    assert page.aliases == ("Red Planet",)
    assert "Redirected" not in page.text


def test_the_source_is_kept() -> None:
    """Where a page came from travels with it."""
    assert parse_html(f"<title>M</title>{BODY}", source="m.html").source == "m.html"


def test_a_malformed_address_is_no_reason_to_refuse_the_page() -> None:
    page = parse_html('<link rel="canonical" href="http://[bad/wiki/T2"><title>T</title><p>Text.</p>')
    assert page.chunks[0].text == "Text."
