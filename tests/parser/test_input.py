"""Bad input: a clear error or a clean page, in bounded time; bytes in whatever encoding they declare."""

from __future__ import annotations

import time

import pytest

from trivium.errors import ParseError
from trivium.parser.html import parse_html


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        ("", "empty"),
        (b"", "empty"),
        (b" \n\t ", "empty"),
        ("no tags at all, 1 < 2", "no HTML tags"),
        (b'{"title": "records", "text": "are not HTML"}', "no HTML tags"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1" + bytes(range(256)) * 8, "binary"),
        (b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + bytes(range(256)) * 4, "binary"),
        ("<p>" + "\0" * 90, "binary"),
        ("<title>T</title><p> </p>", "no text"),
        ("<title>T</title><div class=navbox>menu</div>", "no text"),
        ("<frameset><frame src=x></frameset>", "title|body|text"),
        (b"<p>x</p>" + b" " * (33 << 20), "bytes, more than"),
        ("<p>x" + "<i>" * 1_000_001, "tags, more than"),
        ("<div>" * 200_000 + "x", "elements open"),
        ("<p " + " ".join(f"a{n}" for n in range(100_000)) + ">x", "1,000 attributes"),
        ('<p x=">" ' + " ".join(f"a{n}" for n in range(100_000)) + ">x", "1,000 attributes"),
        ("".join(f"<bOdy a{n}>" for n in range(20_000)) + "x", "html and body tags"),
        ("<title>T</title>" + "<h2>x</h2>" * 10_001, "10,000 headings"),
        ("<p>" + "".join(f"<b id={n}>" for n in range(3_000)) + "<p>x" * 3_000, "elements open"),
    ],
)
def test_what_is_no_page_is_refused_with_the_reason(html: str | bytes, reason: str) -> None:
    """The message says what came; it takes no long time to say so."""
    start = time.process_time()
    with pytest.raises(ParseError, match=reason):
        parse_html(html)
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "tag", ["div", "span", "b", "ul", "blockquote", "table><tr><td", "pre", "a href=/wiki/X"]
)
@pytest.mark.parametrize("closed", [False, True])
def test_twenty_thousand_nested_elements_are_read(tag: str, closed: bool) -> None:
    """Nothing recurses: not the parser, not the walk, not the release of the tree."""
    end = f"</{tag.split()[0].split('>')[0]}>" * 20_000 if closed else ""
    page = parse_html(f"<title>T</title><p>above</p>{f'<{tag}>' * 20_000}deep{end}<p>below</p>")
    assert [text for text in page.text.split() if text] == ["above", "deep", "below"]


def test_deeply_nested_lists_do_not_square_the_text() -> None:
    """Indentation stops growing."""
    page = parse_html("<title>T</title>" + "<ul><li>x" * 3_000)
    assert len(page.text) < 3_000 * 20


def test_a_large_page_is_read() -> None:
    """Ten megabytes of paragraphs, all of them kept."""
    paragraph = "<p>" + "word " * 200 + "</p>"
    page = parse_html("<title>T</title>" + paragraph * 10_000)
    assert len(page.chunks) == 10_000


@pytest.mark.parametrize("length", range(60, 420, 30))
def test_a_truncated_page_is_read_as_far_as_it_goes(length: int) -> None:
    """Cut in a tag, an attribute, an entity or a word."""
    whole = (
        "<title>T</title><p>first paragraph here</p><h2>Head</h2><ul><li><a href='/wiki/Sun'>the&nbsp;Sun</a>"
        "<li>two</ul><table class=infobox><tr><th rowspan=2>Label<td>value &amp; more</table>"
        "<div class='box' style='color:red'><p>tail</p></div>"
    ) * 2
    page = parse_html(whole[:length])
    assert page.text.startswith("first")
    assert all(page.text[c.start : c.end] == c.text for _, c in page.all_chunks())


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("<p>naïve</p>".encode(), "naïve"),
        ("\ufeff<p>naïve</p>".encode(), "naïve"),
        ("\ufeff<p>naïve</p>".encode("utf-16-le"), "naïve"),
        ("\ufeff<p>naïve</p>".encode("utf-16-be"), "naïve"),
        ('<meta charset="iso-8859-1"><p>naïve “so”</p>'.encode("cp1252"), "naïve “so”"),
        ("<META http-equiv=x content='text/html; charset=koi8-r'><p>Марс</p>".encode("koi8-r"), "Марс"),
        ("<meta charset=shift_jis><p>火星</p>".encode("shift_jis"), "火星"),
        ("<meta charset=nonsense><p>naïve</p>".encode(), "naïve"),
        ("<meta charset=rot13><p>naïve</p>".encode(), "naïve"),
        ("<meta charset=utf-16><p>naïve</p>".encode(), "naïve"),
        (b"<meta charset=utf-8><p>na\xefve</p>", "naïve"),
        (b"<p>cut \xe2\x82</p>", "cut \ufffd"),
    ],
)
def test_bytes_are_read_in_their_encoding(data: bytes, expected: str) -> None:
    """Byte order mark, then the declared one, then the likely one; wrong bytes are replaced, the rest is kept."""
    assert parse_html(data, title="T").text == expected


def test_lone_surrogates_are_replaced() -> None:
    """They cannot be written to any store."""
    assert parse_html("<p>a\ud800b</p>", title="T").text == "a?b"


def test_hostile_markup_is_text() -> None:
    """What looks like SQL, Cypher or a path is content."""
    nasty = "'); DROP TABLE x;-- `MATCH` ../../etc"
    assert parse_html(f"<p>{nasty}</p>", title="T").text == nasty


def test_the_same_input_gives_the_same_page() -> None:
    """Equal in every field, relations in order."""
    html = '<table class=infobox><tr><th>a<td><a href="/wiki/X">x</a><a href="/wiki/Y">y</a></table><p>t</p>'
    assert parse_html(html, title="T") == parse_html(html, title="T")


@pytest.mark.parametrize(
    "html",
    [
        "<p " + " ".join(f"a{n}=1" for n in range(1_000)) + ">x</p>",
        "<p title='" + "a < b = c " * 5_000 + "'>x</p>",
        "<script>a<b " + "a b c " * 5_000 + "</script><p>x</p>",
        "<p>a<b " + 20 * ("c='" + "d " * 1_000 + "' ") + ">x</p>",
    ],
)
def test_long_tags_and_scripts_are_read(html: str) -> None:
    """A thousand attributes are not too many, and what looks like more in a script or a value is none."""
    assert parse_html("<title>T</title>" + html).text[-1] == "x"
