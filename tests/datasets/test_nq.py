"""Natural Questions rows as questions: gold of several chunks.

The expected chunks were read off the page: the rows of the table stand in Tarn#Moons#chunk-2 to -6.
"""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from tests.fakes.memory_store import MemoryStore
from tests.nq_rows import NULL, ONA, TARN, NqDocument, write_rows
from trivium.chunking.portable_chunkers import portable_chunker
from trivium.datasets.gold import Cause
from trivium.datasets.questions import read_questions
from trivium.datasets.trace_gold import trace
from trivium.errors import QuestionFileError
from trivium.evaluation.report import traced_json
from trivium.graph.build_page_graph import build
from trivium.graph.protocols import GraphStore
from trivium.parser.sources.natural_questions import to_page
from trivium.parser.sources.source_items import Problem

TABLE = [f"Tarn#Moons#chunk-{n}" for n in range(2, 7)]
P0, P1, SOME_TABLE = TARN.element("p", 0), TARN.element("p", 1), TARN.element("table")
LUND = TARN.words("Mira Lund", P1)
YEAR = TARN.words("1731", P1)

TRAIN = TARN.row(1, "who found the rings of tarn", TARN.annotation(P1, LUND))
TWO_OF_FIVE = TARN.row(
    2,
    "when were the rings found",
    TARN.annotation(),
    TARN.annotation(P1, YEAR),
    TARN.annotation(),
    TARN.annotation(P1),
    TARN.annotation(),
)
APART = TARN.row(
    3,
    "what moons has tarn",
    TARN.annotation(SOME_TABLE),
    TARN.annotation(TARN.element("p", 2), yes_no="YES"),
    TARN.annotation(SOME_TABLE),
    TARN.annotation(),
    TARN.annotation(),
)
MINORITY = TARN.row(4, "is tarn big", TARN.annotation(P0, yes_no="NO"), *[TARN.annotation()] * 4)
NOBODY = TARN.row(5, "how heavy is tarn", TARN.annotation())
LIST = TARN.row(6, "what colour is tarn", TARN.annotation(TARN.element("ul"), yes_no="NO"))
ON_ONA = ONA.row(7, "what colour is ona", ONA.annotation(ONA.element("p", 0)))
ROWS = [TRAIN, TWO_OF_FIVE, APART, MINORITY, NOBODY, LIST, ON_ONA]
GOLD = {
    "nq-1": ["Tarn#chunk-2"],
    "nq-2": ["Tarn#chunk-2"],
    "nq-3": ["Tarn#Moons#chunk-1", *TABLE],
    "nq-6": ["Tarn#Colours#chunk-1"],
    "nq-7": ["Ona#chunk-1"],
}


@pytest.fixture
def store() -> GraphStore:
    """The pages of the rows."""
    store = MemoryStore()
    store.write([build(to_page(row)) for row in (TRAIN, ON_ONA)])
    return store


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """A file of them."""
    return write_rows(tmp_path / "rows.jsonl", ROWS)


def _gold(path: Path, store: GraphStore, annotators: str = "majority") -> dict[str, list[str]]:
    traced = trace(read_questions(path, annotators=annotators), store)
    return {id: [chunk for group in gold.groups for chunk in group] for id, gold in traced.gold.items()}


def test_gold_is_every_chunk_that_holds_some_of_a_long_answer_by_itself(
    rows: Path, store: GraphStore
) -> None:
    assert _gold(rows, store) == GOLD
    traced = trace(read_questions(rows), store)
    assert all(len(group) == 1 for gold in traced.gold.values() for group in gold.groups)


def test_whose_answers_count_can_be_chosen(rows: Path, store: GraphStore) -> None:
    """Of question 3 two marked the table and one the paragraph above it; of question 4 only one marked anything."""
    agreed = _gold(rows, store, "agreed")
    assert agreed["nq-3"] == TABLE
    assert "nq-4" not in agreed
    assert _gold(rows, store, "any") == {**GOLD, "nq-4": ["Tarn#chunk-1"]}
    first = _gold(rows, store, "first")
    assert (first["nq-3"], first["nq-4"], "nq-2" in first) == (TABLE, ["Tarn#chunk-1"], False)


def test_answers_are_short_ones_and_yes_or_no_of_annotators_that_count(rows: Path) -> None:
    answers = {question.id: question.answers for question in read_questions(rows)}
    assert answers == {
        "nq-1": ("Mira Lund",),
        "nq-2": ("1731",),
        "nq-3": ("yes",),
        "nq-4": (),
        "nq-5": (),
        "nq-6": ("no",),
        "nq-7": (),
    }
    assert {q.id: q.answers for q in read_questions(rows, annotators="any")}["nq-4"] == ("no",)


