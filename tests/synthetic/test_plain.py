"""Plain questions: drawn over documents, written about one passage, checked, resumed, exported."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.fakes.chat_model import ScriptedModel
from tests.fakes.memory_store import MemoryStore
from tests.retrievers.world import page
from tests.synthetic.world import HALL, MOONS, STICKNEY, world
from trivium.answering.passage_prompts import Source
from trivium.datasets.questions import read_questions
from trivium.datasets.trace_gold import trace
from trivium.errors import ChatModelError, InputError
from trivium.llm.chat_model import Message
from trivium.synthetic.checks import Check
from trivium.synthetic.export import export
from trivium.synthetic.judge import judge
from trivium.synthetic.plain import PlainSampling, checked_plain, draw_passages, generate_plain
from trivium.synthetic.read_replies import PlainDraft
from trivium.synthetic.records import Outcome
from trivium.synthetic.run_folder import Run

HALL_SOURCE = Source("Asaph Hall#chunk-1", "Asaph Hall", "Asaph Hall", HALL)


def long_and_short() -> MemoryStore:
    """A page of six passages, and four of one each."""
    text = "Passage {} tells of number {}, at such length that it counts as one that can be asked about, as all do here."
    return world(
        [
            page("Long", lead=[(text.format(f"of long {'abcdef'[n]}", n), []) for n in range(6)]),
            *(page(f"Short {n}", lead=[(text.format(f"of short {n}", 10 + n), [])]) for n in range(4)),
        ]
    )


def reply(*questions: tuple[str, str, int]) -> str:
    """A reply of a writer."""
    return json.dumps(
        {"questions": [{"question": q, "answer": a, "sentence": number} for q, a, number in questions]}
    )


def any_number(messages: Sequence[Message]) -> str:
    """Two questions about a passage of :func:`long_and_short`."""
    told = messages[-1].content
    found = re.search(r"Passage (.*?) tells of number (\d+)", told)
    assert found is not None
    which, number = found.groups()
    wanted = int(re.search(r"Write (\d) question", told)[1])  # type: ignore[index]
    assert wanted == 2, "both passed at once"
    return reply(
        (f"What number is passage {which} about?", number, 1),
        (f"To what does item{number} belong?", f"number {number}", 1),
    )


def test_a_long_page_gives_no_more_passages_than_a_short_one() -> None:
    """One of each page, then the second of those that have one; more passages keep the first."""
    store = long_and_short()
    drawn = draw_passages(store, PlainSampling(chunks=100, seed=3))
    assert Counter(one.page for one in drawn[:5]) == Counter(
        {"Long": 1, **{f"Short {n}": 1 for n in range(4)}}
    )
    assert [one.page for one in drawn[5:]] == ["Long"] * 5 and len({one.uri for one in drawn}) == 10
    assert draw_passages(store, PlainSampling(chunks=4, seed=3)) == drawn[:4]
    others = [draw_passages(store, PlainSampling(chunks=10, seed=seed)) for seed in range(5)]
    assert len({tuple(one.uri for one in other) for other in others}) > 1


@pytest.mark.parametrize(
    ("draft", "quote"),
    [
        (PlainDraft("Where was Asaph Hall born?", "Goshen", 2), 1),
        (PlainDraft("Where was Asaph Hall born?", "Goshen", 1), 1),  # it names the wrong sentence
        (PlainDraft("Where was Asaph Hall born?", "goshen", 99), 1),
        (PlainDraft("What nationality had Asaph Hall?", "American", 0), 0),
    ],
)
def test_the_quote_is_the_sentence_that_has_the_answer(draft: PlainDraft, quote: int) -> None:
    sentences = [f"{HALL.split('. ')[0]}.", HALL.split(". ", 1)[1]]
    assert checked_plain(draft, HALL_SOURCE) == ([], sentences[quote])


@pytest.mark.parametrize(
    ("draft", "check"),
    [
        (PlainDraft("Where was Asaph Hall born?", "Boston", 1), Check.ANSWER_ABSENT),
        (PlainDraft("Where was Asaph Hall of Goshen born?", "Goshen", 2), Check.ANSWER_GIVEN),
        (PlainDraft("Where, according to the passage, was he born?", "Goshen", 2), Check.POINTS_AT_PASSAGE),
        (PlainDraft("Where was he born", "Goshen", 2), Check.FORM),
        (PlainDraft("Born where?", "Goshen", 2), Check.FORM),
        (PlainDraft("What was Asaph Hall's life like?", "", 1), Check.NO_ANSWER),
    ],
)
def test_each_fault_is_found(draft: PlainDraft, check: Check) -> None:
    assert check in checked_plain(draft, HALL_SOURCE)[0]


def test_what_fails_is_asked_for_again_and_duplicates_are_left_out(tmp_path: Path) -> None:
    """Of the first reply one question passes; the second request asks for the other one alone, and gets the same again
    in other words. Tokens of both are counted once."""
    store = world([page("Asaph Hall", lead=[(HALL, [])])])
    model = ScriptedModel(
        reply(("Where was Asaph Hall born?", "Goshen", 2), ("What was he?", "a plumber", 1)),
        reply(("Asaph Hall was born where?", "Goshen", 2)),
    )
    run = Run(tmp_path / "run")
    generate_plain(run, store, model, PlainSampling(chunks=1))
    first, second = run.written.records()
    assert (first.outcome, first.quote.split()[:3]) == (Outcome.WRITTEN, ["He", "was", "born"])
    assert second.outcome is Outcome.FAILED and second.usage.prompt_tokens == 0
    assert "Write 1 question " in model.asked[1][-1].content and "Goshen" not in first.question


def test_an_empty_reply_declines_and_nonsense_is_malformed(tmp_path: Path) -> None:
    store = world([page("Asaph Hall", lead=[(HALL, [])])])
    for text, outcome in (('{"questions": []}', Outcome.DECLINED), ("I cannot.", Outcome.MALFORMED)):
        run = Run(tmp_path / outcome)
        generate_plain(run, store, ScriptedModel(text, text), PlainSampling(chunks=1))
        assert {one.outcome for one in run.written.records()} == {outcome}


class Failing(ScriptedModel):
    """Answers so many times."""

    def __init__(self, times: int) -> None:
        super().__init__(any_number)
        self.times = times

    def complete(self, messages: Sequence[Message], **options: object) -> str:  # type: ignore[override]
        if len(self.asked) == self.times:
            raise ChatModelError("gone")
        return super().complete(messages)


def test_an_interrupted_run_goes_on_to_the_same_questions(tmp_path: Path) -> None:
    """No passage is asked about twice; a larger number adds to it; another store or seed is refused."""
    store = long_and_short()
    whole, torn = Run(tmp_path / "whole"), Run(tmp_path / "torn")
    told: list[tuple[int, int]] = []
    generate_plain(
        whole, store, ScriptedModel(any_number), PlainSampling(chunks=6), lambda *done: told.append(done)
    )
    assert told == [(n, 6) for n in range(1, 7)]
    with pytest.raises(ChatModelError):
        generate_plain(torn, store, Failing(2), PlainSampling(chunks=4))
    assert len(torn.written.records()) == 4
    generate_plain(torn, store, ScriptedModel(any_number), PlainSampling(chunks=4))
    again = ScriptedModel(any_number)
    generate_plain(torn, store, again, PlainSampling(chunks=6))
    assert len(again.asked) == 2 and torn.written.records() == whole.written.records()
    with pytest.raises(InputError, match="other settings"):
        generate_plain(torn, store, again, PlainSampling(chunks=6, seed=1))


def test_the_file_is_one_that_an_evaluation_reads(tmp_path: Path) -> None:
    """Questions, answers, quotes and chunks; gold leads to the chunk."""
    store, run = long_and_short(), Run(tmp_path / "run")
    generate_plain(run, store, ScriptedModel(any_number), PlainSampling(chunks=5))
    with pytest.raises(InputError, match="no question is accepted"):
        export(run, tmp_path / "none.jsonl")
    written = export(run, tmp_path / "plain.jsonl", threshold=0)
    rows = [json.loads(line) for line in (tmp_path / "plain.jsonl").read_text().splitlines()]
    passed = [one for one in run.written.records() if one.outcome is Outcome.WRITTEN]
    assert written.questions == len(rows) == len(passed) and len({row["id"] for row in rows}) == len(rows)
    assert {row["question"] for row in rows} == {one.question for one in passed}
    for row in rows:
        assert row["answers"][0] in row["quote"] and row["quote"] in row["gold_passages"][0]["text"]
    traced = trace(read_questions(tmp_path / "plain.jsonl"), store)
    assert not traced.untraceable and [traced.gold[row["id"]].groups[0] for row in rows] == [
        tuple(row["chunks"]) for row in rows
    ]
    assert (tmp_path / "plain.qrels.txt").exists()


def test_a_judge_gives_scores_that_fit_plain_questions(tmp_path: Path) -> None:
    """By other criteria than those of several hops, without a bridge."""
    store = world([page("Asaph Hall", lead=[(HALL, [])])])
    run = Run(tmp_path / "run")
    generate_plain(
        run,
        store,
        ScriptedModel(reply(("Where was Asaph Hall born?", "Goshen", 2)), reply()),
        PlainSampling(chunks=1),
    )
    model = ScriptedModel('{"borne_out": 9, "clear": 8, "unambiguous": 7, "one_answer": 6}')
    judge(run, model)
    assert "Bridge" not in model.asked[0][-1].content
    (candidate,) = run.candidates(6)
    assert candidate.judged.total == 30 and candidate.quote.startswith("He was born")
    assert len(run.candidates(7)) == 0


def test_texts_of_the_world_are_what_they_seem() -> None:
    """The passages above are long enough to be drawn."""
    assert all(len(text.split()) > 20 for text in (MOONS, STICKNEY, HALL))
