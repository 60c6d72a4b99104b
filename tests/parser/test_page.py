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


CANONICAL = '<link rel="canonical" href="https://en.wikipedia.org/wiki/{}">'
WHOLE = (
    f"<head><title>iPod - Wikipedia</title>{config(wgPageName='IPod_Touch', wgTitle='iPod touch')}"
    f"{CANONICAL.format('Other')}</head><h1 id=firstHeading><i>iPod touch</i></h1>"
)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (WHOLE, "IPod Touch"),  # the configured name is the truth, the others are only shown forms
        (
            f"<head>{CANONICAL.format('Caf%C3%A9_(bar)?x=1')}<title>x</title></head><h1>café</h1>",
            "Café (bar)",
        ),
        ('<h1 class="firstHeading"><i>Persephone</i></h1>', "Persephone"),
        ("<title>Trade winds - Wikipedia</title>", "Trade winds"),
        ("<title>Mars - Wikipedia, the free encyclopedia</title>", "Mars"),
        ("<title>Erde – Wikipedia</title>", "Erde"),
        ("<title>Catch-22 - a novel</title>", "Catch-22 - a novel"),
        ("<title>Mars - A Small Encyclopaedia</title><h1>Mars</h1>", "Mars"),
        ("<title>Something else</title><h1>Welcome</h1>", "Something else"),
        ("<h1>Only  a\n heading</h1>", "Only a heading"),
        ("", "The fallback"),
        ("<title>Cafe\u0301</title>", "Caf\u00e9"),  # composed
        ("<title>a&#1;b&#27;[31m</title>", "a b [31m"),
        (f"<head>{config(wgPageName='x' * 10_000)}<title>Real</title></head>", "Real"),
        ('<head><script>x="wgPageName":"\\q"</script><title>Mars</title></head>', "Mars"),
        *(
            (f"<head>{config(wgPageName=odd)}</head>", odd)
            for odd in ("../../etc/passwd", "a\"b'c", "<b>", "C:\\x", "🜁")
        ),
    ],
)
def test_the_title_is_the_first_of_configuration_link_heading_and_fallback(html: str, expected: str) -> None:
    assert parse_html(html + BODY, title="The_fallback").title == expected


def test_a_page_without_any_title_is_refused_with_the_reason() -> None:
    """The message says what was expected and names the source."""
    with pytest.raises(ParseError, match=r"^here\.html: the page does not say what it is called.*title="):
        parse_html(BODY, source="here.html")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"<head>{config(wgPageName='M', wgRevisionId=951138671)}</head>", 951138671),
        (f"<head>{config(wgPageName='M', wgRevisionId=0)}</head>", None),
        ('<html about="https://en.wikipedia.org/wiki/Special:Redirect/revision/99">', 99),  # Parsoid
        ('<div class="printfooter"><a href="/w/index.php?title=M&amp;oldid=42">x</a></div>', 42),
        ('<li id="t-permalink"><a href="/w/index.php?title=M&amp;oldid=43">x</a></li>', 43),
        ('<p><a href="/w/index.php?title=Other&amp;oldid=44">an old revision of another page</a></p>', None),
    ],
)
def test_the_revision_is_the_pages_own(html: str, expected: int | None) -> None:
    """Zero is none, and a link in the text to some revision says nothing of this page."""
    assert parse_html(f"{html}<title>M</title>{BODY}", title="M").revision == expected


def test_redirects_to_the_page_are_aliases() -> None:
    """Of its configuration, else of the note below the title: Natural Questions documents have no scripts left."""
    configured = f"<head>{config(wgPageName='Mars', wgRedirectedFrom='Red_Planet')}</head>{BODY}"
    shown = (
        '<title>Mars</title><span class="mw-redirectedfrom">(Redirected from '
        '<a href="/w/index.php?title=Red_Planet&amp;redirect=no">Red Planet</a>)</span>' + BODY
    )
    for html in (configured, shown):
        page = parse_html(html, source="m.html")
        assert (page.aliases, page.source, page.text) == (("Red Planet",), "m.html", "Some text.")


def test_a_malformed_address_is_no_reason_to_refuse_the_page() -> None:
    page = parse_html('<link rel="canonical" href="http://[bad/wiki/T2"><title>T</title><p>Text.</p>')
    assert page.chunks[0].text == "Text."
