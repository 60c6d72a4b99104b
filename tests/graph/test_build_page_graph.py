"""A page becomes exactly the nodes and relationships of the schema."""

from __future__ import annotations

import time
import tracemalloc
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.errors import InputError
from trivium.graph.build_page_graph import build
from trivium.graph.schema import MAX_URI_BYTES, headings_of, page_of, section_of
from trivium.types import Chunk, ChunkKind, Link, Page, Relation, Section


def chunk(text: str, start: int = 0, links: tuple[Link, ...] = ()) -> Chunk:
    return Chunk(ChunkKind.PARAGRAPH, text, start, start + len(text), links)


MARS = Page(
    title="Mars",
    text="Mars is red.\n\nMoons\n\nPhobos\n\nPhobos is near.\n\nPhobos\n\nAgain.",
    chunks=(chunk("Mars is red.", links=(Link("Iron", 8, 11), Link("Iron", 8, 11), Link("C# sharp", 0, 4))),),
    sections=(
        Section("Moons", 1, None),
        Section("Phobos", 2, 0, (chunk("Phobos is near.", 29),)),
        Section("Phobos", 2, 0, (chunk("Again.", 54),)),
    ),
    aliases=("Red_Planet", "Mars"),
    relations=(Relation("discovered by", "Galileo Galilei"), Relation("discovered by", "Galileo Galilei")),
    revision=7,
)


def test_sections_without_text_exist_and_a_repeated_path_is_numbered() -> None:
    graph = build(MARS)
    assert [s.uri for s in graph.sections] == ["Mars#Moons", "Mars#Moons#Phobos", "Mars#Moons#Phobos (2)"]
    assert [s.parent for s in graph.sections] == ["Mars", "Mars#Moons", "Mars#Moons"]


def test_chunks_count_from_one_in_their_section_and_from_zero_on_the_page() -> None:
    graph = build(MARS)
    assert [(c.uri, c.position) for c in graph.chunks] == [
        ("Mars#chunk-1", 0),
        ("Mars#Moons#Phobos#chunk-1", 1),
        ("Mars#Moons#Phobos (2)#chunk-1", 2),
    ]


def test_citations_are_distinct_in_order_and_escape_the_separator() -> None:
    assert build(MARS).chunks[0].cites == ("Iron", "C%23 sharp")


def test_headings_keep_the_underscores_that_titles_lose() -> None:
    """A name of a program in a heading is one; in a title they stand for spaces, as in Wikipedia's addresses."""
    page = Page(
        "Slack_channels", "", (), (Section("Project  Channels (proj_)", 2, None), Section("_", 2, None))
    )
    assert [s.uri for s in build(page).sections] == [
        "Slack channels#Project Channels (proj_)",
        "Slack channels#_",
    ]


def test_aliases_are_normalised_and_never_the_title_itself() -> None:
    assert build(MARS).aliases == ("Red Planet",)


def test_relations_are_distinct() -> None:
    assert [(r.source, r.type, r.target) for r in build(MARS).relations] == [
        ("Mars", "discovered by", "Galileo Galilei")
    ]


def test_search_terms_are_stemmed_and_headings_are_kept_apart() -> None:
    node = build(MARS).chunks[1]
    assert node.terms == "phobo is near"
    assert node.heading_terms == "mar moon phobo"


@pytest.mark.parametrize(
    "change",
    [
        {"text": "Mars is Red.\n\nMoons\n\nPhobos\n\nPhobos is near.\n\nPhobos\n\nAgain."},
        {"revision": 8},
        {"relations": ()},
        {"sections": MARS.sections[:2]},
        {"chunks": (replace(MARS.chunks[0], links=()),)},
    ],
)
def test_the_content_hash_changes_with_any_part(change: dict[str, object]) -> None:
    assert build(replace(MARS, **change)).content_hash != build(MARS).content_hash  # type: ignore[arg-type]


def test_the_content_hash_changes_with_a_picture() -> None:
    """Whose text may be the same. A page without pictures has the hash that it had before there were thumbnails."""
    hashes = {
        build(replace(MARS, chunks=(replace(MARS.chunks[0], thumbnail=picture),))).content_hash
        for picture in (b"", b"one", b"other", b"one")
    }
    assert len(hashes) == 3 and build(MARS).content_hash in hashes
    assert build(MARS).content_hash == "51756edbf19ac5c14a830e3a84015875"


def test_the_content_hash_depends_neither_on_the_source_nor_on_the_aliases() -> None:
    other = replace(MARS, source="elsewhere", aliases=("Ares",))
    assert build(other).content_hash == build(MARS).content_hash


def test_a_heading_that_reads_like_a_chunk_name_does_not_collide_with_one() -> None:
    page = Page("A", "", (chunk("lead"),), (Section("chunk-1", 1, None, (chunk("x"),)),))
    uris = [c.uri for c in build(page).chunks] + [s.uri for s in build(page).sections]
    assert len(set(uris)) == len(uris)


