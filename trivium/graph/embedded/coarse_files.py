"""Files of the vectors of scanned labels as bytes (:mod:`trivium.graph.coarse`): a process that opens a store maps them
into memory instead of reading and rounding all vectors again, and processes share them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from trivium.common.arrays import Floats32
from trivium.graph.arrays import Rows, load_array, save_array
from trivium.graph.embedded.ann_index import is_scanned
from trivium.graph.embedded.topology import Nodes
from trivium.graph.embedded.vectors import Matrix
from trivium.graph.records import Codes

if TYPE_CHECKING:
    from trivium.graph.coarse import CoarseVectors


@dataclass(frozen=True, slots=True)
class StoredCoarse:
    """The vectors of one label in the files of a snapshot: ``codes`` (n, d), ``scales`` and errors (2, n), and their rows
    in the matrix (n,), ascending.
    """

    codes: Codes
    scales: Floats32
    rows: Rows

    def of(self, matrix: Matrix, rows: Rows) -> CoarseVectors:
        """Return the vectors of the matrix rows (m,), ascending, of the same or a later state."""
        from trivium.graph.coarse import CoarseVectors  # loads numba

        stored = CoarseVectors(self.codes, self.scales[0], self.scales[1])
        return stored if np.array_equal(rows, self.rows) else stored.patched(self.rows, matrix.vectors, rows)


def embedded_rows(nodes: Nodes) -> Rows:
    """Return the rows of the nodes with a vector, in the order of their vectors in the matrix."""
    by_vector = np.argsort(nodes.vector, kind="stable")
    return by_vector[np.searchsorted(nodes.vector, 0, sorter=by_vector) :]


def build_coarse(folder: Path, name: str, nodes: Nodes, matrix: Matrix) -> None:
    """Write the files of a label, if it is one that is scanned."""
    rows = nodes.vector[embedded_rows(nodes)]
    if len(rows) == 0 or not is_scanned(len(rows)):
        return
    from trivium.graph.coarse import CoarseVectors  # loads numba

    made = CoarseVectors.of(matrix.vectors, rows)
    save_array(folder, f"{name}.coarse", made.codes)
    save_array(folder, f"{name}.coarse.scales", np.stack([made.scales, made.errors]))
    save_array(folder, f"{name}.coarse.rows", rows)


def load_coarse(folder: Path, name: str, dimension: int) -> StoredCoarse | None:
    """Map the files of a label into memory; None if there are none, as in the snapshots of earlier versions. Raises
    ValueError if they do not fit together.
    """
    if not (folder / f"{name}.coarse.rows.npy").exists():
        return None
    codes, scales, rows = (load_array(folder, f"{name}.coarse{part}") for part in ("", ".scales", ".rows"))
    if codes.shape != (len(rows), dimension) or scales.shape != (2, len(rows)):
        raise ValueError(
            f"{name}.coarse has vectors of shape {codes.shape} and scales of shape {scales.shape}"
        )
    return StoredCoarse(codes, scales, rows)
