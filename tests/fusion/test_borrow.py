"""What links cannot say of a passage is what they say of the passages most like it."""

from __future__ import annotations

import numpy as np

from trivium.fusion.imputation import borrow
from trivium.fusion.score_table import Table


def table(vector: list[float], walk: list[float], ranks: list[int], signal: list[float]) -> Table:
    n = len(vector)
    raw = np.stack([np.array(vector), np.array(walk)], axis=1)
    return Table(
        tuple(f"P{row}#chunk-1" for row in range(n)),
        ("vector", "walk"),
        raw,
        np.stack([np.arange(1, n + 1), np.array(ranks)], axis=1),
        tuple({} for _ in range(n)),
        {"in_degree": np.array(signal), "coverage": np.arange(n, dtype=float)},
    )


def test_the_five_nearest_lend_their_mean_and_their_median_rank() -> None:
    given = table(
        [0.9, 0.8, 0.8, 0.8, 0.8, 0.8, 0.1],
        [np.nan, 1.0, 2.0, 3.0, np.nan, 6.0, 100.0],
        [0, 1, 2, 3, 0, 0, 9],
        [np.nan, 2.0, 2.0, 2.0, 2.0, 7.0, 50.0],
    )
    lacking = np.array([True] + [False] * 6)
    found = borrow(given, lacking, ["walk", "entity"], ["in_degree", "linking"])
    assert found.raw[0].tolist() == [0.9, 3.0]
    assert found.ranks[0].tolist() == [1, 3]
    assert found.signals["in_degree"][0] == 3.0 and found.signals["coverage"][0] == 0.0
    np.testing.assert_array_equal(found.raw[1:], given.raw[1:])
    assert np.isnan(given.raw[0, 1])  # the given one stays as it was


def test_without_anybody_to_borrow_from_nothing_changes() -> None:
    given = table([0.9, 0.8], [np.nan, 1.0], [0, 1], [0.0, 0.0])
    for lacking in (np.array([True, True]), np.array([False, False])):
        assert borrow(given, lacking, ["walk"], []) is given


def test_what_no_donor_knows_stays_unknown() -> None:
    given = table([0.9, 0.8], [np.nan, np.nan], [0, 0], [np.nan, np.nan])
    found = borrow(given, np.array([True, False]), ["walk"], ["in_degree"])
    assert np.isnan(found.raw[0, 1]) and found.ranks[0, 1] == 0 and np.isnan(found.signals["in_degree"][0])
