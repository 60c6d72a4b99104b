"""benchmarks/peers.py without a server and without the peers: sampling, the order of asking, and the table."""

from __future__ import annotations

import json

import pytest

from benchmarks.peers_race import (
    Answers,
    RefusedError,
    System,
    judge,
    race,
    sample,
    table,
    to_json,
    warm_up,
)
from trivium.datasets.gold import Gold, Traced
from trivium.evaluation.report import Ranking
from trivium.types import Question


def answering(ranking: Ranking, name: str = "one", log: list[tuple[str, str]] | None = None) -> System:
    """A system with one answer to everything, which writes down what it is asked."""

    def ask(text: str) -> Ranking:
        if log is not None:
            log.append((name, text))
        return ranking

    return System(name, ask)


def test_a_sample_is_drawn_once_in_the_order_of_the_file_and_by_its_seed() -> None:
    """20 of 100: distinct, ascending, the same for a seed and another for another seed."""
    drawn = sample(range(100), 20, 7)
    assert drawn == sorted(set(drawn)) and len(drawn) == 20
    assert drawn == sample(range(100), 20, 7) != sample(range(100), 20, 8)


@pytest.mark.parametrize("limit", [3, 4])
def test_a_limit_that_is_not_below_the_number_of_questions_takes_all(limit: int) -> None:
    """Nothing is drawn twice to fill a limit."""
    assert sample(["a", "b", "c"], limit, 0) == ["a", "b", "c"]


def test_every_question_goes_to_all_systems_before_the_next_and_not_always_in_one_order() -> None:
    """Noise that lasts longer than a question hits all systems; each answer lands with its system."""
    log: list[tuple[str, str]] = []
    systems = [answering([(name, 1.0)], name, log) for name in ("one", "two", "three")]
    texts = [f"question {number}" for number in range(12)]
    answers = race(systems, texts, 0)
    rounds = [log[start : start + 3] for start in range(0, len(log), 3)]
    assert [{text for _, text in asked} for asked in rounds] == [{text} for text in texts]
    assert all({name for name, _ in asked} == {"one", "two", "three"} for asked in rounds)
    assert len({tuple(name for name, _ in asked) for asked in rounds}) > 1
    assert list(answers) == ["one", "two", "three"]
    assert all(answers[name].rankings == [[(name, 1.0)]] * 12 for name in answers)
    assert all(len(answers[name].seconds) == 12 for name in answers)


def test_a_warm_up_asks_all_systems_and_none_of_the_questions() -> None:
    """A store that remembers answers must not have met the question before it counts."""
    log: list[tuple[str, str]] = []
    warm_up([answering([], "one", log), answering([], "two", log)], ["Who found  Mars?"])
    assert log == [("one", "Mars? found Who"), ("two", "Mars? found Who")]


def test_a_refused_question_is_timed_counted_and_not_found() -> None:
    """It stays among the questions: the other answers keep their places."""

    def ask(text: str) -> Ranking:
        if text == "a":
            raise RefusedError("cannot read a")
        return [("A#chunk-1", 1.0)]

    answers = race([System("one", ask)], ["a", "b"], 0)["one"]
    assert answers.refused == ["cannot read a"]
    assert answers.rankings == [(), [("A#chunk-1", 1.0)]]
    assert len(answers.seconds) == 2


def test_the_table_has_the_measures_the_stars_and_the_milliseconds() -> None:
    """Ten questions on ten pages. The first system has all of them first; the second has the first two of them second
    and the others nowhere: hit@1 0, hit@3 .2, MRR .1. With ten pages of which all (or eight) differ one way, the
    permutation test gives 2/1024 (2/256): significant. The third differs in one: it cannot be."""
    questions = [Question(id=str(number), text=f"question {number}") for number in range(10)]
    gold = {str(number): Gold(((f"P{number}#chunk-1",),)) for number in range(10)}
    found: list[Ranking] = [[(f"P{number}#chunk-1", 1.0)] for number in range(10)]
    second: list[Ranking] = [[("X#chunk-1", 2.0), *found[number]] for number in range(2)] + [()] * 8
    milliseconds = [value / 1000 for value in range(1, 22)]
    answers = {
        "first": Answers(found, milliseconds),
        "second": Answers(second, milliseconds, ["cannot read"] * 8),
        "third": Answers([*found[:9], ()], milliseconds),
        "(embedding)": Answers([()] * 10, milliseconds),
    }
    systems = [answering((), name) for name in ("first", "second", "third")]
    systems.append(System("(embedding)", lambda text: (), judged=False))
    outcome = judge("set", systems, questions, Traced(tuple(questions), gold), answers)
    assert table(outcome).splitlines() == [
        "|  | hit@1 | hit@3 | hit@5 | MRR | median ms | p95 ms |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        "| first | 1.000 | 1.000 | 1.000 | 1.000 | 11.0 | 20.0 |",
        "| second | 0.000* | 0.200* | 0.200* | 0.100* | 11.0 | 20.0 |",
        "| third | 0.900 | 0.900 | 0.900 | 0.900 | 11.0 | 20.0 |",
        "| (embedding) |  |  |  |  | 11.0 | 20.0 |",
    ]
    written = json.loads(json.dumps(to_json(outcome)))
    assert written["latency"]["second"]["refused"] == ["cannot read"] * 8
    assert set(written["rows"]) == {"first", "second", "third"}


def test_only_the_sampled_questions_are_judged() -> None:
    """A traced question that was not drawn is not a miss."""
    questions = [Question(id=name, text=name) for name in "ab"]
    traced = Traced(tuple(questions), {name: Gold(((f"{name}#chunk-1",),)) for name in "ab"})
    answers = {"one": Answers([[("b#chunk-1", 1.0)]], [0.001])}
    report = judge("set", [answering((), "one")], questions[1:], traced, answers).report
    assert report.rows["one"].means["hit@1"] == 1.0
