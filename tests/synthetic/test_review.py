"""A person decides question by question; what is accepted becomes a question file that an evaluation reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fakes.chat_model import ScriptedModel
from tests.fakes.memory_store import MemoryStore
from tests.synthetic.world import GOOD, many, question_of
from trivium.datasets.questions import read_questions
from trivium.datasets.trace_gold import trace
from trivium.errors import InputError
from trivium.evaluation.trec_files import read_qrels
from trivium.synthetic.export import export
from trivium.synthetic.generate import generate
from trivium.synthetic.judge import judge
from trivium.synthetic.records import Decision
from trivium.synthetic.review import REVIEW_SETTINGS, Review
from trivium.synthetic.run_folder import Run
from trivium.synthetic.sample_bridges import Sampling, draw

SCORES = [
    GOOD,
    {**GOOD, "clear": 10},
    {**GOOD, "multi_hop": 6},
    {**GOOD, "clear": 9},
    {**GOOD, "one_answer": 1},
]
ORDER = [1, 3, 0]
"""Of those with no score under 7, the highest sum first."""


@pytest.fixture
def store() -> MemoryStore:
    return many(5)


@pytest.fixture
def run(store: MemoryStore, tmp_path: Path) -> Run:
    """Five judged questions."""
    run, sampling = Run(tmp_path / "run"), Sampling(entities=5)
    generate(run, store, ScriptedModel(*map(question_of, draw(store, sampling))), sampling)
    judge(run, ScriptedModel(*map(json.dumps, SCORES)))
    return run


def entities(run: Run) -> list[str]:
    """In the order they were written about."""
    return [one.entity for one in run.written.records()]


def test_the_best_come_first_and_those_with_a_weak_side_not_at_all(run: Run) -> None:
    """One score under the threshold is enough, however good the others are."""
    names = entities(run)
    assert [one.bridge.entity for one in run.candidates()] == [names[place] for place in ORDER]
    assert len(run.candidates(threshold=6)) == 4 and len(run.candidates(threshold=1)) == 5


def test_decisions_are_saved_at_once_and_the_last_one_holds(run: Run) -> None:
    """Accepted, gone back, rejected; skipped comes last; the next sitting shows what is undecided."""
    first, second, third = [one.bridge.entity for one in run.candidates()]
    with run.reviewed.writing(REVIEW_SETTINGS) as save:
        review = Review(run.candidates(), save, keep=9)
        assert not review.back()
        review.decide(Decision.ACCEPT)
        assert [one.entity for one in run.reviewed.records()] == [first] and review.kept == 1
        assert review.back() and review.current is not None and review.current.bridge.entity == first
        review.decide(Decision.REJECT)
        assert review.kept == 0
        review.skip()
        assert review.current is not None and review.current.bridge.entity == third
        assert review.back() and review.current.bridge.entity == second and review.waiting == 2
        review.skip()
        review.decide(Decision.ACCEPT)
        assert (review.kept, review.waiting) == (1, 1)
    with run.reviewed.writing(REVIEW_SETTINGS) as save:
        later = Review(run.candidates(), save, keep=9)
        assert later.current is not None and later.current.bridge.entity == second
        assert (later.kept, later.waiting) == (1, 1)
        assert later.back() and later.current.bridge.entity == third, "also to what was decided before"
        assert later.current.decision is Decision.ACCEPT
    status = run.status()["review"]
    assert (status["accepted"], status["rejected"]) == (1, 1)


def test_the_review_ends_when_enough_are_kept(run: Run) -> None:
    with run.reviewed.writing(REVIEW_SETTINGS) as save:
        review = Review(run.candidates(), save, keep=2)
        review.decide(Decision.ACCEPT)
        review.decide(Decision.ACCEPT)
        assert review.current is None and review.waiting == 1


def test_what_is_exported_is_read_and_traced_to_the_very_passages(
    run: Run, store: MemoryStore, tmp_path: Path
) -> None:
    """The judgements beside it say the same, and a stricter threshold later takes nothing accepted away."""
    with pytest.raises(InputError, match="no question is accepted yet"):
        export(run, tmp_path / "none.jsonl")
    assert not (tmp_path / "none.jsonl").exists()
    with run.reviewed.writing(REVIEW_SETTINGS) as save:
        review = Review(run.candidates(threshold=1), save, keep=9)
        for decision in (Decision.ACCEPT, Decision.REJECT, Decision.ACCEPT, Decision.ACCEPT, Decision.ACCEPT):
            review.decide(decision)
    exported = export(run, tmp_path / "mine.jsonl")
    assert exported.questions == 4 and exported.qrels.name == "mine.qrels.txt"
    questions = read_questions(exported.file)
    traced = trace(questions, store)
    assert traced.untraceable == ()
    assert traced.gold == read_qrels(exported.qrels)
    rows = [json.loads(line) for line in exported.file.read_text("utf-8").splitlines()]
    for row in rows:
        assert sorted(chunk for (chunk,) in traced.gold[row["id"]].groups) == sorted(row["chunks"])
        assert row["answers"][0].startswith("smith") and row["scores"].keys() == GOOD.keys()
    assert len({row["id"] for row in rows}) == 4
    before = exported.file.read_bytes()
    assert export(run, tmp_path / "mine.jsonl").file.read_bytes() == before


def test_logs_of_two_runs_do_not_make_one(run: Run) -> None:
    """A judgement on a question that was never written is refused, not guessed at."""
    lines = run.written.path.read_text("utf-8").splitlines(keepends=True)
    run.written.path.write_text("".join(lines[:2]), "utf-8")
    with pytest.raises(InputError, match="never written"):
        run.candidates()
