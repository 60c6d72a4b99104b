"""All vectors of a store as one mapped matrix, a row a distinct text, and exact search in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.common.dots import dots
from trivium.graph.arrays import Rows, load_array, save_array
from trivium.graph.embedded.connection import Connection
from trivium.graph.embedded.files import link_or_copy
from trivium.graph.records import Floats, Vectors

_BLOCK = 8192
_SLACK = 1e-5
"""More than single precision can be off in the cosine of two unit vectors."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """``values`` (n x d, f32) are the vectors, ``ids`` (n,) their ascending numbers in the database."""

    values: Vectors
    ids: Rows

    def cosines(self, rows: Rows, vector: Vectors) -> Floats:
        """Cosines of a unit vector with rows (n,), NaN for row -1. Summed in double precision, so that a
        cosine does not depend on what else is asked for."""
        scores = np.full(len(rows), np.nan)
        known = np.flatnonzero(rows >= 0)
        for begin in range(0, len(known), _BLOCK):
            some = known[begin : begin + _BLOCK]
            scores[some] = dots(self.values[rows[some]], vector)
        return np.clip(scores, -1.0, 1.0, out=scores)

    def gather(self, rows: Rows) -> Vectors:
        """Vectors (n x d), NaN for row -1."""
        gathered = np.full((len(rows), self.values.shape[1]), np.nan, dtype=np.float32)
        known = rows >= 0
        gathered[known] = self.values[rows[known]]
        return gathered


def promising(values: Vectors, rows: Rows | None, vector: Vectors, k: int) -> Rows:
    """Places of every row that may be among the k of highest cosine, and few others.

    ``rows`` picks rows of ``values`` (all when None); the answer counts within that pick, which is fastest
    when it ascends. Single precision decides who is far off; who is close is for the caller to order in
    double precision.
    """
    count = len(values) if rows is None else len(rows)
    scores = np.empty(count, dtype=np.float32)
    for begin in range(0, count, _BLOCK):
        some = slice(begin, begin + _BLOCK)
        scores[some] = _products(values[some] if rows is None else _pick(values, rows[some]), vector)
    if k >= count:
        return np.arange(count)
    least = np.partition(scores, count - k)[count - k]
    return np.flatnonzero(scores >= least - _SLACK)


def _products(matrix: NDArray[Any], vector: NDArray[Any]) -> NDArray[Any]:
    """Matrix times vector, fast and roughly: see :func:`trivium.common.dots.dots` for the exact one. Not by ``@``: the
    threads of a BLAS wait for each other, for 10 ms and more on a busy machine, to save a fraction of one."""
    products: NDArray[Any] = np.vecdot(matrix, vector)
    return products


def _pick(values: Vectors, rows: Rows) -> Vectors:
    """Rows of a matrix; without a copy where they follow one another."""
    first, last = int(rows[0]), int(rows[-1])
    if last - first + 1 == len(rows) and np.all(np.diff(rows) == 1):
        return values[first : last + 1]
    return values[rows]


def build_matrix(connection: Connection, folder: Path, previous: Path | None, dimension: int) -> Rows:
    """Write the matrix of the committed vectors and return their numbers by row.

    A vector never changes under its number and numbers only grow, so those of the previous generation are
    copied and only new ones are read from the database.
    """
    ids = np.fromiter((row[0] for row in connection.execute("SELECT id FROM vector")), dtype=np.int64)
    ids.sort()
    save_array(folder, "matrix.ids", ids)
    old = None if previous is None else load_matrix(previous)
    if old is not None and old.values.shape[1] != dimension:
        old = None  # of an embedder that left before it filled anything
    if old is not None and previous is not None and np.array_equal(old.ids, ids):
        link_or_copy(previous / "matrix.npy", folder / "matrix.npy")
        return ids
    shape = (len(ids), dimension)
    if len(ids) == 0:
        save_array(folder, "matrix", np.empty(shape, dtype=np.float32))
        return ids
    values = np.lib.format.open_memmap(folder / "matrix.npy", mode="w+", dtype=np.float32, shape=shape)
    filled = 0
    if old is not None:
        kept = np.flatnonzero(np.isin(old.ids, ids, assume_unique=True))
        for begin in range(0, len(kept), _BLOCK):
            some = kept[begin : begin + _BLOCK]
            values[begin : begin + len(some)] = old.values[some]
        filled = len(kept)
    after = int(ids[filled - 1]) if filled else 0
    cursor = connection.execute("SELECT data FROM vector WHERE id > ? ORDER BY id", [after])
    while rows := cursor.fetchmany(_BLOCK):
        block = np.frombuffer(b"".join(row[0] for row in rows), dtype="<f4").reshape(len(rows), dimension)
        values[filled : filled + len(rows)] = block
        filled += len(rows)
    values.flush()
    return ids


def load_matrix(folder: Path) -> Matrix:
    """Map what :func:`build_matrix` wrote."""
    return Matrix(load_array(folder, "matrix"), load_array(folder, "matrix.ids"))
