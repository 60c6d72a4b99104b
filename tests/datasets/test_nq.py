"""Natural Questions rows as questions: gold of several chunks, and question files of them.

The expected chunks were read off the page: the rows of the table stand in Tarn#Moons#chunk-2 to -6.
"""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.memory_store import MemoryStore
from tests.nq_rows import NULL, ONA, TARN, NqDocument, write_rows
from trivium.chunking.strategies import portable_chunker
from trivium.datasets.gold import Cause
from trivium.datasets.nq import convert
from trivium.datasets.questions import read_questions
from trivium.datasets.trace import trace
from trivium.errors import InputError, QuestionFileError
from trivium.graph.build import build
from trivium.graph.protocols import GraphStore
from trivium.parser.sources.nq import to_page
from trivium.parser.sources.source import Problem

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


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    yield from map(json.loads, path.read_text().splitlines())


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


def test_a_question_file_of_rows_has_the_same_gold(rows: Path, store: GraphStore, tmp_path: Path) -> None:
    """Traced in a store, or on the pages of the rows themselves: both files are the same."""
    with_store, without = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    done = convert([str(rows)], with_store, store)
    assert (done.asked, done.traced, done.passages) == (7, 5, 1 + 1 + 6 + 1 + 1)
    assert _gold(with_store, store) == GOLD
    convert([str(rows)], without)
    assert without.read_bytes() == with_store.read_bytes()
    first = next(_lines(without))
    assert first == {
        "id": "nq-1",
        "question": "who found the rings of tarn",
        "answers": ["Mira Lund"],
        "page": "Tarn",
        "gold_passages": [{"title": "Tarn", "text": "The rings of Tarn were found in 1731 by Mira Lund ."}],
        "annotators": [
            {
                "long_answer": "The rings of Tarn were found in 1731 by Mira Lund .",
                "short_answers": ["Mira Lund"],
                "yes_no": None,
                "counts": True,
            }
        ],
    }


def test_what_every_annotator_said_is_kept(rows: Path, tmp_path: Path) -> None:
    convert([str(rows)], tmp_path / "q.jsonl")
    said = {line["id"]: line["annotators"] for line in _lines(tmp_path / "q.jsonl")}
    assert [one["counts"] for one in said["nq-3"]] == [True, True, True, False, False]
    assert [one["yes_no"] for one in said["nq-3"]] == [None, "yes", None, None, None]
    assert [one["long_answer"] is None for one in said["nq-2"]] == [True, False, True, False, True]


def test_untraced_questions_are_in_a_file_with_the_reason(rows: Path, tmp_path: Path) -> None:
    done = convert([str(rows)], tmp_path / "q.jsonl")
    assert done.untraced == tmp_path / "q.untraced.jsonl"
    assert [
        (line["id"], line["location"], line["cause"], line["reason"]) for line in _lines(done.untraced)
    ] == [
        (
            "nq-4",
            f"{rows}, line 4",
            "too few annotators marked a long answer",
            "1 of 5 annotators marked a long answer, 2 are needed",
        ),
        (
            "nq-5",
            f"{rows}, line 5",
            "no annotator marked a long answer",
            "its annotator marked no long answer",
        ),
    ]
    assert done.causes == {Cause.NO_MAJORITY: 1, Cause.NO_LONG_ANSWER: 1}


def test_a_page_that_cannot_be_parsed_is_a_reason(tmp_path: Path) -> None:
    broken = {**TRAIN, "document_html": ""}
    path = write_rows(tmp_path / "rows.jsonl", [broken, ON_ONA])
    done = convert([str(path)], tmp_path / "q.jsonl")
    assert [(one.id, one.cause) for one in done.left] == [("nq-1", Cause.NO_PAGE)]
    assert done.left[0].reason.startswith("the page of the row cannot be read")


def _many(path: Path, order: int = 1) -> Path:
    """Twenty documents, of which the first has four questions, the second two and the others one: 24 in all."""
    rows = []
    for number in range(20):
        page = NqDocument(f"Page {number}", f"<p>This is what page {number} says .</p>")
        rows += [
            page.row(100 * number + question, f"q {number}", page.annotation(page.element("p")))
            for question in range({0: 4, 1: 2}.get(number, 1))
        ]
    return write_rows(path, rows[::order])


def test_the_split_is_by_document_and_by_seed_and_not_by_order(tmp_path: Path) -> None:
    path = _many(tmp_path / "rows.jsonl")
    done = convert([str(path)], tmp_path / "q.jsonl", share=0.8, seed=3)
    train, test = (list(_lines(tmp_path / f"q.{part}.jsonl")) for part in ("train", "test"))
    assert (len(train), len(test)) == (19, 5)  # a fifth of 24, rounded
    assert not {line["page"] for line in train} & {line["page"] for line in test}
    everything = list(_lines(tmp_path / "q.jsonl"))
    assert sorted(line["id"] for line in [*train, *test]) == sorted(line["id"] for line in everything)
    assert done.files["test"] == (tmp_path / "q.test.jsonl", 5, len({line["page"] for line in test}))
    backwards = _many(tmp_path / "backwards.jsonl", -1)
    convert([str(backwards)], tmp_path / "b.jsonl", share=0.8, seed=3)
    assert {line["id"] for line in _lines(tmp_path / "b.test.jsonl")} == {line["id"] for line in test}
    others = set()
    for seed in range(5):
        convert([str(path)], tmp_path / "s.jsonl", share=0.8, seed=seed)
        others.add(tuple(line["id"] for line in _lines(tmp_path / "s.test.jsonl")))
    assert len(others) > 1


def test_what_cannot_be_converted_leaves_the_files_as_they_were(rows: Path, tmp_path: Path) -> None:
    out = tmp_path / "q.jsonl"
    out.write_text("before")
    one_document = write_rows(tmp_path / "one.jsonl", [TRAIN, LIST])
    with pytest.raises(InputError, match="two documents or more"):
        convert([str(one_document)], out, share=0.8)
    with pytest.raises(InputError, match=r"got none that can be read: .*line 1: expected annotations"):
        convert([str(write_rows(tmp_path / "bad.jsonl", [{**TRAIN, "annotations": 3}]))], out)
    with pytest.raises(InputError, match="expected a share between 0 and 1, got 1"):
        convert([str(rows)], out, share=1)
    assert out.read_text() == "before"
    assert not list(tmp_path.glob("q.*.jsonl"))


def test_rows_that_cannot_be_read_are_listed(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "rows.jsonl", [TRAIN, "{broken", {**LIST, "annotations": None}, ON_ONA])
    done = convert([str(path)], tmp_path / "q.jsonl")
    assert [problem.location for problem in done.problems] == [f"{path}, line 2", f"{path}, line 3"]
    assert (done.asked, done.traced) == (2, 2)


def test_memory_does_not_grow_with_the_rows(store: GraphStore, tmp_path: Path) -> None:
    """Four times as many rows, of which each has thousands of tokens, take hardly more."""
    peaks = []
    for count in (24, 96):
        rows = ({**LIST, "example_id": number} for number in range(count))
        path = write_rows(tmp_path / "rows.jsonl", rows)
        tracemalloc.start()
        convert([str(path)], tmp_path / "q.jsonl", store)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


def test_null_is_no_range() -> None:
    assert TARN.answer(NULL)["start_byte"] == -1
