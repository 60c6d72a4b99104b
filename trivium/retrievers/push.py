"""Forward push: personalised PageRank on a large sparse graph that visits only the nodes that matter.

Every node has a *mass* (settled) and a *residual* (in transit). Pushing a node settles ``1 - damping`` of its
residual and spreads the rest evenly over its neighbours. Nodes are pushed in FIFO order while their residual exceeds
``eps`` times their degree. Source: Andersen, Chung and Lang, *Local Graph Partitioning using PageRank Vectors*
(2006).

The error is bounded: on a symmetric graph (``own_page_weight`` 1), ``0 <= exact - mass <= eps * degree`` for every
node. So is the work: at most ``1 / (eps (1 - damping))`` edge visits, independent of the size of the graph.
"""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats, Integers
from trivium.common.compiled import compiled
from trivium.errors import ConfigurationError, InputError
from trivium.retrievers.base import check_damping


def push(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    seeds_idx: NDArray[np.int64],
    seeds_mass: Floats,
    damping: float = 0.5,
    eps: float = 1e-6,
    own_chunks: NDArray[np.int64] | None = None,
    own_page_weight: float = 1.0,
) -> Floats:
    """Return the mass (n,) of every node, 0 for nodes that :func:`settled` does not return."""
    nodes, masses = settled(indptr, indices, seeds_idx, seeds_mass, damping, eps, own_chunks, own_page_weight)
    mass = np.zeros(indptr.size - 1)
    mass[nodes] = masses
    return mass


def settled(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    seeds_idx: NDArray[np.int64],
    seeds_mass: Floats,
    damping: float = 0.5,
    eps: float = 1e-6,
    own_chunks: NDArray[np.int64] | None = None,
    own_page_weight: float = 1.0,
) -> tuple[Integers, Floats]:
    """Return the nodes (s,) with positive stationary mass, ascending, and their masses (s,), which sum to at most 1.

    ``indptr`` and ``indices`` are the graph in CSR form. ``seeds_idx`` (distinct nodes) and ``seeds_mass`` (positive,
    sum 1) say where the walker starts. It returns there with probability ``1 - damping``, 0 <= damping < 1, and
    always from a node without neighbours. For node i, a step to a neighbour in the range ``own_chunks[i]`` (n, 2:
    first node, end exclusive) is ``own_page_weight`` times as likely as any other step.

    Results are bitwise reproducible: the queue starts in the order of the seeds. Raises InputError for seeds that are
    not distinct nodes, ConfigurationError for invalid settings.
    """
    check_damping("damping", damping)
    if not 0 < own_page_weight < float("inf"):
        raise ConfigurationError(f"own_page_weight must be positive and finite, got {own_page_weight}")
    if not eps > 0:
        raise ConfigurationError(f"eps must be positive, got {eps}")
    size = indptr.size - 1
    if seeds_idx.shape != seeds_mass.shape or seeds_idx.ndim != 1:
        raise InputError(
            f"seeds_idx and seeds_mass must both be (s,), got {seeds_idx.shape} and {seeds_mass.shape}"
        )
    if seeds_idx.size and (seeds_idx.min() < 0 or seeds_idx.max() >= size):
        raise InputError(f"seeds must be nodes 0..{size - 1}, got {seeds_idx.min()}..{seeds_idx.max()}")
    if len(set(seeds_idx.tolist())) != seeds_idx.size:
        raise InputError("seeds must be distinct nodes")
    if own_chunks is None:
        own_chunks = np.zeros((size, 2), dtype=np.int64)
    if own_chunks.shape != (size, 2):
        raise InputError(f"own_chunks must be (n, 2) for {size} nodes, got {own_chunks.shape}")
    seeds = np.asarray(seeds_idx, dtype=np.int64)
    masses = np.asarray(seeds_mass, dtype=np.float64)
    scratch = _SCRATCH.of(indptr)
    nodes, mass, lost = _push(
        indptr, indices, own_chunks, seeds, masses, *scratch, damping, eps, own_page_weight
    )
    order = np.argsort(nodes)
    if lost > 0:  # as in pagerank_dense: restarting from dead ends equals scaling up what does not leak
        mass /= 1 - lost
    return nodes[order], mass[order]


