"""Personalised PageRank on a small dense graph.

The stationary distribution of a walker who follows an edge with probability ``damping`` (in proportion to its weight)
and otherwise restarts at a seed: ``p = (1 - d) s + d P^T p``. From a node without edges the walker restarts at a seed
as well, the default of NetworkX. Source: Page et al., *The PageRank Citation Ranking* (1999). Implemented as loops,
so that the order of every sum is fixed and independent of a library's threads; see :mod:`trivium.common.arrays`.
"""

from __future__ import annotations

import numpy as np

from trivium.common.arrays import Floats
from trivium.common.compiled import compiled
from trivium.errors import ConfigurationError, InputError
from trivium.retrievers.query import Method, check_damping


def pagerank_dense(
    weights: Floats, seeds: Floats, damping: float = 0.85, method: Method = "power", tol: float = 1e-10
) -> Floats:
    """Return the stationary probabilities (n,), which sum to 1.

    - ``weights`` (n, n): non-negative; row i holds the outgoing edges of node i.
    - ``seeds`` (n,): non-negative restart weights, normalised here; all zeros means uniform.
    - ``damping``: in [0, 1).
    - ``method``: ``solve`` is the closed form. ``power`` iterates until the L1 error is at most ``tol``, about ten
      steps on graphs as dense as those of similarities, and is faster.

    Raises InputError for invalid shapes or values, ConfigurationError for invalid settings.

    >>> edge = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> pagerank_dense(edge, np.array([1.0, 0.0]), damping=0.5).round(4).tolist()
    [0.6667, 0.3333]
    """
    check_damping("damping", damping)
    if method not in ("solve", "power"):
        raise ConfigurationError(f"method must be 'solve' or 'power', got {method!r}")
    if not tol > 0:
        raise ConfigurationError(f"tol must be positive, got {tol}")
    size = seeds.size
    if weights.shape != (size, size) or seeds.ndim != 1:
        raise InputError(
            f"weights must be n x n and seeds (n,), got shapes {weights.shape} and {seeds.shape}"
        )
    if size == 0:
        return np.zeros(0)
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    start = np.array(seeds, dtype=np.float64)
    step = np.empty((size, size))
    if not _prepare(weights, start, step):
        raise InputError("weights and seeds must be finite and not negative")
    return _solve(step, start, damping) if method == "solve" else _iterate(step, start, damping, tol)


@compiled
def _prepare(weights: Floats, start: Floats, step: Floats) -> bool:
    """Normalise ``start`` in place and fill ``step`` with the transition matrix P: the rows of ``weights`` normalised
    to 1, and the seeds for nodes without edges. Return False when a value is negative or not finite.
    """
    size = start.size
    degrees = np.zeros(size)
    negative = False
    for node in range(size):
        for weight in weights[node]:
            degrees[node] += weight
            negative |= weight < 0
    for seed in start:
        negative |= seed < 0
    total = start.sum()
    if negative or not np.isfinite(total) or not np.isfinite(degrees.sum()):
        return False
    start[:] = start / total if total > 0 else np.ones(size) / size
    for node in range(size):
        step[node] = weights[node] / degrees[node] if degrees[node] > 0 else start
    return True


@compiled
def _solve(step: Floats, start: Floats, damping: float) -> Floats:
    """Return (I - d P^T)^-1 s, normalised to sum 1."""
    size = start.size
    # Gaussian elimination. I - d P^T is diagonally dominant by columns, so no pivoting is needed.
    system = np.ascontiguousarray(-damping * step.T)
    for node in range(size):
        system[node, node] += 1
    solution = start.copy()
    for pivot in range(size):
        for row in range(pivot + 1, size):
            factor = system[row, pivot] / system[pivot, pivot]
            for column in range(pivot + 1, size):
                system[row, column] -= factor * system[pivot, column]
            solution[row] -= factor * solution[pivot]
    for pivot in range(size - 1, -1, -1):
        solution[pivot] /= system[pivot, pivot]
        for row in range(pivot):
            solution[row] -= system[row, pivot] * solution[pivot]
    solution = np.maximum(solution, 0.0)  # rounding may leave -1e-18
    ranks: Floats = solution / solution.sum()
    return ranks


@compiled
def _iterate(step: Floats, start: Floats, damping: float, tol: float) -> Floats:
    """Iterate p <- (1 - d) s + d P^T p. The remaining L1 error is at most d / (1 - d) times the last change."""
    fresh = (1 - damping) * start
    damped = damping * step
    ranks = start
    change = np.inf
    while change * damping > tol * (1 - damping):
        update = fresh.copy()
        for node in range(start.size):
            for other in range(start.size):
                update[other] += ranks[node] * damped[node, other]
        change = np.abs(update - ranks).sum()
        ranks = update
    return ranks
