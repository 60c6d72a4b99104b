"""Forward push: personalised PageRank on a large sparse graph, touching only what matters.

Every node has a *mass* (settled) and a *residual* (on its way). To push a node settles ``1 - damping`` of its
residual there and spreads the rest evenly over its neighbours. Nodes are pushed first in, first out, while
their residual exceeds ``eps`` times their degree. Source: Andersen, Chung and Lang, *Local Graph Partitioning
using PageRank Vectors* (2006).

What is left undone is bounded: on a symmetric graph (``own_page_weight`` 1) ``0 <= exact - mass <= eps * degree``
for every node,
and the work by ``1 / (eps (1 - damping))`` edge visits whatever the size of the graph.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats
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
    """Stationary mass (n,) of every node of the CSR graph, at least 0, at most 1 in sum.

    ``seeds_idx`` (distinct nodes) and ``seeds_mass`` (positive, summing to 1) say where the walker starts and
    returns to with probability ``1 - damping``, 0 <= damping < 1; from a node without neighbours always.
    A step from node i to a node of the range ``own_chunks[i]`` (n x 2: its first node, and the one after the last),
    as far
    as they are neighbours, is ``own_page_weight`` times as likely as any other of its steps.
    The same arguments give the same bits: the queue starts in the order of the seeds.
    Raises InputError for seeds that are not distinct nodes, ConfigurationError for settings that do not fit.
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
    if np.unique(seeds_idx).size != seeds_idx.size:
        raise InputError("seeds must be distinct nodes")
    if own_chunks is None:
        own_chunks = np.zeros((size, 2), dtype=np.int64)
    if own_chunks.shape != (size, 2):
        raise InputError(f"own_chunks must be (n, 2) for {size} nodes, got {own_chunks.shape}")
    # numpy takes these from zero pages of the system: only what the walk touches is ever written.
    mass = np.zeros(size)
    residual = np.zeros(size)
    residual[seeds_idx] = seeds_mass
    seeds = np.asarray(seeds_idx, dtype=np.int64)
    lost = _push(indptr, indices, own_chunks, seeds, mass, residual, damping, eps, own_page_weight)
    if lost > 0:  # see pagerank_dense: returning from dead ends = scaling what does not leak
        mass /= 1 - lost
    return mass


@compiled
def _push(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    own_chunks: NDArray[np.int64],
    seeds: NDArray[np.int64],
    mass: Floats,
    residual: Floats,
    damping: float,
    eps: float,
    own_page_weight: float,
) -> float:
    """Fills ``mass``; answers how much was lost at nodes without neighbours."""
    size = mass.size
    queue = np.empty(size, dtype=np.int32)  # a ring: a node waits in it at most once
    waiting = np.zeros(size, dtype=np.bool_)
    head = 0
    count = 0
    for node in seeds:
        if residual[node] > eps * (indptr[node + 1] - indptr[node]):
            queue[count] = node
            waiting[node] = True
            count += 1
    lost = 0.0
    while count > 0:
        node = queue[head]
        head = head + 1 if head + 1 < size else 0
        count -= 1
        waiting[node] = False
        first = indptr[node]
        last = indptr[node + 1]
        amount = residual[node]
        residual[node] = 0.0
        mass[node] += (1 - damping) * amount
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
        for position in range(first, last):
            neighbour = indices[position]
            residual[neighbour] += share * own_page_weight if start <= neighbour < end else share
            if not waiting[neighbour] and residual[neighbour] > eps * (
                indptr[neighbour + 1] - indptr[neighbour]
            ):
                tail = head + count
                queue[tail if tail < size else tail - size] = neighbour
                waiting[neighbour] = True
                count += 1
    return lost