def test_what_cannot_be_traced_says_why(rows: Path, store: GraphStore) -> None:
    elsewhere = NqDocument("Velu", "<p>Velu is a cold and windy place far from its star .</p>")
    other = NqDocument(
        "Tarn", "<p>Nothing of what follows stands on the page that was loaded , not one word of it .</p>"
    )
    write_rows(
        rows,
        [
            *ROWS,
            elsewhere.row(8, "is velu cold", elsewhere.annotation(elsewhere.element("p"))),
            other.row(9, "what is there", other.annotation(other.element("p"))),
            TARN.row(10, "what is empty", TARN.annotation(TARN.words("</p>", P0))),
        ],
    )
    traced = trace(read_questions(rows), store)
    found = {one.id: (one.cause, one.reason) for one in traced.untraceable}
    assert found["nq-4"] == (Cause.NO_MAJORITY, "1 of 5 annotators marked a long answer, 2 are needed")
    assert found["nq-5"] == (Cause.NO_LONG_ANSWER, "its annotator marked no long answer")
    assert found["nq-8"] == (Cause.NO_PAGE, "the store has no page 'Velu'")
    assert found["nq-9"][0] is Cause.NO_MATCH
    assert "words are on the page in one window, 60% are needed" in found["nq-9"][1]
    assert found["nq-10"][0] is Cause.NO_GOLD
    assert found.keys() == {"nq-4", "nq-5", "nq-8", "nq-9", "nq-10"}


def test_a_long_answer_that_is_lost_does_no_harm_beside_one_that_is_found(
    tmp_path: Path, store: GraphStore
) -> None:
    newer = NqDocument(
        "Tarn",
        "<p>The rings of Tarn were found in 1731 by Mira Lund .</p>"
        "<p>Later editors wrote many further unrelated sentences about weather here .</p>",
    )
    long = [newer.element("p", 0), newer.element("p", 1)]
    path = write_rows(tmp_path / "rows.jsonl", [newer.row(1, "who", *map(newer.annotation, long))])
    traced = trace(read_questions(path), store)
    assert traced.gold["nq-1"].groups == (("Tarn#chunk-2",),)
    assert [(one.id, one.cause) for one in traced.partly] == [("nq-1", Cause.NO_MATCH)]
    assert traced_json(traced)["partly_traced"] == 1


def test_of_the_same_words_twice_the_marked_ones_are_gold(tmp_path: Path) -> None:
    twice = NqDocument("Twice", "<p>The same is said .</p><h2>Again</h2><p>The same is said .</p>")
    store = MemoryStore()
    store.write([build(to_page(twice.row(0, "x")))])
    rows = [twice.row(n, "what is said", twice.annotation(twice.element("p", n))) for n in (0, 1)]
    assert _gold(write_rows(tmp_path / "rows.jsonl", rows), store) == {
        "nq-0": ["Twice#chunk-1"],
        "nq-1": ["Twice#Again#chunk-1"],
    }


@pytest.mark.parametrize("chunker", ["fixed:40/0", "sentence"])
def test_any_chunker_will_do(rows: Path, chunker: str) -> None:
    """All chunks with a row of the table, and no others, are gold of the question about it."""
    cut = build(portable_chunker(chunker).rechunk(to_page(TRAIN)))
    store = MemoryStore()
    store.write([cut])
    gold = set(_gold(rows, store, "agreed")["nq-3"])
    telling = {chunk.uri for chunk in cut.chunks if "watcher" in chunk.text}
    assert telling <= gold
    assert gold - telling <= {c.uri for c in cut.chunks if "candle" in c.text or "Name" in c.text}


def test_broken_rows_are_told_of_and_the_others_are_read(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "rows.jsonl", [TRAIN, "{broken", LIST])
    problems: list[Problem] = []
    assert [q.id for q in read_questions(path, on_problem=problems.append)] == ["nq-1", "nq-6"]
    assert [problem.location for problem in problems] == [f"{path}, line 2"]
    with pytest.raises(QuestionFileError, match="got none that can be read"):
        read_questions(
            write_rows(path, ['{"document_html": 5}', {**TRAIN, "annotations": 3}]), on_problem=print
        )


def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    """Four times as many rows, of which each has thousands of tokens, take hardly more."""
    peaks = []
    for count in (24, 96):
        rows = ({**LIST, "example_id": number} for number in range(count))
        path = write_rows(tmp_path / "rows.jsonl", rows)
        tracemalloc.start()
        assert len(read_questions(path)) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


def test_null_is_no_range() -> None:
    assert TARN.answer(NULL)["start_byte"] == -1
