"""Personalised PageRank: of a small dense graph, and by forward push of a large sparse one, of which it visits only the
nodes that matter."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats, Integers
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


def settled(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    seeds_idx: NDArray[np.int64],
    seeds_mass: Floats,
    damping: float = 0.5,
    eps: float = 1e-6,
    own_chunks: NDArray[np.int64] | None = None,
    own_page_weight: float = 1.0,
    names: int | None = None,
    name_weight: float = 1.0,
) -> tuple[Integers, Floats]:
    """Return the nodes (s,) with positive stationary mass, ascending, and their masses (s,), which sum to at most 1.

    ``indptr`` and ``indices`` are the graph in CSR form. ``seeds_idx`` (distinct nodes) and ``seeds_mass`` (positive,
    sum 1) say where the walker starts. It returns there with probability ``1 - damping``, 0 <= damping < 1, and
    always from a node without neighbours. For node i, a step to a neighbour in the range ``own_chunks[i]`` (n, 2:
    first node, end exclusive) is ``own_page_weight`` times as likely as any other step.

    ``names`` is None, or the number of nodes that are chunks. Then a step from a chunk to an entity without
    ``own_chunks`` is ``name_weight / sqrt(d)`` times as likely as one to another entity, with d the number of its
    neighbours, so that names that many passages have do not join all of them.

    Results are bitwise reproducible: the queue starts in the order of the seeds. Raises InputError for seeds that are
    not distinct nodes, ConfigurationError for invalid settings.
    """
    check_damping("damping", damping)
    for weight, value in (("own_page_weight", own_page_weight), ("name_weight", name_weight)):
        if not 0 < value < float("inf"):
            raise ConfigurationError(f"{weight} must be positive and finite, got {value}")
    if not eps > 0:
        raise ConfigurationError(f"eps must be positive, got {eps}")
    size = indptr.size - 1
    if seeds_idx.shape != seeds_mass.shape or seeds_idx.ndim != 1:
        raise InputError(
            f"seeds_idx and seeds_mass must both be (s,), got {seeds_idx.shape} and {seeds_mass.shape}"
        )
    seeds = np.ascontiguousarray(seeds_idx, dtype=np.int64)
    if not _are_distinct_nodes(seeds, size):
        if seeds.min() < 0 or seeds.max() >= size:
            raise InputError(f"seeds must be nodes 0..{size - 1}, got {seeds.min()}..{seeds.max()}")
        raise InputError("seeds must be distinct nodes")
    if own_chunks is None:
        own_chunks = np.zeros((size, 2), dtype=np.int64)
    if own_chunks.shape != (size, 2):
        raise InputError(f"own_chunks must be (n, 2) for {size} nodes, got {own_chunks.shape}")
    masses = np.ascontiguousarray(seeds_mass, dtype=np.float64)
    kinds = (indptr, np.int64), (indices, np.int32), (own_chunks, np.int64)
    graph = (np.ascontiguousarray(array, kind) for array, kind in kinds)
    scratch, lost = _SCRATCH.of(size), np.zeros(1)
    chunks = size if names is None else names
    count = loops.push(
        *graph, seeds, masses, *scratch, lost, chunks, damping, eps, own_page_weight, name_weight
    )
    _, _, reached, found = scratch
    order = np.argsort(reached[:count])
    nodes, mass = reached[order].astype(np.int64), found[order]
    if lost[0] > 0:  # as in pagerank_dense: restarting from dead ends equals scaling up what does not leak
        mass /= 1 - lost[0]
    return nodes, mass


_Arrays = tuple[Floats, NDArray[np.int32], NDArray[np.int32], Floats]


class _Scratch(threading.local):
    """Per-thread arrays for graphs of up to ``size`` nodes. A walk touches few entries and resets them to zero
    afterwards, so a changed graph needs new ones only if it has become larger.
    """

    def __init__(self) -> None:
        self._size = -1
        self._arrays: _Arrays

    def of(self, size: int) -> _Arrays:
        """Return the nodes' residuals and masses (n, 2), which share a row, so that visiting a neighbour costs one cache
        miss, the queue, and the nodes that were reached with their masses. These three have room for one entry more
        than nodes, since entries are written before it is known whether they count.
        """
        if size > self._size:
            room = size + size // _SPARE
            queue, reached = np.empty(room + 1, dtype=np.int32), np.empty(room + 1, dtype=np.int32)
            self._arrays = np.zeros((room, 2)), queue, reached, np.empty(room + 1)
            self._size = room
        return self._arrays


_SPARE = 16
"""The arrays have room for one node more in this many, for documents that are added."""
_SCRATCH = _Scratch()


def _are_distinct_nodes(seeds: Integers, size: int) -> bool:
    ordered = np.sort(seeds)
    if not len(ordered):
        return True
    return bool(ordered[0] >= 0 and ordered[-1] < size and (ordered[1:] > ordered[:-1]).all())


def masses_at(nodes: Integers, masses: Floats, rows: Integers) -> Floats:
    """Return the masses (n,) of the nodes ``rows`` (n,): 0 for nodes that are not in ``nodes`` (m,), which are in
    ascending order and have ``masses`` (m,), and NaN for row -1.
    """
    found = np.where(rows < 0, np.nan, 0.0)
    if len(nodes):
        places = nodes.searchsorted(rows)
        np.minimum(places, len(nodes) - 1, out=places)
        there = nodes[places] == rows
        found[there] = masses[places[there]]
    return found
