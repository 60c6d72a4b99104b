"""Fusions against the best single retriever, and the correction over many tests."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from trivium.datasets.gold import Gold, Traced
from trivium.evaluation.report import Report
from trivium.evaluation.run import ONE_PART, SEVERAL_PARTS, against_best, best_system, evaluate, headline
from trivium.evaluation.significance import holm
from trivium.types import Question

ONE, TWO = Gold.of([["A#chunk-1"]]), Gold.of([["A#chunk-1"], ["B#chunk-1"]])


def test_holm_by_hand() -> None:
    """Four tests: the smallest times 4, then 3, 2, 1, never below the one before and never above 1."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == [0.03, 0.06, 0.06, 0.02]
    assert holm([0.5, 0.6]) == [1.0, 1.0]
    assert holm([0.02]) == [0.02]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_lies_between_the_p_value_and_bonferroni_and_keeps_the_order(p: list[float]) -> None:
    corrected = holm(p)
    assert all(a <= b <= min(1.0, len(p) * a) for a, b in zip(p, corrected, strict=True))
    order = sorted(range(len(p)), key=lambda i: p[i])
    assert [corrected[i] for i in order] == sorted(corrected)


def test_the_measures_of_a_set_follow_from_its_gold() -> None:
    """Those for several parts from half of the questions on."""
    assert headline([ONE, ONE, TWO]) == ONE_PART
    assert headline([ONE, TWO]) == SEVERAL_PARTS
    assert headline([]) == ONE_PART


def report(ranks: dict[str, list[int]]) -> Report:
    """Rows that put the gold of each question at these ranks; each question on a page of its own."""
    n = len(next(iter(ranks.values())))
    questions = tuple(Question(f"q{i}", "?") for i in range(n))
    gold = {f"q{i}": Gold.of([[f"P{i}#chunk-1"]]) for i in range(n)}
    rankings = {
        row: [
            [(f"X#chunk-{r}", 1 / r) for r in range(1, rank)] + [(f"P{i}#chunk-1", 1 / rank)]
            for i, rank in enumerate(places)
        ]
        for row, places in ranks.items()
    }
    return evaluate(questions, Traced(questions, gold), rankings)


def test_the_rival_is_the_best_retriever_measure_by_measure() -> None:
    """vector is best at 1 (2 of 4), page at 3 (4 of 4). The fusion wins all four at 1: +0.5, where 2 of the 4
    patterns of the two questions that differ are as extreme; at 3 it is equal."""
    found = report({"vector": [1, 1, 9, 9], "page": [2, 2, 2, 2], "mix": [1, 1, 1, 1]})
    one, three = against_best(found, ["vector", "page"], ["mix"], ["hit@1", "hit@3"])
    assert (one.row, one.against, one.measure, one.difference.mean) == ("mix", "vector", "hit@1", 0.5)
    assert one.p == 2 / 4
    assert (three.against, three.difference.mean, three.p) == ("page", 0.0, 1.0)


def test_without_a_retriever_or_a_traced_question_there_is_nothing_to_compare() -> None:
    found = report({"vector": [1], "mix": [1]})
    assert against_best(found, [], ["mix"], ["hit@1"]) == ()
    empty = evaluate([], Traced((), {}), {"vector": [], "mix": []})
    assert math.isnan(empty.rows["mix"].means["hit@1"])
    assert best_system(empty, ["vector"], "hit@1") is None
    assert against_best(empty, ["vector"], ["mix"], ["hit@1"]) == ()
