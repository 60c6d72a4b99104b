"""For any page: chunks are slices of its text, in order, and links stand inside their chunks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.errors import ParseError
from trivium.parser.document import Document
from trivium.parser.html import parse_html
from trivium.parser.text_runs import TextRun
from trivium.text.normalise import count_tokens
from trivium.types import ChunkKind

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
        assert chunk.text == chunk.text.rstrip().lstrip("\n")
        assert "<pre" in html or chunk.text == chunk.text.strip()
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


def test_a_link_around_others_belongs_to_the_piece_it_starts_in() -> None:
    """Of links within one another, as broken pages have them, the inner one ends first and comes first."""
    text = "word " * 1_000
    run = SimpleNamespace(text=text, links=[("Inner", 4_000, 4_004), ("Outer", 5, 4_990)])
    document = Document(max_headings=1)
    document.block(ChunkKind.PARAGRAPH, cast(TextRun, run))
    assert len(document.lead) > 2
    found = [(link.target, number) for number, chunk in enumerate(document.lead) for link in chunk.links]
    assert found == [("Outer", 0), ("Inner", len(document.lead) - 1)]
    assert all(c.start <= link.start <= link.end <= c.end for c in document.lead for link in c.links)


def test_a_link_around_nothing_but_space_at_the_end_is_where_the_text_ends() -> None:
    """The space is gone."""
    (chunk,) = parse_html("<pre>abc  <a href='/wiki/Sun'> </a></pre>", title="T").chunks
    (link,) = chunk.links
    assert (chunk.end, link.start, link.end) == (3, 3, 3)
