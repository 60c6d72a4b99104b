"""Chunkers: whatever the page, its structure is kept and every chunk is a range of its text."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from tests.chunking.pages import page_of, pages, sections
from tests.fakes.chat_model import ScriptedModel
from trivium.chunking import split_by_length as split_text
from trivium.chunking.agentic import Agentic, rule_of_thumb
from trivium.chunking.chunker import Chunker
from trivium.chunking.chunker_spec import CHUNKERS, parse_spec
from trivium.chunking.merge_short_blocks import joined as join_short_blocks
from trivium.chunking.portable_chunkers import BLOCKS, portable_chunker
from trivium.chunking.registry import make_chunker
from trivium.chunking.semantic import Semantic
from trivium.errors import ChatModelError, ConfigurationError, InputError
from trivium.testing import HashEmbedder
from trivium.types import ChunkKind, Link, Page

EMBEDDER = HashEmbedder(16)
SPECS = (
    "fixed:12/4",
    "fixed:12/0",
    "fixed:60/20c",
    "fixed",
    "fixed:1000/200c",
    "sentence:12",
    "recursive:12",
    "semantic:12",
    "agentic",
)


def chunker(spec: str) -> Chunker:
    return make_chunker(spec, lambda: EMBEDDER)


def joined(page: Page) -> str:
    """Every letter and digit that some chunk holds, once."""
    held = set()
    for _, chunk in page.all_chunks():
        held.update(range(chunk.start, chunk.end))
    return "".join(c for at, c in enumerate(page.text) if at in held and c.isalnum())


@pytest.mark.parametrize("spec", SPECS)
@settings(max_examples=40, deadline=None)
@given(page=pages())
def test_what_the_parser_knows_is_kept(spec: str, page: Page) -> None:
    """Chunks are ranges of the text, in order, trimmed, within their section; together they hold every word, link, page
    number, reference and picture that there was."""
    cut = chunker(spec).rechunk(page)
    assert (cut.title, cut.text, cut.relations) == (page.title, page.text, page.relations)
    assert [(s.heading, s.level, s.parent) for s in cut.sections] == [
        (s.heading, s.level, s.parent) for s in page.sections
    ]
    assert joined(cut) == joined(page)
    for before, after in zip(sections(page), sections(cut), strict=True):
        assert bool(before) == bool(after)
        spans = [(chunk.start, chunk.end) for chunk in after]
        assert spans == sorted(spans)
        assert {link.target for chunk in before for link in chunk.links} == {
            link.target for chunk in after for link in chunk.links
        }
        assert {r for chunk in before for r in chunk.references} == {
            r for chunk in after for r in chunk.references
        }
        assert [c for c in before if c.kind == ChunkKind.IMAGE] == [
            c for c in after if c.kind == ChunkKind.IMAGE
        ]
        for chunk in after:
            assert before[0].start <= chunk.start < chunk.end <= before[-1].end
            assert page.text[chunk.start : chunk.end] == chunk.text == chunk.text.strip()
            assert all(chunk.start <= link.start <= link.end <= chunk.end for link in chunk.links)
            blocks = [c for c in before if c.start < chunk.end and chunk.start < c.end]
            assert chunk.kind in {block.kind for block in blocks}
            assert chunk.pages == (blocks[0].pages[0], blocks[-1].pages[1])  # type: ignore[index]


@pytest.mark.parametrize("spec", SPECS)
@settings(max_examples=30, deadline=None)
@given(page=pages())
def test_sizes_are_kept_and_the_same_page_gives_the_same_chunks(spec: str, page: Page) -> None:
    """No chunk but a picture is larger than its spec allows; a second chunker cuts alike."""
    wanted = parse_spec(spec)
    cut = chunker(spec).rechunk(page)
    assert cut == chunker(spec).rechunk(page)
    for _, chunk in cut.all_chunks():
        if wanted.size is not None and chunk.kind != ChunkKind.IMAGE:
            size = len(chunk.text) if wanted.characters else split_text.count(chunk.text)
            assert size <= wanted.size


@given(page=pages())
def test_blocks_leave_a_page_as_it_is(page: Page) -> None:
    """The very same object, of what is no file that people write: what was built before is built now."""
    assert BLOCKS.rechunk(page) is page and chunker("blocks") is BLOCKS


@given(page=pages())
def test_short_blocks_of_a_document_stand_together(page: Page) -> None:
    """Up to the limit and no further; nothing is lost, moved, or joined over a heading, a picture or a page."""
    document = replace(page, format="markdown")
    after = join_short_blocks(document, 30)
    assert [section.heading for section in after.sections] == [section.heading for section in page.sections]
    for before, now in zip((page, *page.sections), (after, *after.sections), strict=True):
        assert {link.target for chunk in now.chunks for link in chunk.links} == {
            link.target for chunk in before.chunks for link in chunk.links
        }
        for chunk in now.chunks:
            inside = [
                block for block in before.chunks if chunk.start <= block.start and block.end <= chunk.end
            ]
            assert after.text[chunk.start : chunk.end] == chunk.text
            assert len({block.pages for block in inside}) == 1
            assert len(inside) == 1 or sum(split_text.count(block.text) for block in inside) <= 30
        for one, next_ in pairwise(now.chunks):
            together = split_text.count(one.text) + split_text.count(next_.text)
            assert (
                together > 30
                or ChunkKind.IMAGE in (one.kind, next_.kind)
                or one.pages != next_.pages
                or page.text[one.end : next_.start].strip()
                or next_.start < one.end
                or len([b for b in before.chunks if next_.start <= b.start and b.end <= next_.end]) > 1
            )


@settings(deadline=None)
@given(page=pages())
def test_fixed_windows_overlap_by_what_was_asked(page: Page) -> None:
    """Each window of 12 tokens begins with the last 4 of the one before."""
    for _, chunk in page.all_chunks():
        found = split_text.by_tokens(chunk.text, 12, 4)
        for (_, end), (start, _) in pairwise(found):
            assert split_text.count(chunk.text[start:end]) == 4
        assert [span[0] for span in found] == [span[0] for span in split_text.tokens(chunk.text)[::8]][
            : len(found)
        ]


def test_windows_of_characters_end_between_words() -> None:
    """1000/200, as many systems cut: whole words, at most 1,000 characters, at most 200 again."""
    text = " ".join(f"word{number}" for number in range(1_000))
    windows = split_text.by_characters(text, 1_000, 200)
    assert max(end - start for start, end in windows) <= 1_000
    assert all(re.fullmatch(r"(word\d+ )*word\d+", text[start:end]) for start, end in windows)
    shared = [a[1] - b[0] for a, b in pairwise(windows)]
    assert min(shared) > 190 and max(shared) <= 200


def test_a_chunk_has_the_kind_of_most_of_it_and_what_stands_in_it() -> None:
    """A paragraph of four words and a table of eight: one table of pages 1 to 2, with both links and both references."""
    page = page_of(("Its [Phobos] is near", "paragraph"), ("a b c d e f g [Deimos]", "table"))
    (chunk,) = portable_chunker("fixed:100/0").rechunk(page).chunks
    assert chunk.kind == ChunkKind.TABLE and chunk.pages == (1, 2)
    assert chunk.references == ("1.md", "2.md")
    assert [page.text[link.start : link.end] for link in chunk.links] == ["Phobos", "Deimos"]


def test_a_link_across_the_end_of_a_chunk_is_cut_there() -> None:
    """It belongs to the chunk it begins in, and to every window that holds its beginning."""
    text = " ".join(f"w{number}" for number in range(30))
    page = page_of((text, "paragraph"))
    at = text.index("w11")
    (block,) = page.chunks
    page = Page(page.title, text, (type(block)(block.kind, text, 0, len(text), (Link("X", at, at + 9),)),))
    one, two, *others = portable_chunker("fixed:12/2").rechunk(page).chunks
    assert [one.text[link.start : link.end] for link in one.links] == ["w11"]
    assert [two.text[link.start - two.start : link.end - two.start] for link in two.links] == ["w11 w12 w"]
    assert not any(chunk.links for chunk in others)


def test_sentences_are_not_cut() -> None:
    """Where each fits, every chunk is whole sentences."""
    page = page_of(("It is red. It has two moons. They are small. It is cold there.", "paragraph"))
    assert [chunk.text for chunk in portable_chunker("sentence:10").rechunk(page).chunks] == [
        "It is red. It has two moons.",
        "They are small. It is cold there.",
    ]


def test_semantic_chunks_end_where_the_subject_changes() -> None:
    """Six sentences of one subject, then six of another: the only end is between them."""

    def embed(texts: list[str]) -> np.ndarray:
        return np.array([[1.0, 0.0] if "moon" in text else [0.0, 1.0] for text in texts], dtype=np.float32)

    one, two = ("The moon is small. " * 6).strip(), ("A sonnet has lines. " * 6).strip()
    page = page_of((one, "paragraph"), (two, "paragraph"))
    assert [chunk.text for chunk in Semantic(100, embed).rechunk(page).chunks] == [one, two]  # type: ignore[arg-type]


def test_a_model_chooses_for_each_document() -> None:
    """What it says is looked up among the names there are; the document is data in the question."""
    model = ScriptedModel(
        'Sure! {"chunker": "sentence"}', '{"chunker": "rm -rf"}', "no idea", '{"chunker": ["fixed"]}'
    )
    agent = Agentic(model, portable_chunker)
    page = page_of(("It is red. It has two moons.", "paragraph"))
    for _ in range(4):
        agent.rechunk(page)
    assert agent.chosen == {"sentence": 1, "blocks": 3}
    assert "It is red." in model.asked[0][1].content and "It is red." not in model.asked[0][0].content


def test_without_a_model_a_rule_of_thumb_chooses(caplog: pytest.LogCaptureFixture) -> None:
    """Also where the model fails: it is asked once, and said so."""

    def fail(_: object) -> str:
        raise ChatModelError("it is down")

    model = ScriptedModel(fail)
    agent = Agentic(model, portable_chunker)
    short = page_of(*[(f"Slide {number}", "paragraph") for number in range(9)])
    assert rule_of_thumb(short) == "recursive" and len(agent.rechunk(short).chunks) == 1
    long = page_of(("It is red and cold. " * 66, "paragraph"))
    assert rule_of_thumb(long) == "sentence" and agent.rechunk(long).chunks == agent.rechunk(long).chunks
    assert len(model.asked) == 1 and "it is down" in caplog.text


def test_specs_are_read_and_written() -> None:
    """Equal ones are written alike, so that a store knows its own."""
    written = {"fixed": "fixed:300/50", "fixed:500": "fixed:500/0", "fixed:1000/200c": "fixed:1000/200c"}
    written |= {"sentence": "sentence:200", "semantic:100": "semantic:100", "fixed:300/50t": "fixed:300/50"}
    for given_spec, spec in written.items():
        assert str(parse_spec(given_spec)) == str(parse_spec(spec)) == chunker(given_spec).spec == spec
    assert [parse_spec(name).name for name in CHUNKERS] == list(CHUNKERS)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("paragraphs", "one of blocks, fixed"),
        ("fixed:300/200", "at most half"),
        ("fixed:3", "10 to 2,000 tokens"),
        ("fixed:20000c", "50 to 10,000 characters"),
        ("blocks:300", "takes no size"),
        ("sentence:300/20", "a size in tokens"),
        ("fixed:300/-1", "got 'fixed:300/-1'"),
        ("", "got ''"),
    ],
)
def test_what_is_no_spec_is_refused(spec: str, message: str) -> None:
    """With what would be right."""
    with pytest.raises(InputError, match=re.escape(message)):
        parse_spec(spec)


def test_chunkers_that_ask_a_model_are_not_made_where_there_is_none() -> None:
    """As in the processes that parse."""
    for spec in ("semantic", "agentic"):
        with pytest.raises(ConfigurationError, match="asks a model"):
            portable_chunker(spec)
