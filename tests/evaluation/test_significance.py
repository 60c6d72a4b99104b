"""Intervals and tests: against SciPy, by hand where all patterns can be counted, and by their error rates."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.errors import InputError
from trivium.evaluation import significance
from trivium.evaluation.significance import holm, mean_interval, mean_intervals, p_value, p_values


def scores(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).beta(2, 1, size=n)


def test_the_interval_of_a_mean_agrees_with_scipy() -> None:
    """Both are Monte Carlo: a twentieth of the width is several of their standard errors."""
    values = scores(200)
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    ours = mean_interval(values)
    width = theirs.high - theirs.low
    assert ours.mean == pytest.approx(values.mean())
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs), abs=width / 20)


def test_the_clustered_interval_agrees_with_scipy_resampling_sums_and_sizes() -> None:
    rng = np.random.default_rng(2)
    pages = np.repeat(np.arange(40), rng.integers(1, 12, size=40))
    values = (rng.random(len(pages)) < rng.random(40)[pages]).astype(float)
    sums, sizes = np.bincount(pages, values), np.bincount(pages)
    theirs = scipy.stats.bootstrap(
        (sums, sizes),
        lambda s, n, axis: s.sum(axis=axis) / n.sum(axis=axis),
        paired=True,
        n_resamples=10_000,
        method="percentile",
        rng=np.random.default_rng(3),
    ).confidence_interval
    ours = mean_interval(values, pages)
    width = theirs.high - theirs.low
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs), abs=width / 20)
    plain = mean_interval(values)
    assert ours.high - ours.low > 1.3 * (plain.high - plain.low)


def test_singleton_clusters_change_nothing_but_the_draw() -> None:
    values = scores(50)
    assert mean_interval(values, np.arange(50)) == mean_interval(values)


def test_columns_share_their_resamples() -> None:
    """So a column has the interval it has alone, and a constant difference has no width."""
    a = scores(80)
    both = mean_intervals(np.stack([a, a + 0.25], axis=1))
    assert both[0] == mean_interval(a)
    assert both[1].low - both[0].low == pytest.approx(0.25)
    assert both[1].high - both[0].high == pytest.approx(0.25)


def test_the_interval_covers_the_true_mean_about_as_often_as_it_says() -> None:
    """Of 300 samples of 100, 95 % within four standard errors."""
    rng = np.random.default_rng(4)
    inside = 0
    for _ in range(300):
        interval = mean_interval(rng.random(100) < 0.7, resamples=500)
        inside += interval.low <= 0.7 <= interval.high
    assert 0.90 <= inside / 300 <= 0.99


def test_results_are_the_same_whatever_the_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    values = scores(30) - 0.6
    before = mean_interval(values, resamples=999), p_value(values, resamples=999)
    monkeypatch.setattr(significance, "_BATCH_CELLS", 1000)
    assert (mean_interval(values, resamples=999), p_value(values, resamples=999)) == before


def test_the_exact_p_value_counts_sign_patterns() -> None:
    """Differences 1, 1, 1, -1: |sum| >= 2 for 4 + 4 + 1 + 1 of 16 patterns; all ones: 2 of 16."""
    assert p_value([1, 1, 1, -1]) == 10 / 16
    assert p_value([1, 1, 1, 1]) == 2 / 16
    assert p_value([0, 0, 0]) == 1


@settings(deadline=None)
@given(st.lists(st.integers(-6, 6), min_size=1, max_size=8))
def test_equal_sums_are_equally_extreme_whatever_the_last_bit(tenths: list[int]) -> None:
    """Oracle: whole numbers. As fractions of ten the same sums differ by the order of addition."""
    sums = [abs(sum(signs)) for signs in itertools.product(*[(t, -t) for t in tenths])]
    expected = sum(total >= abs(sum(tenths)) for total in sums) / len(sums)
    assert p_value([t / 10 for t in tenths]) == expected


def test_sampled_p_values_count_the_observed_signs_and_are_never_zero() -> None:
    assert p_value([1.0] * 60, resamples=999) == 1 / 1000


def test_flipping_whole_pages_counts_patterns_of_pages() -> None:
    """Two pages of two questions: 2 of 4 patterns are as extreme, however many questions they hold."""
    assert p_value([1, 1, 1, 1], ["A", "A", "B", "B"]) == 2 / 4


@pytest.mark.parametrize(("n", "shift"), [(12, 0.15), (60, 0.0)])
def test_p_values_agree_with_scipy(n: int, shift: float) -> None:
    """Twelve pairs exactly, sixty within Monte Carlo error."""
    rng = np.random.default_rng(n + 1)
    a, b = rng.random(n) + shift, rng.random(n)
    theirs = scipy.stats.permutation_test(
        (a, b),
        lambda x, y, axis: (x - y).mean(axis=axis),
        permutation_type="samples",
        n_resamples=10_000,
        rng=np.random.default_rng(0),
    ).pvalue
    assert 0.01 < theirs < 0.9
    assert p_value(a - b) == pytest.approx(theirs, abs=1e-12 if n == 12 else 0.015)


def test_under_the_null_hypothesis_p_values_are_uniform() -> None:
    columns = np.random.default_rng(6).normal(size=(40, 400))
    p = np.array(p_values(columns, resamples=999))
    assert p.min() >= 1 / 1000
    assert scipy.stats.kstest(p, "uniform").pvalue > 0.001


@pytest.mark.parametrize("values", [np.empty((0, 1)), np.ones(3), np.array([[np.nan]])])
def test_what_is_no_table_of_finite_numbers_is_refused(values: np.ndarray) -> None:
    with pytest.raises(InputError, match="questions x columns"):
        mean_intervals(values)


def test_clusters_of_another_length_are_refused() -> None:
    with pytest.raises(InputError, match="one cluster for each of 3"):
        p_value([1, 2, 3], [0, 1])


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
