"""The rules that experiments/rerankers measures beside those of the product, and how it counts: hand-computed."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

from trivium.datasets.gold import Gold

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments" / "rerankers"))

from measure import above, chance, first_drop, found_by, rank_of

SCORES = [10.0, 9.0, 3.0, 2.5, 2.0, 1.5]
LIKELY = [math.log(p / (1 - p)) for p in (0.6, 0.5, 0.02, 0.3, 0.01)]


@pytest.mark.parametrize(("share", "count"), [(0.1, 1), (0.5, 2), (0.8, 6)])
def test_the_first_drop_that_is_large_enough_ends_the_list(share: float, count: int) -> None:
    """Drops of 1, 6, .5, .5, .5, of 8.5 in all."""
    assert first_drop(share, SCORES) == count


def test_without_any_drop_the_list_runs_on() -> None:
    assert first_drop(0.3, [2.0] * 20) == 10


def test_thresholds_of_probabilities() -> None:
    """.6, .8 and .804 that one of the first one, two and three is right."""
    assert [above(0.25, LIKELY), above(0.9, LIKELY)] == [3, 1]
    assert [chance(0.55, LIKELY), chance(0.79, LIKELY), chance(0.999, LIKELY)] == [1, 2, 5]


def test_what_is_found_is_the_share_of_the_gold() -> None:
    gold = Gold.of([["a", "b"], ["c"]])
    found = found_by(gold, ["x", "b", "a", "c"])
    assert [found(range(count)) for count in range(5)] == [0.0, 0.0, 0.5, 0.5, 1.0]
    assert rank_of(["x", "b"], {"a", "b"}) == 2
    assert rank_of(["x"], {"a"}) == float("inf")
