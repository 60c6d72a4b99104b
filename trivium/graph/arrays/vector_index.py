"""Which vectors of a label are nearest to a question's, in two tiers: all are compared as bytes, exactly
(:mod:`trivium.graph.vector_search`), or from some number of vectors on an approximate index is asked: one of USearch
(HNSW) over the numbers of vectors.

Both are files of a snapshot, mapped into memory and shared by processes. After a change they remain as they are until
the next snapshot: vectors that are gone are passed over, and those that came are compared as bytes beside them.

USearch keeps vectors as int8, which takes half the memory and two thirds of the time of 16-bit floats. What an index
finds is put in order by the exact vectors. An index that is made anew is made by one thread, so that the same vectors
give the same index; later ones are added to it, and removed from it, by USearch.
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trivium.common.arrays import Floats32
from trivium.graph.arrays.array_files import Rows, distinct, find_sorted, link_or_copy, load_array, save_array
from trivium.graph.arrays.topology import Nodes
from trivium.graph.arrays.vector_matrix import Matrix
from trivium.graph.filter_matching import Mask
from trivium.graph.records import Codes, Vectors
from trivium.graph.vector_search import CoarseVectors

if sys.platform == "linux":
    # USearch brings its own C++ runtime. A library loaded after it that expects the system's runtime (onnxruntime)
    # crashes the process. Loading the system's runtime first, globally, prevents that.
    with suppress(OSError):
        ctypes.CDLL("libstdc++.so.6", mode=ctypes.RTLD_GLOBAL)
from usearch.index import Index

CONNECTIVITY = 16
"""Edges per node of the graph (HNSW's M)."""
EXPANSION_ADD = 128
"""Candidates considered when a node is added (``ef_construction``)."""
EXPANSION_SEARCH = 320
"""Size of USearch's candidate list during search, unless the store's parameters say otherwise. On 45,000 entities 256
finds .972 of the 100 nearest (in .94 ms), 320 .978 (1.13 ms), 384 .981 (1.3 ms); 16-bit floats at 256 .979 (1.6 ms). At
.94 the vector retriever lost two points of hit@5.
"""
FEW = 10
"""Number of neighbours up to which a smaller candidate list suffices: on 218,000 entities .6 of the size finds .983 of
the 10 nearest (all of it .996) in .57 of the time.
"""
_FEW_SHARE = 0.6
_FEW_COMPARED = 40
MORE = 1.1
"""Factor by which more vectors are requested than needed, because int8 confuses vectors at about the same distance. It
raises recall of the 100 nearest to .986.
"""
_ALONE = 1
"""USearch's own size of the candidate list, since each search asks for as many results as its list is to have."""
_LARGEST = 127
_TINY = np.finfo(np.float32).tiny


@dataclass(frozen=True, slots=True)
class AnnIndex:
    """An open index of the numbers of vectors. ``expansion`` is the size of the candidate list."""

    index: Index
    expansion: int

    @classmethod
    def empty(cls, dimension: int, expansion: int = EXPANSION_SEARCH) -> AnnIndex:
        """An index to which vectors are added."""
        index = Index(
            ndim=dimension,
            metric="cos",  # since each quantised vector has its own scale
            dtype="i8",
            multi=False,
            connectivity=CONNECTIVITY,
            expansion_add=EXPANSION_ADD,
            expansion_search=_ALONE,
        )
        return cls(index, expansion)

    @classmethod
    def open(cls, file: Path, expansion: int = EXPANSION_SEARCH, *, mapped: bool) -> AnnIndex:
        """Open the index in a file: ``mapped`` into memory, or as a copy that can be changed. Raises ValueError for
        another file.
        """
        index = Index.restore(str(file), view=mapped, expansion_add=EXPANSION_ADD, expansion_search=_ALONE)
        if index is None:
            raise ValueError(f"{file.name} is no index")
        return cls(index, expansion)

    def add(self, numbers: Rows, vectors: Vectors) -> None:
        """Add vectors (n, d) under their numbers (n,)."""
        self.index.add(numbers.astype(np.uint64), quantise(vectors), threads=1)

    def remove(self, numbers: Rows) -> None:
        """Remove the vectors with these numbers (n,)."""
        if len(numbers):
            self.index.remove(numbers.astype(np.uint64), threads=1)

    def save(self, file: Path) -> None:
        """Write the index to a file. Raises what USearch says of a file that cannot be written."""
        self.index.save(str(file))

    def search(self, vector: Vectors, k: int, count: int) -> Rows:
        """Return the numbers of about the ``count`` nearest vectors, of which ``k`` are wanted."""
        expansion = math.ceil(_FEW_SHARE * self.expansion) if k <= FEW else self.expansion
        # The candidate list is as long as the list of results, which come in order.
        asked = min(max(count, expansion), len(self.index))
        found = self.index.search(quantise(vector), asked, threads=1).keys
        numbers: Rows = found[:count].astype(np.int64)
        return numbers


def compared(k: int) -> int:
    """How many vectors are compared exactly to find the k nearest."""
    return _FEW_COMPARED if k <= FEW else math.ceil(MORE * k)


def quantise(vectors: Vectors) -> Codes:
    """Scale each vector (..., d) so that its largest component becomes 127 or -127, and round. Only the direction is
    kept.

    USearch itself would multiply a unit vector by 127 and truncate: most of 384 components are below .08, which
    leaves only 20 distinct values.

    >>> quantise(np.array([0.6, -0.8], dtype=np.float32)).tolist()
    [95, -127]
    """
    largest = np.abs(vectors).max(axis=-1, keepdims=True)
    codes: Codes = np.rint(vectors / np.maximum(largest, _TINY) * np.float32(_LARGEST)).astype(np.int8)
    return codes


_MARGIN = 1.5
"""Factor by which more vectors are requested where only some of them count, relative to these being spread evenly."""
_COMPARED_SHARE = 4
"""All vectors are compared when an index would have to be asked for more than one in this many."""
_BATCH = 2000

Step = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class LabelVectors:
    """Vectors of rows of the matrix, ascending and distinct, though nodes may share one: those of the ``stored`` rows
    (n,), which the files of the snapshot have in a ``tier``, as far as they are ``there`` (n,; None for all), and those
    of the rows ``added`` (m,) since, as bytes.
    """

    stored: Rows
    tier: CoarseVectors | AnnIndex
    there: Mask | None
    added: Rows
    new: CoarseVectors

    @classmethod
    def of(cls, matrix: Matrix, stored: Rows, tier: CoarseVectors | AnnIndex | None) -> LabelVectors:
        """Those of the files, None if there are none."""
        none = np.empty(0, dtype=np.int64)
        nothing = CoarseVectors.of(matrix.vectors, none)
        return cls(stored, nothing if tier is None else tier, None, none, nothing)

    def now(self, matrix: Matrix, rows: Rows) -> LabelVectors:
        """Return those of other rows of the same matrix, or of one that has grown; what is known of them is kept."""
        present = np.zeros(len(matrix.vectors), dtype=bool)
        present[rows] = True
        there = present[self.stored]
        present[self.stored] = False
        added = np.flatnonzero(present)
        new = self.new.taken(find_sorted(self.added, added), matrix.vectors, added)
        return LabelVectors(self.stored, self.tier, None if there.all() else there, added, new)

    def nearest(
        self, matrix: Matrix, vector: Vectors, k: int, *, exact: bool, among: Mask | None = None
    ) -> Rows:
        """Return rows that include those of the k highest cosines with a unit vector (d,), and more; where ``among``
        (rows of the matrix,) is given, only those it is true of. Unless ``exact``, an index misses some.
        """
        there = self.there if among is None else among[self.stored]
        if isinstance(self.tier, AnnIndex):
            old = None if exact else self._approximate(self.tier, matrix, vector, k, there)
            if old is None:
                rows = self.stored if there is None else self.stored[there]
                old = rows[matrix.nearest(rows, vector, k)] if len(rows) else rows
        else:
            old = self.stored[self.tier.nearest(vector, k, there)]
        new = self.new.nearest(vector, k, None if among is None else among[self.added])
        return np.concatenate([old, self.added[new]])

    def _approximate(
        self, index: AnnIndex, matrix: Matrix, vector: Vectors, k: int, there: Mask | None
    ) -> Rows | None:
        """Ask the index for increasingly many rows until k of them are ``there``. None if comparing all takes less."""
        count = compared(k)
        if there is not None:
            left = int(np.count_nonzero(there))
            k = min(k, left)
            count = max(count, math.ceil(_MARGIN * k * len(there) / max(1, left)))
        while count * _COMPARED_SHARE <= len(self.stored):
            rows = matrix.rows_of(index.search(vector, k, count))
            if there is not None:
                rows = rows[there[find_sorted(self.stored, rows)]]
            if len(rows) >= k:
                return rows
            count *= 2
        return None


@dataclass(frozen=True, slots=True)
class VectorFiles:
    """The files of one label in a snapshot: the rows of the matrix (n,), and the index or the arrays of
    :class:`~trivium.graph.vector_search.CoarseVectors`.
    """

    rows: Rows
    index: AnnIndex | None
    arrays: tuple[Codes, Floats32] | None

    def opened(self, matrix: Matrix) -> LabelVectors:
        """Return the vectors as they were when the files were written."""
        if self.arrays is None:
            return LabelVectors.of(matrix, self.rows, self.index)
        codes, scales = self.arrays
        return LabelVectors.of(matrix, self.rows, CoarseVectors(codes, *scales))


@dataclass(frozen=True, slots=True)
class IndexPlan:
    """How to make the index of one label: add and remove vectors by number, in the index in the folder ``base`` or in
    an empty one.
    """

    name: str
    add: Rows
    remove: Rows
    base: Path | None

    def apply(self, folder: Path, matrix: Matrix, step: Step) -> None:
        """Write the index."""
        file = f"{self.name}.vectors"
        if self.base is None:
            index = AnnIndex.empty(matrix.dimension)
        elif not len(self.add) and not len(self.remove):
            link_or_copy(self.base / file, folder / file)
            return
        else:
            index = AnnIndex.open(self.base / file, mapped=False)
            index.remove(self.remove)
        for begin in range(0, len(self.add), _BATCH):
            numbers = self.add[begin : begin + _BATCH]
            index.add(numbers, matrix.vectors.take(matrix.rows_of(numbers)))
            step(len(numbers))
        index.save(folder / file)


def embedded_rows(nodes: Nodes) -> Rows:
    """Return the rows of the nodes with a vector, in the order of their vectors in the matrix."""
    by_vector = np.argsort(nodes.vector, kind="stable")
    return by_vector[np.searchsorted(nodes.vector, 0, sorter=by_vector) :]


def build_vectors(
    folder: Path, name: str, nodes: Nodes, matrix: Matrix, previous: Path | None, approximate_from: int
) -> IndexPlan | None:
    """Write the files of a label, but for the index if it is to have one: its plan is returned. An index in
    ``previous`` is changed, unless half of it is gone.
    """
    rows = distinct(nodes.vector, len(matrix.vectors))
    if len(rows) == 0:
        return None
    save_array(folder, f"{name}.rows", rows)
    if len(rows) < approximate_from:
        coarse = CoarseVectors.of(matrix.vectors, rows)
        save_array(folder, f"{name}.coarse", coarse.codes)
        save_array(folder, f"{name}.coarse.scales", np.stack([coarse.scales, coarse.errors]))
        return None
    now, none = matrix.ids[rows], np.empty(0, dtype=np.int64)
    if previous is not None and (previous / f"{name}.vectors").exists():
        before = load_array(previous, "matrix.ids")[load_array(previous, f"{name}.rows")]
        gone = np.setdiff1d(before, now, assume_unique=True)
        if 2 * len(gone) <= len(before):
            return IndexPlan(name, np.setdiff1d(now, before, assume_unique=True), gone, previous)
    return IndexPlan(name, now, none, None)


def load_vectors(folder: Path, name: str, dimension: int) -> VectorFiles | None:
    """Map the files of a label into memory; None if there are none. Raises ValueError if they do not fit together."""
    if not (folder / f"{name}.rows.npy").exists():
        return None
    rows = load_array(folder, f"{name}.rows")
    if (folder / f"{name}.vectors").exists():
        index = AnnIndex.open(folder / f"{name}.vectors", mapped=True)
        if (len(index.index), index.index.ndim) != (len(rows), dimension):
            raise ValueError(
                f"{name}.vectors has {len(index.index)} vectors of {index.index.ndim} numbers,"
                f" not {len(rows)} of {dimension}"
            )
        return VectorFiles(rows, index, None)
    codes, scales = load_array(folder, f"{name}.coarse"), load_array(folder, f"{name}.coarse.scales")
    if codes.shape != (len(rows), dimension) or scales.shape != (2, len(rows)):
        raise ValueError(
            f"{name}.coarse has vectors of shape {codes.shape} and scales of shape {scales.shape}"
        )
    return VectorFiles(rows, None, (codes, scales))
