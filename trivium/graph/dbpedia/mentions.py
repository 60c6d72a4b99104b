"""Who is mentioned where: the documents that two entities have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from trivium.graph.records import Adjacency
from trivium.graph.schema import page_of

Rows = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Mentions:
    """Entities by row, in uri order, and for entity i the pages that mention it, as rows of entities:
    ``pages[indptr[i]:indptr[i+1]]``, rising. A page mentions itself and what its chunks cite."""

    entities: Sequence[str]
    rows: Mapping[str, int]
    indptr: Rows
    pages: Rows

    @classmethod
    def of(cls, graph: Adjacency) -> Self:
        """From the links between chunks and entities, which hold each chunk's own page as well.

        Chunks of a page that is not among the entities are left out: it was loaded while the graph was read.
        """
        chunks, size = len(graph.chunks), len(graph.entities)
        own = np.array([graph.entity_rows.get(page_of(uri), -1) for uri in graph.chunks], dtype=np.int32)
        page = np.repeat(own, np.diff(graph.indptr[: chunks + 1]))
        entity = graph.indices[: graph.indptr[chunks]] - chunks
        known = page >= 0
        page, entity = page[known], entity[known]
        table = csr_array((np.ones(len(page), dtype=np.int32), (entity, page)), shape=(size, size))
        table.sum_duplicates()
        table.sort_indices()
        return cls(
            graph.entities, graph.entity_rows, table.indptr.astype(np.int32), table.indices.astype(np.int32)
        )

    def together(self, one: int, other: int) -> Rows:
        """The pages that mention both entities, rising."""
        few, many = self._pages(one), self._pages(other)
        if len(few) > len(many):
            few, many = many, few
        if not len(few):
            return few
        places = np.searchsorted(many, few)
        # A place behind the end belongs to a page later than all of them, which the last one cannot equal.
        shared: Rows = few[many[np.minimum(places, len(many) - 1)] == few]
        return shared

    def _pages(self, row: int) -> Rows:
        return self.pages[self.indptr[row] : self.indptr[row + 1]]
