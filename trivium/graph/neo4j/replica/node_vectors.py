"""Vectors of the nodes of one label, in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trivium.common.dots import dots
from trivium.graph.arrays import Rows, Stacked
from trivium.graph.records import Floats, Vectors

if TYPE_CHECKING:
    from trivium.graph.coarse import CoarseVectors


@dataclass(frozen=True, slots=True)
class NodeVectors:
    """``matrix`` (n x d) has a row a node, NaN where a node has no vector; ``rows`` are those with one that can be found,
    rising, and ``coarse`` is what they are looked for in."""

    matrix: Vectors
    rows: Rows
    coarse: CoarseVectors

    @classmethod
    def of(cls, matrix: Vectors, among: Rows | None = None) -> NodeVectors:
        """Of all rows that have a vector, or of some of them."""
        from trivium.graph.coarse import CoarseVectors  # loads numba, see trivium.common.compiled

        rows = np.flatnonzero(~np.isnan(matrix[:, 0])) if matrix.shape[1] else np.empty(0, dtype=np.int64)
        if among is not None:
            rows = np.intersect1d(rows, among)
        return cls(matrix, rows, CoarseVectors.of(Stacked.of(matrix), rows))

    def cosines(self, rows: Rows, vector: Vectors) -> Floats:
        """Cosines of a unit vector with rows (n,), NaN for -1 and for one without a vector; in double precision."""
        scores = dots(self.matrix, vector, rows)
        return np.clip(scores, -1.0, 1.0, out=scores)

    def candidates(self, vector: Vectors, k: int) -> Rows:
        """Rows that the k nearest are among."""
        return self.rows[self.coarse.nearest(vector, k)]

    def gather(self, rows: Rows) -> Vectors:
        """Vectors (n x d), NaN for row -1."""
        if not len(self.matrix):
            return np.full((len(rows), self.matrix.shape[1]), np.nan, dtype=np.float32)
        gathered = self.matrix[rows]
        gathered[rows < 0] = np.nan
        return gathered
