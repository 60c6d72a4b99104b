"""The reads of a search that the index answers by itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from trivium.graph.arrays import search, topology
from trivium.graph.arrays.snapshot import IndexSnapshot
from trivium.graph.nearness import best
from trivium.graph.records import (
    Adjacency,
    Neighbour,
    Reached,
    SentenceVectors,
    Similarities,
    TermCounts,
    TermStatistics,
    Vectors,
)
from trivium.graph.schema import Hop, Label
from trivium.graph.vectors import check_query


class ArrayReads(ABC):
    """A part of a :class:`~trivium.graph.protocols.SearchStore`: what needs nothing but the index. Mappings have every
    node asked for as a key, with an empty list for unknown ones.
    """

    @abstractmethod
    def _current(self) -> IndexSnapshot:
        """Return the index of the committed state."""

    def nearest(
        self, labels: Sequence[Label], vector: Vectors, k: int, *, exact: bool = False
    ) -> list[Neighbour]:
        indexes = self._asked(vector)
        if indexes is None:
            return []
        found = search.nearest(indexes, labels, vector, k, exact=exact)
        return [Neighbour(node.uri, node.score) for node in found]

    def expand_nearest(
        self,
        labels: Sequence[Label],
        vector: Vectors,
        nodes: int,
        hop: Hop,
        limit: int | None,
        *,
        exact: bool = False,
    ) -> list[Reached]:
        indexes = self._asked(vector)
        if indexes is None:
            return []
        return search.expand_nearest(indexes, labels, vector, nodes, hop, limit, exact=exact)

    def look_ahead(self, vectors: Sequence[Vectors], like: Vectors) -> None:
        """See :class:`trivium.graph.protocols.LooksAhead` and :func:`trivium.graph.arrays.search.look_ahead`."""
        search.look_ahead(self._current(), vectors, like)

    def similarities(self, vector: Vectors, chunks: Sequence[str]) -> Similarities:
        indexes = self._asked(vector)
        if indexes is None:
            return Similarities(*np.full((4, len(chunks)), np.nan))
        return search.similarities(indexes, vector, chunks)

    def vectors(self, label: Label, uris: Sequence[str]) -> Vectors:
        indexes = self._current()
        nodes = indexes.topology.nodes[label]
        rows = nodes.uris.find_all(uris)
        present = rows >= 0
        rows[present] = nodes.vector[rows[present]]
        return indexes.matrix.gather(rows)

    def sentence_vectors(self, chunks: Sequence[str]) -> SentenceVectors:
        indexes = self._current()
        return indexes.sentences.of(indexes.topology.nodes[Label.CHUNK].uris.find_all(chunks))

    def keyword_search(self, terms: Sequence[str], k: int) -> list[str]:
        indexes = self._current()
        scores, rows = search.keyword_hits(indexes, terms, k)
        return indexes.topology.nodes[Label.CHUNK].uris.take(best(rows, scores, k)[0].tolist())

    def term_counts(self, chunks: Sequence[str], terms: Sequence[str]) -> TermCounts:
        indexes = self._current()
        return indexes.terms.count(indexes.topology.nodes[Label.CHUNK].uris.find_all(chunks), terms)

    def term_statistics(self, terms: Sequence[str]) -> TermStatistics:
        return search.term_statistics(self._current(), terms)

    def outline(self, pages: Sequence[str]) -> dict[str, list[str]]:
        return topology.outline(self._current().topology, pages)

    def expand(self, uris: Sequence[str], hop: Hop) -> dict[str, list[str]]:
        return topology.expand(self._current().topology, uris, hop)

    def cited(self, chunks: Sequence[str]) -> dict[str, list[str]]:
        return topology.cited(self._current().topology, chunks)

    def adjacency(self) -> Adjacency:
        return topology.adjacency(self._current().topology)

    def _asked(self, vector: Vectors) -> IndexSnapshot | None:
        """Return the index for a vector search; None if the store has no embedder yet."""
        indexes = self._current()
        if indexes.dimension == 0:
            return None
        check_query(vector, indexes.dimension)
        return indexes
