"""Types of numeric arrays, and what is computed of them everywhere: dot products of many rows with one vector,
reproducible to the last bit, and ranges of consecutive places."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.native.loops import loops

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Integers = NDArray[np.int64]


def dots(
    rows: NDArray[Any], vector: NDArray[Any], places: Integers | None = None, limit: float = math.inf
) -> Floats:
    """Compute the dot product of each row (n, d) with a vector (d,) in double precision. With ``places`` (p,) only for
    the rows with these numbers, NaN for -1. Products are clipped to ``limit`` from 0, such as 1 for cosines. Raises
    IndexError for a row that does not exist, and ValueError unless rows, if any, are as long as the vector.

    A result depends only on its row and the vector. BLAS (``@``, ``np.vecdot``) does not guarantee that: the order of
    its additions may depend on the number of rows and threads and on memory alignment. Its threads also spend
    milliseconds on synchronisation, to save microseconds of these products.

    >>> dots(np.array([[1, 2], [3, 4]]), np.array([10.0, 1.0])).tolist()
    [12.0, 34.0]
    """
    if len(rows) and rows.shape[1:] != vector.shape:
        raise ValueError(f"expected rows (n, d) and a vector (d,), got {rows.shape} and {vector.shape}")
    if places is None:
        places = np.arange(len(rows))
    products = np.empty(len(places))
    add, kind = (
        (loops.dots_of_singles, np.float32)
        if rows.dtype == np.float32
        else (loops.dots_of_doubles, np.float64)
    )
    numbers, vector = np.ascontiguousarray(rows, kind), np.ascontiguousarray(vector, np.float64)
    if not numbers.flags.aligned:
        numbers = numbers.copy()
    if not add(numbers, np.ascontiguousarray(places, np.int64), vector, limit, products):
        raise IndexError(f"places must be rows 0..{len(rows) - 1} or -1, got {places.min()}..{places.max()}")
    return products


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
    if len(starts) != len(lengths):
        raise ValueError("starts and lengths must be equally many")
    of = np.arange(len(lengths)).repeat(lengths)
    ends = lengths.cumsum()
    places = np.arange(len(of))
    places += (starts - ends + lengths).take(of)
    return of, places


def product(rows: NDArray[Any], matrix: NDArray[Any]) -> Floats:
    """Return ``rows`` (n, k) times ``matrix`` (k, m) as (n, m) in double precision.

    A row of the result depends only on that row and the matrix, for the reasons given in :func:`dots`. At the sizes of a
    search (a few hundred rows and columns) this is about as fast as a single-threaded BLAS.
    """
    out = np.zeros((rows.shape[0], matrix.shape[1]))
    loops.add_product(np.ascontiguousarray(rows, np.float64), np.ascontiguousarray(matrix, np.float64), out)
    return out
