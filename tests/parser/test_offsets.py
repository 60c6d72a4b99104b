"""For any page: chunks are slices of its text, in order, and links stand inside their chunks."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.errors import ParseError
from trivium.parser.html import parse_html
from trivium.text import count_tokens

WORDS = st.sampled_from(
    ["one", "two ", " three", "e\u0301", "\u200b", "&nbsp;", "\n", "Ä. B", "—", "(x)", ", y", ":"]
)
PLAIN_TAGS = """
    p div span b ul ol li dl dt dd table tr td th caption h2 h3 h4 blockquote pre sup center section figure br
    math img
"""
TAGS = [
    *PLAIN_TAGS.split(),
    *("table class=infobox", "table class=clade", "td rowspan=2", "td colspan=3", "th colspan=2"),
    *("div class=thumb", "div class=quotebox", "div class=navbox", "sup class=reference"),
    *("a href=/wiki/Sun", "a href=/wiki/File:X", "a href=#n", "a href=/wiki/T"),
]
ENDS = ("p", "a", "td", "li", "ul", "table", "b", "h2", "pre", "dl")
SOUP = [*(f"<{tag}>" for tag in TAGS), *(f"</{tag}>" for tag in ENDS), "x y", " ", "z"]


def element(tag: str, children: list[str]) -> str:
    return f"<{tag}>{''.join(children)}</{tag.split()[0]}>"


MARKUP = st.recursive(
    WORDS, lambda inner: st.builds(element, st.sampled_from(TAGS), st.lists(inner, max_size=6)), max_leaves=60
)


@settings(max_examples=300, deadline=None)
@given(st.lists(MARKUP, max_size=8))
def test_offsets_hold_on_any_markup(parts: list[str]) -> None:
    """The invariants of a page, on markup that no editor would write."""
    check("<title>T</title>" + "".join(parts))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(SOUP), max_size=80))
def test_offsets_hold_on_tag_soup(tokens: list[str]) -> None:
    """Nothing closed, everything crossed."""
    check("".join(tokens))


def check(html: str) -> None:
    try:
        page = parse_html(html, title="T")
    except ParseError:
        return
    end = 0
    for section, chunk in page.all_chunks():
        assert section is None or section in page.sections
        assert chunk.text == page.text[chunk.start : chunk.end]
        assert chunk.text == chunk.text.strip()
        assert any(map(str.isalnum, chunk.text))
        assert chunk.start >= end
        assert count_tokens(chunk.text) <= 400
        if "<pre" not in html:
            assert not any("  " in line.lstrip() for line in chunk.text.split("\n"))
            assert chunk.kind != "paragraph" or "\n" not in chunk.text
        end = chunk.end
        for link in chunk.links:
            assert chunk.start <= link.start <= link.end <= chunk.end
            assert link.target == "Sun"
            anchor = page.text[link.start : link.end]
            assert anchor == anchor.strip() or "<pre" in html
    for index, section in enumerate(page.sections):
        assert section.heading
        assert section.parent is None or section.parent < index
        assert section.level == (1 if section.parent is None else page.sections[section.parent].level + 1)
