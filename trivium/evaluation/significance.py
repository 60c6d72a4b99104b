"""Paired bootstrap intervals and paired permutation tests, by cluster of questions.

Questions on one page succeed and fail together, so pages (clusters) are resampled with all their questions; without
clusters every question is its own cluster. All columns of one call share the resamples, which keeps rows paired and
makes many measures as cheap as one. Percentile intervals (Efron 1979); with fewer than about twenty clusters they are
too narrow and only indicative.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trivium.common.arrays import Floats, Integers
from trivium.datasets.cross_validation import clusters
from trivium.datasets.gold import Gold
from trivium.errors import InputError

CONFIDENCE = 0.95
RESAMPLES = 10_000
SEED = 20240229
FEW = 20
"""Intervals and tests with fewer clusters than this are only indicative."""
LEVEL = 0.05
"""Differences with a lower adjusted p-value are marked in reports."""
_BATCH_CELLS = 1 << 22
"""Random numbers drawn at a time, to limit memory; the result does not depend on it."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with the bounds of its confidence interval."""

    mean: float
    low: float
    high: float


def resampled_units(gold: Sequence[Gold], groups: str = "pages") -> tuple[Integers, str, int]:
    """Return what intervals and tests resample: the number of each question's unit (questions,), what the units are
    called, and how many there are. They are ``groups`` of questions that share gold pages, or questions if all share one.
    """
    pages = clusters([answer.pages for answer in gold])
    count = len(np.unique(pages))
    return (pages, groups, count) if count > 1 else (np.arange(len(gold)), "questions", len(gold))


def mean_intervals(
    values: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    resamples: int = RESAMPLES,
) -> list[Interval]:
    """Return bootstrap intervals of the mean of each column of ``values`` (questions, columns).

    ``clusters`` (questions,) numbers the cluster of each question. Raises InputError for empty or mis-shaped input.
    """
    table, sums, sizes = _by_cluster(values, clusters)
    count = len(sizes)
    rng = np.random.default_rng(SEED)
    drawn = np.empty((resamples, table.shape[1]))
    for rows in _batches(resamples, count):
        picks = rng.integers(count, size=(rows.stop - rows.start, count))
        weights = _occurrences(picks, count)
        drawn[rows] = (weights @ sums) / (weights @ sizes)[:, None]
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    return [
        Interval(float(m), float(lo), float(hi))
        for m, lo, hi in zip(table.mean(axis=0), low, high, strict=True)
    ]


def mean_interval(
    values: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    resamples: int = RESAMPLES,
) -> Interval:
    """Return the bootstrap interval of the mean of ``values`` (questions,). For the interval of a paired difference
    pass the difference.
    """
    column = np.asarray(values, dtype=np.float64)[:, None]
    return mean_intervals(column, clusters, resamples=resamples)[0]


def p_values(
    differences: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    resamples: int = RESAMPLES,
) -> list[float]:
    """Return the p-values of two-sided paired permutation tests for each column of ``differences`` (questions,
    columns).

    Under the null hypothesis the two sides of a pair are exchangeable, so the sign of each cluster's summed
    difference is flipped at random. Exact (all sign patterns) if there are no more patterns than ``resamples``,
    otherwise (1 + at least as extreme) / (1 + resamples).
    """
    _, sums, sizes = _by_cluster(differences, clusters)
    count = len(sizes)
    exact = count < 63 and 2**count <= resamples
    total = 2**count if exact else resamples
    rng = np.random.default_rng(SEED)
    # Sums in a different order differ in the last bits but must count as equally extreme.
    bound = np.abs(sums.sum(axis=0)) - 1e-9 * np.maximum(np.abs(sums).sum(axis=0), 1e-300)
    extreme = np.zeros(sums.shape[1], dtype=np.int64)
    for rows in _batches(total, count):
        if exact:
            flips = np.arange(rows.start, rows.stop)[:, None] >> np.arange(count) & 1
        else:
            flips = rng.integers(2, size=(rows.stop - rows.start, count))
        extreme += (np.abs((1.0 - 2.0 * flips) @ sums) >= bound).sum(axis=0)
    observed = 0 if exact else 1  # the observed signs are one more pattern, unless all were enumerated
    return [float(count) for count in (extreme + observed) / (total + observed)]


def p_value(
    differences: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    resamples: int = RESAMPLES,
) -> float:
    """Return the p-value of the paired permutation test for one column of differences (questions,)."""
    column = np.asarray(differences, dtype=np.float64)[:, None]
    return p_values(column, clusters, resamples=resamples)[0]


def holm(p: Sequence[float]) -> list[float]:
    """Adjust the p-values of a family of tests, so that the probability of any false positive stays below the level
    they are compared with (Holm, Scandinavian Journal of Statistics 6, 1979).

    >>> holm([0.01, 0.04, 0.03, 0.005])
    [0.03, 0.06, 0.06, 0.02]
    """
    adjusted = [0.0] * len(p)
    largest = 0.0
    for place, test in enumerate(sorted(range(len(p)), key=lambda test: p[test])):
        largest = max(largest, min(1.0, (len(p) - place) * p[test]))
        adjusted[test] = largest
    return adjusted


def _by_cluster(values: ArrayLike, clusters: ArrayLike | None) -> tuple[Floats, Floats, Floats]:
    """Return the table, its sums by cluster (clusters, columns) and the cluster sizes (clusters,)."""
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or not len(table) or not np.isfinite(table).all():
        raise InputError(f"expected finite values (questions x columns), got shape {table.shape}")
    if clusters is None:
        return table, table, np.ones(len(table))
    names = np.asarray(clusters)
    if names.shape != (len(table),):
        raise InputError(f"expected one cluster for each of {len(table)} questions, got shape {names.shape}")
    _, cluster = np.unique(names, return_inverse=True)
    sums = np.zeros((int(cluster.max()) + 1, table.shape[1]))
    np.add.at(sums, cluster, table)
    return table, sums, np.bincount(cluster).astype(np.float64)


def _occurrences(picks: NDArray[np.int64], count: int) -> Floats:
    """Count how often each of ``count`` items was picked, row by row."""
    flat = picks + count * np.arange(len(picks))[:, None]
    return np.bincount(flat.ravel(), minlength=picks.shape[0] * count).reshape(-1, count).astype(np.float64)


def _batches(total: int, width: int) -> Iterator[slice]:
    size = max(1, _BATCH_CELLS // width)
    for start in range(0, total, size):
        yield slice(start, min(start + size, total))