def test_a_page_without_a_title_is_refused() -> None:
    with pytest.raises(InputError, match="needs a title"):
        build(Page(" _ ", "text"))


def test_names_may_be_as_long_as_the_schema_says_in_bytes() -> None:
    """Not in characters; a chunk's uri is longer than its section's."""
    title = "é" * (MAX_URI_BYTES // 2)
    graph = build(
        Page(title, "", aliases=("a" * MAX_URI_BYTES,), relations=(Relation("r", "x" * MAX_URI_BYTES),))
    )
    assert graph.uri == title
    lead = Page("a" * (MAX_URI_BYTES - len("#chunk-1")), "", (chunk("lead", links=(Link(title, 0, 4),)),))
    assert len(build(lead).chunks[0].uri) == MAX_URI_BYTES


_LONG = "é" * (MAX_URI_BYTES // 2) + "a"


@pytest.mark.parametrize(
    ("page", "what"),
    [
        (Page(_LONG, "", source="f.html"), "title of 4001 bytes"),
        (Page("a" * MAX_URI_BYTES, "", (chunk("x"),), source="f.html"), "chunk uri of 4008 bytes"),
        (replace(MARS, sections=(Section("é" * 1998, 1, None),)), "section path of 4001 bytes, 'Mars#éé"),
        (replace(MARS, aliases=("Ares", _LONG)), "redirect of 4001 bytes"),
        (replace(MARS, chunks=(chunk("x", links=(Link(_LONG, 0, 1),)),)), "link target of 4001 bytes"),
        (replace(MARS, relations=(Relation("r", _LONG),)), "relation target of 4001 bytes"),
        (replace(MARS, relations=(Relation(_LONG, "Sun"),)), "relation type of 4001 bytes"),
    ],
    ids=["title", "chunk", "section", "alias", "link", "target", "type"],
)
def test_a_page_with_a_longer_name_is_refused_by_name(page: Page, what: str) -> None:
    """The message says which page, where from and what is too long, in a line that can be read."""
    with pytest.raises(InputError, match=what) as refused:
        build(page)
    message = str(refused.value)
    assert message.startswith(f"page '{page.title[:4]}")
    assert f"(source: {page.source or 'unknown'})" in message
    assert len(message) < 400


@given(st.text(min_size=1), st.lists(st.text(), max_size=6))
def test_uris_are_unique_and_lead_back_to_section_and_page(title: str, headings: list[str]) -> None:
    """Whatever titles and headings contain, uris stay unique and can be taken apart."""
    sections = tuple(Section(heading, 1, None, (chunk("x"), chunk("y"))) for heading in headings)
    try:
        graph = build(Page(title, "", (chunk("lead"),), sections))
    except InputError:
        return
    uris = [graph.uri, *(s.uri for s in graph.sections), *(c.uri for c in graph.chunks)]
    assert len(set(uris)) == len(uris)
    for node in graph.chunks:
        assert section_of(node.uri) == node.parent
        assert page_of(node.uri) == graph.uri
        assert len(headings_of(node.parent)) == (1 if node.parent == graph.uri else 2)


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "a (2)", "a (3)", "chunk-1", "chunk-1 (2)", ""]), st.booleans()),
        max_size=12,
    )
)
def test_repeated_paths_are_numbered_by_the_lowest_number_that_is_free(
    headings: list[tuple[str, bool]],
) -> None:
    """As by trying one number after the other, on two levels."""
    sections = [
        Section(heading, 2 if below and place else 1, 0 if below and place else None)
        for place, (heading, below) in enumerate(headings)
    ]
    expected: list[str] = []
    for section in sections:
        parent = "Mars" if section.parent is None else expected[section.parent]
        heading = section.heading or "Untitled"
        uri, number = f"{parent}#{heading}", 2
        while uri in expected or (number == 2 and heading == "chunk-1"):
            uri, number = f"{parent}#{heading} ({number})", number + 1
        expected.append(uri)
    assert [node.uri for node in build(Page("Mars", "", (), tuple(sections))).sections] == expected


def test_equal_headings_cost_their_number_not_its_square() -> None:
    def seconds(number: int) -> float:
        page = Page("Mars", "", (), (Section("Moons", 2, None),) * number)
        begun = time.process_time()
        build(page)
        return time.process_time() - begun

    seconds(1_000)
    assert min(seconds(16_000) for _ in range(3)) < 24 * min(seconds(2_000) for _ in range(3))


def test_a_long_heading_is_refused_before_it_is_in_the_path_of_every_section_below_it() -> None:
    """400 kB of heading above 2,500 others would be a gigabyte of paths."""
    below = (Section("h", 3, 0),) * 2_500
    page = Page("Mars", "", (), (Section("H" * 400_000, 2, None), *below))
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="section path of 400005 bytes"):
            build(page)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
