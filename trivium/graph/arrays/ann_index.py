"""Approximate nearest neighbours: a USearch index (HNSW) over the numbers of vectors.

Vectors are stored as int8, which takes half the memory and two thirds of the time of 16-bit floats. What an index finds
is put in order by the exact vectors. An index that is made anew is made by one thread, so that the same vectors give
the same index; later ones are added to it, and removed from it, by USearch.
"""

from __future__ import annotations

import ctypes
import math
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trivium.graph.arrays.columns import Rows
from trivium.graph.records import Codes, Vectors

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
