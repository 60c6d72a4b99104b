"""Ragged arrays: ranges of consecutive places."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Integers


def ranges_by_owner(owners: NDArray[np.integer[Any]], count: int) -> Integers:
    """Return the range of entries of each owner (count x 2: first, and one after the last). Entries must be grouped by
    owner; owners without entries get 0 and 0, and entries of owner -1 are ignored.

    >>> ranges_by_owner(np.array([2, 2, -1, 0]), 3).tolist()
    [[3, 4], [0, 0], [0, 2]]
    """
    found = np.zeros((count, 2), dtype=np.int64)
    if len(owners):
        starts = np.concatenate([[0], np.flatnonzero(np.diff(owners)) + 1])
        ends = np.append(starts[1:], len(owners))
        owned = owners[starts] >= 0
        found[owners[starts[owned]]] = np.stack([starts[owned], ends[owned]], axis=1)
    return found


def own_chunk_ranges(pages: Integers, entities: int) -> Integers:
    """Compute :attr:`trivium.graph.records.Adjacency.own_chunks` (nodes x 2) from the entity of each chunk's page
    (chunks,), -1 if there is none, and the number of entities.

    >>> own_chunk_ranges(np.array([1, 1]), 2).tolist()
    [[0, 0], [0, 0], [0, 0], [0, 2]]
    """
    chunks = len(pages)
    return ranges_by_owner(np.where(pages < 0, -1, chunks + pages), chunks + entities)


def expand_ranges(starts: Integers, lengths: Integers) -> tuple[Integers, Integers]:
    """Expand ranges of consecutive places, given by their starts (n,) and lengths (n,): return the index of the range
    (p,) and the place (p,), for all p places of all ranges. Raises ValueError for a length below 0, and unless there
    are as many starts as lengths.

    >>> of, places = expand_ranges(np.array([5, 0]), np.array([2, 3]))
    >>> of.tolist(), places.tolist()
    ([0, 0, 1, 1, 1], [5, 6, 0, 1, 2])
    """
    from trivium.common.ragged_loops import expand  # loads numba, see trivium.common.compiled

    return expand(starts, lengths)
