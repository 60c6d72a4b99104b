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
from trivium.common.prefetch import prefetch
from trivium.errors import ConfigurationError, InputError
from trivium.retrievers.query import check_damping


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
    seeds = np.asarray(seeds_idx, dtype=np.int64)
    if not _are_distinct_nodes(seeds, size):
        if seeds.min() < 0 or seeds.max() >= size:
            raise InputError(f"seeds must be nodes 0..{size - 1}, got {seeds.min()}..{seeds.max()}")
        raise InputError("seeds must be distinct nodes")
    if own_chunks is None:
        own_chunks = np.zeros((size, 2), dtype=np.int64)
    if own_chunks.shape != (size, 2):
        raise InputError(f"own_chunks must be (n, 2) for {size} nodes, got {own_chunks.shape}")
    masses = np.asarray(seeds_mass, dtype=np.float64)
    scratch = _SCRATCH.of(size)
    nodes, mass, lost = _push(
        indptr, indices, own_chunks, seeds, masses, *scratch, damping, eps, own_page_weight
    )
    order = np.argsort(nodes)
    if lost > 0:  # as in pagerank_dense: restarting from dead ends equals scaling up what does not leak
        mass /= 1 - lost
    return nodes[order], mass[order]


_Arrays = tuple[Floats, NDArray[np.int32], NDArray[np.int32]]
_RESIDUAL, _MASS = range(2)
"""Columns of a node's state. They share one row, so that visiting a neighbour costs one cache miss."""


class _Scratch(threading.local):
    """Per-thread arrays for graphs of up to ``size`` nodes. A walk touches few entries and resets them to zero
    afterwards, so a changed graph needs new ones only if it has become larger.
    """

    def __init__(self) -> None:
        self._size = -1
        self._arrays: _Arrays

    def of(self, size: int) -> _Arrays:
        """Return the nodes' rows (n, 2), the queue, and the list of touched nodes. These two have room for one entry
        more than nodes, since entries are written before it is known whether they count.
        """
        if size > self._size:
            room = size + size // _SPARE
            queue, touched = np.empty(room + 1, dtype=np.int32), np.empty(room + 1, dtype=np.int32)
            self._arrays = np.zeros((room, 2)), queue, touched
            self._size = room
        return self._arrays


_SPARE = 16
"""The arrays have room for one node more in this many, for documents that are added."""
_SCRATCH = _Scratch()
_FAR, _NEAR, _SOON = 8, 5, 2
"""How many nodes further back in the queue their own rows, their lists of neighbours, and the rows of these neighbours
are fetched in advance. Each needs what the one before has fetched.
"""
_MOST_FETCHED = 16
"""At most so many neighbours are fetched in advance: caches hold few lists of popular nodes."""


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
    neighbours. ``nodes`` is zero before and after the call.

    A node waits in the queue exactly when its residual exceeds its limit. Whether a neighbour is new, or has to wait
    from now on, is added up instead of branched on: both are as good as random, and half of the time would go into
    wrong guesses of the processor. The rest of the time it waits for memory, so nodes further back in the queue are
    fetched in advance.
    """
    size = len(queue)
    head = 0  # the queue is a ring buffer: a node is in it at most once
    count = 0
    known = 0
    for place in range(len(seeds)):
        node = seeds[place]
        if seeds_mass[place] > 0:
            nodes[node, _RESIDUAL] = seeds_mass[place]
            touched[known] = node
            known += 1
        if seeds_mass[place] > eps * (indptr[node + 1] - indptr[node]):
            queue[count] = node
            count += 1
    lost = 0.0
    while count > 0:
        node = queue[head]
        head = head + 1 if head + 1 < size else 0
        count -= 1
        if count > _FAR and head + _FAR < size:
            far, near, soon = queue[head + _FAR], queue[head + _NEAR], queue[head + _SOON]
            prefetch(indptr, far)
            prefetch(own_chunks, far)
            prefetch(indices, indptr[near])
            first = indptr[soon]
            for position in range(first, min(first + _MOST_FETCHED, indptr[soon + 1])):
                prefetch(nodes, indices[position])
                prefetch(indptr, indices[position])
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
        tail = head + count if head + count < size else head + count - size
        for position in range(first, last):
            neighbour = indices[position]
            before = nodes[neighbour, _RESIDUAL]
            own = (start <= neighbour) & (neighbour < end)
            after = before + (share * own_page_weight if own else share)
            nodes[neighbour, _RESIDUAL] = after
            touched[known] = neighbour
            known += int((before == 0) & (nodes[neighbour, _MASS] == 0))
            limit = eps * (indptr[neighbour + 1] - indptr[neighbour])
            queue[tail] = neighbour
            waits = int((before <= limit) & (after > limit))
            count += waits
            tail += waits
            tail = tail if tail < size else 0
    some = 0
    for place in range(known):
        some += int(nodes[touched[place], _MASS] > 0)
    settled_at, masses = np.empty(some + 1, dtype=np.int64), np.empty(some + 1)
    some = 0
    for place in range(known):
        node = touched[place]
        settled_at[some] = node
        masses[some] = nodes[node, _MASS]
        some += int(nodes[node, _MASS] > 0)
        nodes[node, _MASS] = 0.0
        nodes[node, _RESIDUAL] = 0.0
    return settled_at[:some], masses[:some], lost


@compiled
def _are_distinct_nodes(seeds: Integers, size: int) -> bool:
    ordered = np.sort(seeds)
    for place in range(len(ordered)):
        if ordered[place] < 0 or ordered[place] >= size or (place and ordered[place] == ordered[place - 1]):
            return False
    return True


@compiled
def masses_at(nodes: Integers, masses: Floats, rows: Integers) -> Floats:
    """Return the masses (n,) of the nodes ``rows`` (n,): 0 for nodes that are not in ``nodes`` (m,), which are in
    ascending order and have ``masses`` (m,), and NaN for row -1.
    """
    found = np.empty(len(rows))
    for number in range(len(rows)):
        row = rows[number]
        place = np.searchsorted(nodes, row)
        if row < 0:
            found[number] = np.nan
        else:
            found[number] = masses[place] if place < len(nodes) and nodes[place] == row else 0.0
    return found
