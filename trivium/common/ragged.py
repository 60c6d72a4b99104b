"""Ranges of neighbouring places (ragged arrays)."""

from __future__ import annotations

import numpy as np

from trivium.common.arrays import Integers


def ranges_by_owner(owners: Integers, count: int) -> Integers:
    """Where the entries of each owner (count x 2: the first, and the one after the last) are, of entries that stand
    together by owner; 0 and 0 for an owner without any. Entries of owner -1 are nobody's.

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
    """What :attr:`trivium.graph.records.Adjacency.own_chunks` holds (nodes x 2), from the entity that is each chunk's
    page (chunks,), -1 where there is none, and the number of entities.

    >>> own_chunk_ranges(np.array([1, 1]), 2).tolist()
    [[0, 0], [0, 0], [0, 0], [0, 2]]
    """
    chunks = len(pages)
    return ranges_by_owner(np.where(pages < 0, -1, chunks + pages), chunks + entities)


def expand_ranges(starts: Integers, lengths: Integers) -> tuple[Integers, Integers]:
    """One after another the places of ranges that begin at ``starts`` and go up by one: which range each is of, and
    the places.

    >>> of, places = expand_ranges(np.array([5, 0]), np.array([2, 3]))
    >>> of.tolist(), places.tolist()
    ([0, 0, 1, 1, 1], [5, 6, 0, 1, 2])
    """
    of = np.repeat(np.arange(len(starts)), lengths)
    before = np.cumsum(lengths) - lengths
    return of, np.arange(len(of)) + (starts - before)[of]
