"""Searches of one index snapshot: nearest nodes, chunks reached from them, similarities, and the other reads of a search
that the index answers by itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import expand_ranges
from trivium.graph.arrays import topology
from trivium.graph.arrays.array_files import Rows
from trivium.graph.arrays.snapshot import AHEAD, IndexSnapshot, VectorSearch
from trivium.graph.arrays.topology import Nodes, chunks_along
from trivium.graph.arrays.vector_index import FEW
from trivium.graph.filter_matching import Mask
from trivium.graph.records import (
    Adjacency,
    Floats,
    Neighbour,
    Reached,
    SentenceVectors,
    Similarities,
    TermCounts,
    TermStatistics,
    Vectors,
    rank_key,
)
from trivium.graph.schema import Hop, Label
from trivium.graph.stored_vectors import check_query
from trivium.graph.term_occurrences import keyword_scores
from trivium.graph.vector_search import Found, best, reach

INDEX_NEIGHBOURS = 100
"""Minimum number of neighbours requested from an index if more than a few are, since several retrievers ask for them."""
COMPARED_AT_MOST = 8_192
"""In a store with an index, at most this many nodes that match a condition are compared exhaustively."""
FEW_ROWS = 2_000
"""At most so many nodes that match a condition are compared by their numbers, also where all vectors are scanned."""


@dataclass(frozen=True, slots=True)
class Limit:
    """The nodes of a label that may be returned, by row. Equal keys mean equal rows."""

    key: Hashable
    rows: Rows


Limits = Mapping[Label, Limit]
_NO_LIMITS: Limits = {}


def nearest(
    indexes: IndexSnapshot,
    labels: Sequence[Label],
    vector: Vectors,
    k: int,
    *,
    exact: bool,
    limits: Limits = _NO_LIMITS,
) -> list[Found]:
    """Return the k nearest nodes of any of the labels, ordered by :func:`rank_key`."""
    wanted = dict.fromkeys(labels)
    if Label.ENTITY in wanted:
        wanted.pop(Label.PAGE, None)  # pages are entities too: return each node once
    found: list[Found] = []
    for label in wanted:
        ordered = _nearest(indexes, label, vector, k, exact=exact, limit=limits.get(label))
        rows, scores = (numbers[: max(k, 0)].tolist() for numbers in ordered)
        uris = indexes.topology.nodes[label].uris.take(rows)
        found.extend(map(Found, repeat(label), rows, uris, scores))
    if len(wanted) > 1:
        found.sort(key=lambda node: rank_key(node.score, node.uri))
    return found[: max(k, 0)]


def _nearest(
    indexes: IndexSnapshot, label: Label, vector: Vectors, k: int, *, exact: bool, limit: Limit | None
) -> tuple[Rows, Floats]:
    """Return the rows (n,) of at least the k nearest nodes, as far as there are so many, in order, and their cosines
    (n,). The last few results are cached, since several retrievers ask for the same.
    """
    if k <= 0:
        return np.empty(0, dtype=np.int64), np.empty(0)
    # The count is part of the key: a wider search finds other neighbours, and results must not depend on earlier
    # queries.
    asked = max(k, FEW if indexes.scans(label) or k <= FEW else INDEX_NEIGHBOURS)
    search = VectorSearch(vector.tobytes(), label, exact, asked, None if limit is None else limit.key)
    known = indexes.searches.find(None, [search]).get(search)
    if known is None:
        known = indexes.ahead.find(None, [search]).get(search)
        known = _search(indexes, search, vector, limit) if known is None else known
        indexes.searches.put(None, {search: known})
    return known


def look_ahead(indexes: IndexSnapshot, vectors: Sequence[Vectors], like: Vectors) -> None:
    """Search for the nodes nearest to other questions (each (d,)) as was just done for the question ``like`` (d,), and
    keep the results until this is called again. One kind of search after the other, so that what it reads stays in the
    processor's cache. Searches among the nodes that match a condition are left out.
    """
    indexes.ahead.clear()
    question = like.tobytes()
    kinds = [one for one in indexes.searches.all_keys() if one.question == question and one.limit is None]
    asked = {vector.tobytes(): vector for vector in vectors}
    asked.pop(question, None)
    coming = list(asked.items())[: AHEAD // max(1, len(kinds))]
    for kind in kinds:
        for key, vector in coming:
            search = kind._replace(question=key)
            indexes.ahead.put(None, {search: _search(indexes, search, vector, None)})


def _search(
    indexes: IndexSnapshot, search: VectorSearch, vector: Vectors, limit: Limit | None
) -> tuple[Rows, Floats]:
    _, label, exact, k, _ = search
    nodes = indexes.topology.nodes[label]
    if limit is None:
        rows = _find_candidates(indexes, label, vector, k, exact=exact)
    else:
        rows = _find_among(indexes, label, nodes, vector, k, limit.rows, exact=exact)
    return best(rows, indexes.matrix.cosines(nodes.vector[rows], vector), k)


def _find_candidates(indexes: IndexSnapshot, label: Label, vector: Vectors, k: int, *, exact: bool) -> Rows:
    found = indexes.vectors(label).nearest(indexes.matrix, vector, k, exact=exact)
    return _having(found, indexes.embedded_rows(label), indexes.embedded_vectors(label))


def _having(found: Rows, nodes: Rows, vectors: Rows) -> Rows:
    """Return those of some nodes (n,) that have a vector which was ``found`` (m,). The ``vectors`` (n,) of the nodes,
    rows of the matrix, are ascending.
    """
    first, last = (np.searchsorted(vectors, found, side) for side in ("left", "right"))
    _, places = expand_ranges(first, last - first)  # nodes with the same text share a vector
    return nodes[places]


def _find_among(
    indexes: IndexSnapshot,
    label: Label,
    nodes: Nodes,
    vector: Vectors,
    k: int,
    rows: Rows,
    *,
    exact: bool,
) -> Rows:
    """Like :func:`_find_candidates`, among the given rows only. Few rows are compared by their numbers."""
    rows = rows[nodes.vector[rows] >= 0]
    if len(rows) == 0:
        return rows
    by_vector = rows[np.argsort(nodes.vector[rows], kind="stable")]
    vectors = nodes.vector[by_vector]
    if len(rows) <= (FEW_ROWS if indexes.scans(label) else COMPARED_AT_MOST):
        return by_vector[indexes.matrix.nearest(vectors, vector, k)]
    wanted = np.zeros(len(indexes.matrix.vectors), dtype=bool)
    wanted[vectors] = True
    found = indexes.vectors(label).nearest(indexes.matrix, vector, k, exact=exact, among=wanted)
    return _having(found, by_vector, vectors)


def expand_nearest(
    indexes: IndexSnapshot,
    labels: Sequence[Label],
    vector: Vectors,
    count: int,
    hop: Hop,
    limit: int | None,
    *,
    exact: bool,
    limits: Limits = _NO_LIMITS,
    allowed: Mask | None = None,
) -> list[Reached]:
    """Return chunks along a hop from the nearest nodes; see
    :meth:`trivium.graph.protocols.GraphStore.expand_nearest`.
    """
    chunks = indexes.topology.nodes[Label.CHUNK]
    return reach(
        nearest(indexes, labels, vector, count, exact=exact, limits=limits),
        lambda node: chunks_along(indexes.topology, node.label, node.row, hop),
        lambda rows: indexes.matrix.cosines(chunks.vector[rows], vector),
        indexes.topology.position,
        chunks.uris.take,
        np.zeros(len(chunks.ids), dtype=bool) if allowed is None else ~allowed,
        limit,
    )


def keyword_hits(indexes: IndexSnapshot, terms: Sequence[str], k: int) -> tuple[Floats, Rows]:
    """Return BM25 scores (n,) and rows (n,) of about the k best chunks by keywords, and of some more, unordered."""
    scores, numbers = indexes.keywords.search(terms, k)
    rows = indexes.topology.nodes[Label.CHUNK].rows_of(numbers)
    there = rows >= 0
    known = np.array(scores, dtype=np.float64)[there], rows[there]
    added = indexes.added_chunks()
    if not len(added) or k <= 0:
        return known
    more, added = score_words(indexes, added, terms)
    return np.concatenate([known[0], more]), np.concatenate([known[1], added])


def score_words(indexes: IndexSnapshot, rows: Rows, terms: Sequence[str]) -> tuple[Floats, Rows]:
    """Return BM25 scores (n,), computed as in the keyword index, and rows (n,) of the chunks that contain some of the
    terms.
    """
    wanted = list(dict.fromkeys(terms))
    counts = indexes.terms.count(rows, wanted)
    scores = keyword_scores(counts, term_statistics(indexes, wanted))
    some = np.flatnonzero((counts.text + counts.headings).sum(axis=1))
    return scores[some], rows[some]


def term_statistics(indexes: IndexSnapshot, terms: Sequence[str]) -> TermStatistics:
    """Return the number of chunks, their mean length, and the document frequencies of terms."""
    topology = indexes.topology
    return TermStatistics(len(topology.terms), topology.mean_terms, indexes.terms.document_frequency(terms))


def similarities(indexes: IndexSnapshot, vector: Vectors, uris: Sequence[str]) -> Similarities:
    """Return the cosines of chunks and of their sections, pages and entities (n,) each, NaN where undefined."""
    topology, nodes, count = indexes.topology, indexes.topology.nodes, len(uris)
    found = nodes[Label.CHUNK].uris.find_all(uris)
    above = _at(topology.section, found)
    lead = _at(nodes[Label.PAGE].vector, _at(topology.page, found))
    section = np.where(above >= 0, _at(nodes[Label.SUBCHAPTER].vector, above), lead)
    starts = _at(topology.cites.indptr, found)
    citing, places = expand_ranges(starts, _at(topology.cites.indptr[1:], found) - starts)
    cited = nodes[Label.ENTITY].vector[topology.cites.indices[places]]
    rows = np.concatenate([_at(nodes[Label.CHUNK].vector, found), section, lead, cited])
    # A page or an entity of several chunks is compared as often: that takes less than finding out which they are.
    cosines = indexes.matrix.cosines(rows, vector)
    entity = np.full(count, np.nan)
    np.fmax.at(entity, citing, cosines[3 * count :])
    chunk, of_section, of_page = cosines[: 3 * count].reshape(3, count)
    return Similarities(chunk, of_section, of_page, entity)


def _at(values: NDArray[np.integer[Any]], places: Rows) -> Rows:
    """The values (n,) at some places (n,), -1 where a place is."""
    known = places >= 0
    found = np.full(len(places), -1, dtype=np.int64)
    found[known] = values[places[known]]
    return found


class ArrayReads(ABC):
    """A part of a :class:`~trivium.graph.protocols.SearchStore`: what needs nothing but the index. Mappings have every
    node asked for as a key, with an empty list for unknown ones.
    """

    @abstractmethod
    def _current(self) -> IndexSnapshot:
        """Return the index of the committed state."""

    @property
    @abstractmethod
    def entities(self) -> str | None:
        """What recognises names in the texts of documents."""

    def nearest(
        self, labels: Sequence[Label], vector: Vectors, k: int, *, exact: bool = False
    ) -> list[Neighbour]:
        indexes = self._asked(vector)
        if indexes is None:
            return []
        found = nearest(indexes, labels, vector, k, exact=exact)
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
        return expand_nearest(indexes, labels, vector, nodes, hop, limit, exact=exact)

    def look_ahead(self, vectors: Sequence[Vectors], like: Vectors) -> None:
        """See :class:`trivium.graph.protocols.LooksAhead` and :func:`trivium.graph.arrays.search.look_ahead`."""
        look_ahead(self._current(), vectors, like)

    def similarities(self, vector: Vectors, chunks: Sequence[str]) -> Similarities:
        indexes = self._asked(vector)
        if indexes is None:
            return Similarities(*np.full((4, len(chunks)), np.nan))
        return similarities(indexes, vector, chunks)

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
        scores, rows = keyword_hits(indexes, terms, k)
        return indexes.topology.nodes[Label.CHUNK].uris.take(best(rows, scores, k)[0].tolist())

    def term_counts(self, chunks: Sequence[str], terms: Sequence[str]) -> TermCounts:
        indexes = self._current()
        return indexes.terms.count(indexes.topology.nodes[Label.CHUNK].uris.find_all(chunks), terms)

    def term_statistics(self, terms: Sequence[str]) -> TermStatistics:
        return term_statistics(self._current(), terms)

    def outline(self, pages: Sequence[str]) -> dict[str, list[str]]:
        return topology.outline(self._current().topology, pages)

    def expand(self, uris: Sequence[str], hop: Hop) -> dict[str, list[str]]:
        return topology.expand(self._current().topology, uris, hop)

    def cited(self, chunks: Sequence[str]) -> dict[str, list[str]]:
        return topology.cited(self._current().topology, chunks)

    def adjacency(self) -> Adjacency:
        return topology.adjacency(self._current().topology, names=self.entities is not None)

    def _asked(self, vector: Vectors) -> IndexSnapshot | None:
        """Return the index for a vector search; None if the store has no embedder yet."""
        indexes = self._current()
        if indexes.dimension == 0:
            return None
        check_query(vector, indexes.dimension)
        return indexes
