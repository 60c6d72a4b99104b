"""Personalised PageRank on a small dense graph.

The stationary distribution of a walker who follows an edge with probability ``damping`` (in proportion to its weight)
and otherwise restarts at a seed: ``p = (1 - d) s + d P^T p``. From a node without edges the walker restarts at a seed
as well, the default of NetworkX. Source: Page et al., *The PageRank Citation Ranking* (1999). Implemented as loops,
so that the order of every sum is fixed and independent of a library's threads; see :mod:`trivium.common.arrays`.
"""

from __future__ import annotations

import numpy as np

from trivium.common.arrays import Floats
from trivium.errors import ConfigurationError, InputError
from trivium.native.loops import loops
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
    if not loops.transitions(weights, start, step):
        raise InputError("weights and seeds must be finite and not negative")
    if method == "solve":
        return _solve(step, start, damping)
    loops.iterate(step, start, damping, tol)
    return start


def _solve(step: Floats, start: Floats, damping: float) -> Floats:
    """Return (I - d P^T)^-1 s, normalised to sum 1."""
    size = start.size
    # Gaussian elimination. I - d P^T is diagonally dominant by columns, so no pivoting is needed.
    system = np.eye(size) - damping * step.T
    for pivot in range(size):
        factors = system[pivot + 1 :, pivot] / system[pivot, pivot]
        system[pivot + 1 :, pivot + 1 :] -= factors[:, None] * system[pivot, pivot + 1 :]
        start[pivot + 1 :] -= factors * start[pivot]
    for pivot in range(size - 1, -1, -1):
        start[pivot] /= system[pivot, pivot]
        start[:pivot] -= system[:pivot, pivot] * start[pivot]
    solution = np.maximum(start, 0.0)  # rounding may leave -1e-18
    ranks: Floats = solution / solution.sum()
    return ranks