_Arrays = tuple[Floats, NDArray[np.int32], NDArray[np.int32]]
_RESIDUAL, _MASS, _WAITS, _DEGREE = range(4)
"""Columns of a node's state. They share one 32-byte row, so that visiting a neighbour costs one cache miss."""
_LINE = 64
"""Size of a cache line in bytes."""


class _Scratch(threading.local):
    """Per-thread arrays of the size of the graph. A walk touches few entries and resets them to zero afterwards."""

    def __init__(self) -> None:
        self._graph: NDArray[np.int64] | None = None
        self._arrays: _Arrays

    def of(self, indptr: NDArray[np.int64]) -> _Arrays:
        """Return the nodes' rows (n, 4), the queue, and the list of touched nodes."""
        if self._graph is not indptr:
            self._arrays = self._new(indptr)
            self._graph = indptr
        return self._arrays

    @staticmethod
    def _new(indptr: NDArray[np.int64]) -> _Arrays:
        size = indptr.size - 1
        numbers = np.zeros(4 * size + _LINE // 8)
        begin = -numbers.ctypes.data % _LINE // 8  # align rows so that none spans two cache lines
        nodes = numbers[begin : begin + 4 * size].reshape(size, 4)
        nodes[:, _DEGREE] = np.diff(indptr)
        return nodes, np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)


_SCRATCH = _Scratch()


@compiled
def _push(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    own_chunks: NDArray[np.int64],
    seeds: NDArray[np.int64],
    seeds_mass: Floats,
    nodes: Floats,
    queue: NDArray[np.int32],
    touched: NDArray[np.int32],
    damping: float,
    eps: float,
    own_page_weight: float,
) -> tuple[Integers, Floats, float]:
    """Return the nodes with mass in the order they were reached, their masses, and the mass lost at nodes without
    neighbours. All columns of ``nodes`` except the degrees are zero before and after the call.
    """
    size = len(nodes)
    head = 0  # the queue is a ring buffer: a node is in it at most once
    count = 0
    known = 0
    for place in range(len(seeds)):
        if seeds_mass[place] > 0:
            nodes[seeds[place], _RESIDUAL] = seeds_mass[place]
            touched[known] = seeds[place]
            known += 1
    for node in seeds:
        if nodes[node, _RESIDUAL] > eps * nodes[node, _DEGREE]:
            queue[count] = node
            nodes[node, _WAITS] = 1.0
            count += 1
    lost = 0.0
    while count > 0:
        node = queue[head]
        head = head + 1 if head + 1 < size else 0
        count -= 1
        nodes[node, _WAITS] = 0.0
        first = indptr[node]
        last = indptr[node + 1]
        amount = nodes[node, _RESIDUAL]
        nodes[node, _RESIDUAL] = 0.0
        nodes[node, _MASS] += (1 - damping) * amount
        if first == last:
            lost += damping * amount
            continue
        start = own_chunks[node, 0]
        end = own_chunks[node, 1]
        weight = float(last - first)
        if end > start:
            for position in range(first, last):
                if start <= indices[position] < end:
                    weight += own_page_weight - 1
        share = damping * amount / weight
        if share == 0:
            continue
        for position in range(first, last):
            neighbour = indices[position]
            if nodes[neighbour, _RESIDUAL] == 0 and nodes[neighbour, _MASS] == 0:
                touched[known] = neighbour
                known += 1
            nodes[neighbour, _RESIDUAL] += share * own_page_weight if start <= neighbour < end else share
            if (
                nodes[neighbour, _WAITS] == 0
                and nodes[neighbour, _RESIDUAL] > eps * nodes[neighbour, _DEGREE]
            ):
                tail = head + count
                queue[tail if tail < size else tail - size] = neighbour
                nodes[neighbour, _WAITS] = 1.0
                count += 1
    some = 0
    for place in range(known):
        if nodes[touched[place], _MASS] > 0:
            some += 1
    settled_at, masses = np.empty(some, dtype=np.int64), np.empty(some)
    some = 0
    for place in range(known):
        node = touched[place]
        if nodes[node, _MASS] > 0:
            settled_at[some] = node
            masses[some] = nodes[node, _MASS]
            some += 1
        nodes[node, _MASS] = 0.0
        nodes[node, _RESIDUAL] = 0.0
    return settled_at, masses, lost
