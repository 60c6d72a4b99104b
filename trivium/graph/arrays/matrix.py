"""All vectors as one matrix, which is a file mapped into memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.common.dots import dots
from trivium.graph.arrays.columns import Rows, Stacked, find_sorted, load_array, new_array, save_array
from trivium.graph.arrays.files import link_or_copy
from trivium.graph.arrays.rows import RowSource
from trivium.graph.records import Floats, Vectors

_BLOCK = 8192
_SLACK = 1e-5
"""Upper bound of the single-precision error in the cosine of two unit vectors."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """All vectors: ``vectors`` (n, d) in single precision, and their numbers ``ids`` (n,), ascending."""

    vectors: Stacked
    ids: Rows

    @property
    def dimension(self) -> int:
        """Dimension of the vectors."""
        return int(self.vectors.upper.shape[1])

    @property
    def highest(self) -> int:
        """The highest number of a vector, 0 if there is none."""
        return int(self.ids[-1]) if len(self.ids) else 0

    def rows_of(self, ids: Rows) -> Rows:
        """Return the rows of vectors by number, -1 for unknown ones."""
        return find_sorted(self.ids, ids)

    def cosines(self, rows: Rows, vector: Vectors) -> Floats:
        """Return the cosines of a unit vector with rows (n,), NaN for row -1. Summed in double precision, so that a
        cosine does not depend on what else is asked for.
        """
        if self.vectors.are_above(rows):
            return dots(self.vectors.upper, vector, rows, limit=1.0)
        scores = np.empty(len(rows))
        for chosen, vectors, places in self.vectors.split(rows):
            scores[chosen] = dots(vectors, vector, places, limit=1.0)
        return scores

    def gather(self, rows: Rows) -> Vectors:
        """Return vectors (n, d), NaN for row -1."""
        present = rows >= 0
        if present.all():
            return self.vectors.take(rows)
        gathered = np.full((len(rows), self.dimension), np.nan, dtype=np.float32)
        gathered[present] = self.vectors.take(rows[present])
        return gathered

    def grown(self, numbers: Rows, vectors: Vectors) -> Matrix:
        """Return the matrix with more vectors, of higher numbers."""
        if not len(numbers):
            return self
        return Matrix(self.vectors.grown(vectors), np.concatenate([self.ids, numbers]))

    def nearest(self, rows: Rows, vector: Vectors, k: int) -> Rows:
        """Return indices into ``rows`` (n,) that include the k of highest cosine, and a few more. Fastest if ``rows``
        is ascending. Single precision excludes the distant ones; the caller orders the others in double precision.
        """
        if k >= len(rows):
            return np.arange(len(rows))
        scores = np.empty(len(rows), dtype=np.float32)
        for begin in range(0, len(rows), _BLOCK):
            scores[begin : begin + _BLOCK] = _products(self._pick(rows[begin : begin + _BLOCK]), vector)
        least = np.partition(scores, len(rows) - k)[len(rows) - k]
        return np.flatnonzero(scores >= least - _SLACK)

    def _pick(self, rows: Rows) -> Vectors:
        """Return the vectors of ascending rows, without a copy if the rows are contiguous."""
        first, last = int(rows[0]), int(rows[-1])
        upper: Vectors = self.vectors.upper
        if last < len(upper) and last - first + 1 == len(rows) and np.all(np.diff(rows) == 1):
            return upper[first : last + 1]
        return self.vectors.take(rows)


def _products(matrix: NDArray[Any], vector: NDArray[Any]) -> NDArray[Any]:
    """Return the product of a matrix and a vector, fast and approximate; see :func:`trivium.common.dots.dots` for the
    exact one. It avoids ``@``, because BLAS threads wait for each other, for 10 ms and more on a busy machine, to
    save a fraction of that.
    """
    products: NDArray[Any] = np.vecdot(matrix, vector)
    return products


def build_matrix(source: RowSource, folder: Path, previous: Path | None) -> Rows:
    """Write the matrix of the committed vectors and return their numbers by row.

    A vector never changes under its number and numbers only increase, so existing ones are copied from the previous
    snapshot and only new ones are read.
    """
    ids, dimension = source.vector_numbers(), source.dimension
    save_array(folder, "matrix.ids", ids)
    old = None if previous is None else load_matrix(previous)
    if old is not None and old.dimension != dimension:
        old = None  # of an embedder that was replaced before it stored anything
    if old is not None and previous is not None and np.array_equal(old.ids, ids):
        link_or_copy(previous / "matrix.npy", folder / "matrix.npy")
        return ids
    shape = (len(ids), dimension)
    if len(ids) == 0:
        save_array(folder, "matrix", np.empty(shape, dtype=np.float32))
        return ids
    values = new_array(folder, "matrix", shape, np.float32)
    filled = 0
    if old is not None:
        kept = np.flatnonzero(np.isin(old.ids, ids, assume_unique=True))
        for begin in range(0, len(kept), _BLOCK):
            some = kept[begin : begin + _BLOCK]
            values[begin : begin + len(some)] = old.vectors.upper[some]
        filled = len(kept)
    after = int(ids[filled - 1]) if filled else 0
    for block in source.vectors(after):
        values[filled : filled + len(block)] = block
        filled += len(block)
    values.flush()
    return ids


def load_matrix(folder: Path) -> Matrix:
    """Memory-map the files written by :func:`build_matrix`."""
    return Matrix(Stacked.of(load_array(folder, "matrix")), load_array(folder, "matrix.ids"))
