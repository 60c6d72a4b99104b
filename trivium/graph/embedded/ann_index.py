"""Approximate nearest neighbours among the nodes of one label: a USearch index over node numbers.

An index is built only for labels with at least :data:`EXACT_BELOW` embedded nodes; below that comparing all is as
fast. Removed nodes stay in the index and are skipped in results; when there are too many, the index is rebuilt.
Building is single-threaded, so the same vectors give the same index.

Vectors are stored as int8, which takes half the memory and two thirds of the time of the 16-bit floats that earlier
versions wrote. Results are reordered by the exact vectors. An existing index is read and extended in its own number
type.
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.graph.arrays import Rows, load_array, save_array
from trivium.graph.embedded.files import link_or_copy
from trivium.graph.embedded.topology import Nodes
from trivium.graph.embedded.vectors import Matrix
from trivium.graph.records import Codes, Vectors
from trivium.index_parameters import IndexParameters

if sys.platform == "linux":
    # USearch brings its own C++ runtime. A library loaded after it that expects the system's runtime (onnxruntime)
    # crashes the process. Loading the system's runtime first, globally, prevents that.
    with suppress(OSError):
        ctypes.CDLL("libstdc++.so.6", mode=ctypes.RTLD_GLOBAL)
from usearch.compiled import ScalarKind
from usearch.index import Index

EXACT_BELOW = 262_144
"""Labels with fewer embedded nodes have no index, unless the store's parameters say otherwise: all their vectors are
compared, first as signs (:mod:`trivium.graph.embedded.scanned`). That takes .6 ms of 217,000 and hardly ever misses one
of the nearest; an index search of as many takes .75 ms for ten neighbours and finds 98 of 100.
"""
MOST_STALE = 0.1
"""Share of removed nodes above which an index is rebuilt."""
CONNECTIVITY = 16
"""Edges per node of the graph, unless the store's parameters say otherwise; likewise for the next two."""
EXPANSION_ADD = 128
EXPANSION_SEARCH = 320
"""Size of USearch's candidate list during search. On 45,000 entities 256 finds .972 of the 100 nearest (in .94 ms),
320 .978 (1.13 ms), 384 .981 (1.3 ms); 16-bit floats at 256 .979 (1.6 ms). At .94 the vector retriever lost two points
of hit@5.
"""
FEW = 10
"""Number of neighbours up to which a smaller candidate list suffices: on 218,000 entities .6 of the size finds .983 of
the 10 nearest (all of it .996) in .57 of the time.
"""
_FEW_SHARE = 0.6
_FEW_COMPARED = 40
MORE = 1.1
"""Factor by which more nodes are requested than needed, because int8 confuses nodes at about the same distance. It
raises recall of the 100 nearest to .986.
"""
_ALONE = 1
"""USearch's own size of the candidate list, since each search asks for as many results as its list is to have."""
_LARGEST = 127
_TINY = np.finfo(np.float32).tiny
_BATCH = 2000

Step = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class AnnIndex:
    """An open index. ``size`` includes removed nodes, ``expansion`` is the size of the candidate list."""

    index: Index
    size: int
    expansion: int

    def search(self, nodes: Nodes, vector: Vectors, k: int) -> Rows:
        """Return the rows of about the k nearest nodes and of some more, unordered."""
        wanted = min(k, len(nodes.ids))
        few = wanted <= FEW
        count = _FEW_COMPARED if few else math.ceil(MORE * wanted)
        expansion = math.ceil(_FEW_SHARE * self.expansion) if few else self.expansion
        asked = _encode(self.index, vector)
        while True:
            # The candidate list is as long as the list of results, which come in order.
            found = self.index.search(asked, min(max(count, expansion), self.size), threads=1).keys
            rows = nodes.rows_of(found[:count].astype(np.int64))
            rows = rows[rows >= 0]
            # A node may have been added again without a vector while the index still holds its old one.
            rows = rows[nodes.vector[rows] >= 0]
            if len(rows) >= wanted or count >= self.size:
                return rows
            count *= 2


