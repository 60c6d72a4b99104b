"""The vectors of a label that are compared with every question, without an approximate index: as bytes
(:mod:`trivium.graph.coarse`), and where there are many, as signs before that (:mod:`trivium.graph.signs`).

Both are files of a snapshot: a process that opens a store maps them into memory instead of reading and rounding all
vectors again, and processes share them. After a change they remain as they are; vectors that are gone are passed over,
and those that came are compared beside them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from trivium.common.arrays import Floats32
from trivium.graph.arrays import Rows, distinct, find_sorted, load_array, save_array
from trivium.graph.embedded.ann_index import is_scanned
from trivium.graph.embedded.topology import Nodes
from trivium.graph.embedded.vectors import Matrix
from trivium.graph.filter_values import Mask
from trivium.graph.records import Codes, Floats, Vectors
from trivium.graph.vectors import Words, has_signs, words_shape
from trivium.index_parameters import IndexParameters

if TYPE_CHECKING:
    from trivium.graph.coarse import CoarseVectors
    from trivium.graph.signs import SignVectors


@dataclass(frozen=True, slots=True)
class Scanned:
    """Vectors of rows of the matrix: those of the ``stored`` rows (n,), which are in files of the snapshot, as far as
    they are ``there`` (n,; None for all), and those of the rows ``added`` (m,) since. Rows are ascending and distinct,
    though nodes may share one. ``signs`` is None for few.
    """

    stored: Rows
    coarse: CoarseVectors
    signs: SignVectors | None
    there: Mask | None
    added: Rows
    new: CoarseVectors

    @classmethod
    def none(cls, matrix: Matrix) -> Scanned:
        """None of a matrix, without files: where to begin if there are none."""
        from trivium.graph.coarse import CoarseVectors  # loads numba

        rows = np.empty(0, dtype=np.int64)
        nothing = CoarseVectors.of(matrix.vectors, rows)
        return cls(rows, nothing, None, None, rows, nothing)

    def now(self, matrix: Matrix, rows: Rows) -> Scanned:
        """Return those of other rows of the same matrix, or of one that has grown; what is known of them is kept."""
        present = np.zeros(len(matrix.vectors), dtype=bool)
        present[rows] = True
        there = present[self.stored]
        present[self.stored] = False
        added = np.flatnonzero(present)
        known = find_sorted(self.added, added)
        return Scanned(
            self.stored,
            self.coarse,
            self.signs,
            None if there.all() else there,
            added,
            self.new.taken(known, matrix.vectors, added),
        )

    def nearest(
        self,
        cosines: Callable[[Rows], Floats],
        vector: Vectors,
        k: int,
        *,
        exact: bool,
        among: Mask | None = None,
    ) -> Rows:
        """Return rows that include those of the k highest cosines with a unit vector (d,), and more; where ``among``
        (rows of the matrix,) is given, only those it is true of. ``cosines`` are those of some rows. Unless ``exact``,
        one of the k is missed as rarely as :data:`trivium.graph.signs.DEVIATIONS` says.
        """
        there = self.there if among is None else among[self.stored]
        if exact or self.signs is None:
            old = self.coarse.nearest(vector, k, there)
        else:
            old = self.signs.nearest(
                self.coarse, lambda places: cosines(self.stored[places]), vector, k, there
            )
        new = self.new.nearest(vector, k, None if among is None else among[self.added])
        return np.concatenate([self.stored[old], self.added[new]])


@dataclass(frozen=True, slots=True)
class ScannedFiles:
    """The arrays of one label in the files of a snapshot: rows of the matrix (n,), ``codes`` (n, d), ``scales`` and
    errors (2, n), and of their signs the words, centre and factors, None for few vectors.
    """

    rows: Rows
    codes: Codes
    scales: Floats32
    signs: tuple[Words, Floats32, Floats32] | None

    def opened(self, matrix: Matrix) -> Scanned:
        """Return the vectors as they were when the files were written."""
        from trivium.graph.coarse import CoarseVectors  # loads numba
        from trivium.graph.signs import SignVectors

        signs = None
        if self.signs is not None:
            words, centre, factors = self.signs
            signs = SignVectors(centre, words, *factors)
        coarse = CoarseVectors(self.codes, *self.scales)
        return replace(Scanned.none(matrix), stored=self.rows, coarse=coarse, signs=signs)


def embedded_rows(nodes: Nodes) -> Rows:
    """Return the rows of the nodes with a vector, in the order of their vectors in the matrix."""
    by_vector = np.argsort(nodes.vector, kind="stable")
    return by_vector[np.searchsorted(nodes.vector, 0, sorter=by_vector) :]


def build_scanned(folder: Path, name: str, nodes: Nodes, matrix: Matrix, parameters: IndexParameters) -> None:
    """Write the files of a label, if it is one that is scanned."""
    rows = distinct(nodes.vector, len(matrix.vectors))
    if len(rows) == 0 or not is_scanned(int(np.count_nonzero(nodes.vector >= 0)), parameters):
        return
    from trivium.graph.coarse import CoarseVectors  # loads numba
    from trivium.graph.signs import SignVectors

    coarse = CoarseVectors.of(matrix.vectors, rows)
    save_array(folder, f"{name}.coarse", coarse.codes)
    save_array(folder, f"{name}.coarse.scales", np.stack([coarse.scales, coarse.errors]))
    save_array(folder, f"{name}.coarse.rows", rows)
    if has_signs(len(rows), matrix.dimension):
        signs = SignVectors.of(matrix.vectors.upper, rows)  # of files, which have all vectors
        save_array(folder, f"{name}.signs", signs.words)
        save_array(folder, f"{name}.signs.centre", signs.centre)
        save_array(folder, f"{name}.signs.factors", np.stack([signs.slopes, signs.offsets, signs.rests]))


def load_scanned(folder: Path, name: str, dimension: int) -> ScannedFiles | None:
    """Map the files of a label into memory; None if there are none. Raises ValueError if they do not fit together."""
    if not (folder / f"{name}.coarse.rows.npy").exists():
        return None
    codes, scales, rows = (load_array(folder, f"{name}.coarse{part}") for part in ("", ".scales", ".rows"))
    if codes.shape != (len(rows), dimension) or scales.shape != (2, len(rows)):
        raise ValueError(
            f"{name}.coarse has vectors of shape {codes.shape} and scales of shape {scales.shape}"
        )
    if not (folder / f"{name}.signs.npy").exists():
        return ScannedFiles(rows, codes, scales, None)
    words, centre, factors = (
        load_array(folder, f"{name}.signs{part}") for part in ("", ".centre", ".factors")
    )
    if (
        words.shape != words_shape(len(rows), dimension)
        or centre.shape != (dimension,)
        or factors.shape != (3, len(rows))
    ):
        raise ValueError(
            f"{name}.signs has words of shape {words.shape} and factors of shape {factors.shape}"
        )
    return ScannedFiles(rows, codes, scales, (words, centre, factors))
