"""The best of several systems, and the measures that a set is judged by."""

from __future__ import annotations

import math

from trivium.datasets.gold import Gold, Traced
from trivium.evaluation.run import ONE_PART, SEVERAL_PARTS, best_system, evaluate, headline

ONE, TWO = Gold.of([["A#chunk-1"]]), Gold.of([["A#chunk-1"], ["B#chunk-1"]])


def test_the_measures_of_a_set_follow_from_its_gold() -> None:
    """Those for several parts from half of the questions on."""
    assert headline([ONE, ONE, TWO]) == ONE_PART
    assert headline([ONE, TWO]) == SEVERAL_PARTS
    assert headline([]) == ONE_PART


def test_without_a_traced_question_no_system_is_best() -> None:
    empty = evaluate([], Traced((), {}), {"vector": [], "mix": []})
    assert math.isnan(empty.rows["mix"].means["hit@1"])
    assert best_system(empty, ["vector"], "hit@1") is None
