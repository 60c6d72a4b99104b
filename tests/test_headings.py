"""Headings are in passages; what is embedded and searched of a passage does not repeat them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trivium.graph.build_page_graph import build
from trivium.graph.schema import embedding_text, headings_of
from trivium.parser.document import Document
from trivium.parser.text_runs import TextRun
from trivium.settings.limits import DEFAULT_LIMITS
from trivium.text.headings_in_passages import body_of, with_headings
from trivium.text.normalise import count_tokens, terms
from trivium.types import ChunkKind, Page

WORDS = st.sampled_from(["oak", "ash", "elm", "fir", "yew", "(2)", "1.1", "Größe", "a_b"])
LINE = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)
STEPS = st.lists(st.tuples(st.sampled_from("123456p"), LINE), max_size=12)


def page_of(steps: list[tuple[str, str]], title: str = "Wood", written: bool = True) -> Page:
    """A page of headings ("2" is ``<h2>``) and paragraphs ("p")."""
    document = Document(100)
    if written:
        document.title(title)
    for kind, text in steps:
        if kind == "p":
            run = TextRun()
            run.add(text)
            document.block(ChunkKind.PARAGRAPH, run)
        else:
            document.heading(text, int(kind))
    return Page(title, document.text, tuple(document.lead), document.sections)


def shown(page: Page) -> list[tuple[str, str]]:
    return [(section.heading if section else "", chunk.text) for section, chunk in page.all_chunks()]


def test_the_first_passage_below_headings_begins_with_them() -> None:
    page = with_headings(
        page_of([("2", "Oak"), ("3", "Use"), ("p", "Ships."), ("p", "Casks."), ("2", "Ash"), ("p", "Oars.")])
    )
    assert shown(page) == [
        ("Use", "Wood\n\nOak\n\nUse\n\nShips."),
        ("Use", "Casks."),
        ("Ash", "Ash\n\nOars."),
    ]


def test_headings_with_nothing_below_are_passages_of_their_own() -> None:
    page = with_headings(page_of([("2", "Oak"), ("3", "Use"), ("2", "Ash"), ("p", "Oars."), ("3", "Age")]))
    assert shown(page) == [("Use", "Wood\n\nOak\n\nUse"), ("Ash", "Ash\n\nOars."), ("Age", "Age")]
    assert shown(with_headings(page_of([]))) == [("", "Wood")]


def test_headings_whose_content_is_left_out_are_left_out() -> None:
    document = Document(100)
    for text, number in (("Notes", 2), ("References", 3)):
        document.heading(text, number)
        document.keep_headings_out()
    assert not document.has_text
    assert shown(with_headings(Page("Wood", document.text, (), document.sections))) == []


def test_pages_of_headings_are_pages_of_their_passages() -> None:
    document = Document(100)
    document.page = 3
    document.heading("Oak", 1)
    document.page = 4
    run = TextRun()
    run.add("Ships.")
    document.block(ChunkKind.PARAGRAPH, run)
    document.page = 5
    document.heading("Ash", 1)
    page = with_headings(Page("Wood", document.text, (), document.sections))
    assert [chunk.pages for _, chunk in page.all_chunks()] == [(3, 4), (5, 5)]


@given(STEPS, st.booleans())
def test_every_heading_is_in_one_passage_and_bodies_are_what_they_were(
    steps: list[tuple[str, str]], written: bool
) -> None:
    plain = page_of(steps, written=written)
    page = with_headings(plain)
    assert with_headings(page) == page
    chunks = [chunk for _, chunk in page.all_chunks()]
    assert all(page.text[chunk.start : chunk.end] == chunk.text for chunk in chunks)
    texts = "\n\n".join(chunk.text for chunk in sorted(chunks, key=lambda chunk: chunk.start))
    assert texts == page.text  # all of it, once, in its order
    stored = {chunk.end: chunk for chunk in build(page, DEFAULT_LIMITS).chunks}
    for _, chunk in plain.all_chunks():
        own, headings = stored[chunk.end], headings_of(stored[chunk.end].parent)
        assert own.body == chunk.text
        assert own.terms == " ".join(terms(chunk.text))
        assert own.token_count == count_tokens(chunk.text)
        assert embedding_text(headings, own.text) == f"{' > '.join(headings)}: {chunk.text}"


def test_additions_that_tell_titles_apart_are_no_part_of_the_text() -> None:
    headings = ["Setup (docs/setup.md)", "Linux (2)"]
    assert body_of("Setup\n\nLinux\n\nRun it.", headings) == "Run it."
    assert body_of("Linux kernel\n\nRun it.", headings) == "Linux kernel\n\nRun it."
    assert body_of("Run it.", []) == "Run it."
