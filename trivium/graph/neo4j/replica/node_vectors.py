"""In-memory vectors of the nodes of one label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trivium.common.dots import dots
from trivium.graph.arrays.columns import Rows, Stacked
from trivium.graph.moves import Moves
from trivium.graph.records import Floats, Vectors

if TYPE_CHECKING:
    from trivium.graph.coarse import CoarseVectors


@dataclass(frozen=True, slots=True)
class NodeVectors:
    """``matrix`` (n, d) has one row per node, NaN without a vector. ``rows`` are those that can be found, ascending;
    ``coarse`` is the structure that is searched.
    """

    matrix: Vectors
    rows: Rows
    coarse: CoarseVectors

    @classmethod
    def of(cls, matrix: Vectors, among: Rows | None = None, earlier: Earlier | None = None) -> NodeVectors:
        """Create it from all rows with a vector, or from some of them. What an ``earlier`` one has is taken over."""
        from trivium.graph.coarse import CoarseVectors  # loads numba, see trivium.common.compiled

        rows = np.flatnonzero(~np.isnan(matrix[:, 0])) if matrix.shape[1] else np.empty(0, dtype=np.int64)
        if among is not None:
            rows = np.intersect1d(rows, among)
        if earlier is None:
            return cls(matrix, rows, CoarseVectors.of(Stacked.of(matrix), rows))
        old, places = earlier.nodes, earlier.places(rows, len(matrix))
        return cls(matrix, rows, old.coarse.taken(places, Stacked.of(matrix), rows))

    def cosines(self, rows: Rows, vector: Vectors) -> Floats:
        """Return the cosines of a unit vector with rows (n,), in double precision; NaN for row -1 and rows without a
        vector.
        """
        return dots(self.matrix, vector, rows, limit=1.0)

    def candidates(self, vector: Vectors, k: int) -> Rows:
        """Return rows that include the k nearest."""
        return self.rows[self.coarse.nearest(vector, k)]

    def gather(self, rows: Rows) -> Vectors:
        """Return vectors (n, d), NaN for row -1."""
        if not len(self.matrix):
            return np.full((len(rows), self.matrix.shape[1]), np.nan, dtype=np.float32)
        gathered = self.matrix[rows]
        gathered[rows < 0] = np.nan
        return gathered


@dataclass(frozen=True, slots=True)
class Earlier:
    """Vectors of an earlier state: their rows are now where ``moves`` says, but for those of other vectors now."""

    nodes: NodeVectors
    moves: Moves
    other: Rows

    def places(self, rows: Rows, count: int) -> Rows:
        """Return where rows (n,), of ``count``, were among those that could be found; -1 for other vectors."""
        places = np.full(count + 1, -1, dtype=np.int64)
        places[self.moves.follow(self.nodes.rows)] = np.arange(len(self.nodes.rows))
        places[self.other] = -1
        return places[rows]