@dataclass(frozen=True, slots=True)
class IndexPlan:
    """How to build the index of one label: add the rows ``add`` of its nodes to the index in the folder ``base``, or
    to an empty one.
    """

    name: str
    add: Rows
    base: Path | None
    entries: Rows
    parameters: IndexParameters

    def apply(self, folder: Path, nodes: Nodes, matrix: Matrix, step: Step) -> None:
        """Write the index and the list of its entries (node number, vector number)."""
        file = f"{self.name}.usearch"
        if self.base is not None and len(self.add) == 0:
            link_or_copy(self.base / file, folder / file)
        else:
            if self.base is None:
                index = _new_index(matrix.dimension, self.parameters)
            else:
                index = _restore(self.base / file, self.parameters, view=False)
            for begin in range(0, len(self.add), _BATCH):
                rows = self.add[begin : begin + _BATCH]
                vectors = matrix.vectors.take(nodes.vector[rows])
                index.add(nodes.ids[rows].astype(np.uint64), _encode(index, vectors), threads=1)
                step(len(rows))
            index.save(str(folder / file))
        save_array(folder, f"{self.name}.entries", self.entries)


def is_scanned(count: int, parameters: IndexParameters) -> bool:
    """Whether a label has so few vectors that all are compared, without an index."""
    return count < (parameters.approximate_from or EXACT_BELOW)


def plan_index(
    name: str, nodes: Nodes, matrix_ids: Rows, previous: Path | None, parameters: IndexParameters
) -> IndexPlan | None:
    """Plan the index of a label; None if the label needs none. An index in ``previous``, built with the same
    parameters, is extended.
    """
    rows = nodes.by_id[nodes.vector[nodes.by_id] >= 0]
    if is_scanned(len(rows), parameters):
        return None
    now = np.stack([nodes.ids[rows], matrix_ids[nodes.vector[rows]]], axis=1)
    if previous is not None and (previous / f"{name}.usearch").exists():
        before = load_array(previous, f"{name}.entries")
        added = ~np.isin(now[:, 0], before[:, 0], assume_unique=True)
        kept = np.isin(before[:, 0], now[:, 0], assume_unique=True)
        same_vectors = np.array_equal(before[kept], now[~added])
        if same_vectors and np.count_nonzero(~kept) <= MOST_STALE * len(rows):
            entries = np.concatenate([before, now[added]])
            return IndexPlan(name, rows[added], previous, entries[np.argsort(entries[:, 0])], parameters)
    return IndexPlan(name, rows, None, now, parameters)


def open_index(folder: Path, name: str, dimension: int, parameters: IndexParameters) -> AnnIndex | None:
    """Memory-map the index of a label; None if there is none."""
    file = folder / f"{name}.usearch"
    if not file.exists():
        return None
    index = _restore(file, parameters, view=True)
    if index.ndim != dimension:
        raise ValueError(f"{file.name} has vectors of {index.ndim} numbers, not of {dimension}")
    return AnnIndex(index, len(index), parameters.expansion_search or EXPANSION_SEARCH)


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


def _encode(index: Index, vectors: Vectors) -> NDArray[Any]:
    """Convert vectors to the number type of an index."""
    return quantise(vectors) if index.dtype == ScalarKind.I8 else vectors


def _new_index(dimension: int, parameters: IndexParameters) -> Index:
    # Cosine distance, since each quantised vector has its own scale.
    return Index(
        ndim=dimension,
        metric="cos",
        dtype="f16" if parameters.quantized is False else "i8",
        multi=False,
        connectivity=parameters.connectivity or CONNECTIVITY,
        expansion_add=parameters.expansion_add or EXPANSION_ADD,
        expansion_search=_ALONE,
    )


def _restore(file: Path, parameters: IndexParameters, *, view: bool) -> Index:
    """Open the index in a file, with the number type and edges it was built with."""
    index = Index.restore(
        str(file),
        view=view,
        expansion_add=parameters.expansion_add or EXPANSION_ADD,
        expansion_search=_ALONE,
    )
    if index is None:
        raise ValueError(f"{file.name} is no index")
    return index
