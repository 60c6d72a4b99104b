"""The index restricted by a condition: the rows that match, and searches among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from trivium.errors import StoreBusyError
from trivium.graph.arrays import search, topology
from trivium.graph.arrays.array_files import Rows, distinct
from trivium.graph.arrays.search import Limit, Limits
from trivium.graph.arrays.snapshot import IndexSnapshot
from trivium.graph.filter_conditions import Condition
from trivium.graph.filter_matching import Allowed, ChunkFacts
from trivium.graph.filtered_store import Within
from trivium.graph.protocols import SearchStore
from trivium.graph.records import Floats, Neighbour, Reached, Vectors
from trivium.graph.schema import Hop, Label
from trivium.graph.stored_vectors import check_query
from trivium.graph.vector_search import best

COUNTED_AT_MOST = 4_096
"""Terms are counted directly for up to this many chunks; above that the keyword index is queried."""
_MARGIN = 1.5
_ATTEMPTS = 20


class ArrayWithin(Within):
    """See :class:`trivium.graph.filtered_store.Within`. ``facts`` returns the values that conditions test in the state
    of an index, None if the store has changed since.
    """

    def __init__(
        self,
        store: SearchStore,
        condition: Condition,
        current: Callable[[], IndexSnapshot],
        facts: Callable[[IndexSnapshot], ChunkFacts | None],
    ) -> None:
        super().__init__(store, condition)
        self._current = current
        self._facts = facts

    @property
    def allowed(self) -> Allowed:
        return self._state()[1]

    def nearest(
        self, labels: Sequence[Label], vector: Vectors, k: int, *, exact: bool = False
    ) -> list[Neighbour]:
        indexes, allowed = self._asked(vector)
        if indexes.dimension == 0:
            return []
        # Entities are only intermediate nodes, so all of them are allowed.
        limits: Limits = {
            label: _limit(indexes, allowed, label, None) for label in labels if label is not Label.ENTITY
        }
        found = search.nearest(indexes, labels, vector, k, exact=exact, limits=limits)
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
        indexes, allowed = self._asked(vector)
        if indexes.dimension == 0:
            return []
        limits: Limits = {label: _limit(indexes, allowed, label, hop) for label in labels}
        return search.expand_nearest(
            indexes, labels, vector, nodes, hop, limit, exact=exact, limits=limits, allowed=allowed.mask
        )

    def keyword_search(self, terms: Sequence[str], k: int) -> list[str]:
        indexes, allowed = self._state()
        if k <= 0 or not terms or not len(allowed.rows):
            return []
        if len(allowed.rows) <= COUNTED_AT_MOST:
            scores, rows = search.score_words(indexes, allowed.rows, terms)
        else:
            scores, rows = _ask_index(indexes, allowed, terms, k)
        return indexes.topology.nodes[Label.CHUNK].uris.take(best(rows, scores, k)[0].tolist())

    def expand(self, uris: Sequence[str], hop: Hop) -> dict[str, list[str]]:
        indexes, allowed = self._state()
        return topology.expand(indexes.topology, uris, hop, allowed.mask)

    def outline(self, pages: Sequence[str]) -> dict[str, list[str]]:
        indexes, allowed = self._state()
        wanted = np.zeros(len(indexes.topology.nodes[Label.SUBCHAPTER].ids), dtype=bool)
        wanted[_limit(indexes, allowed, Label.SUBCHAPTER, None).rows] = True
        return topology.outline(indexes.topology, pages, wanted)

    # -- what matches ----------------------------------------------------------------------------------------------

    def _asked(self, vector: Vectors) -> tuple[IndexSnapshot, Allowed]:
        indexes, allowed = self._state()
        if indexes.dimension:
            check_query(vector, indexes.dimension)
        return indexes, allowed

    def _state(self) -> tuple[IndexSnapshot, Allowed]:
        """Return the indexes and the matching chunks of the same state."""
        for _ in range(_ATTEMPTS):
            indexes = self._current()
            allowed = indexes.conditions.find(None, [self._condition]).get(self._condition)
            if allowed is None:
                facts = self._facts(indexes)
                if facts is None:
                    continue
                allowed = Allowed.of(self._condition, facts)
                indexes.conditions.put(None, {self._condition: allowed})
            return indexes, allowed
        raise StoreBusyError(
            f"the store at {self.location} is written to without a pause: try again when that has finished"
        )


def _limit(indexes: IndexSnapshot, allowed: Allowed, label: Label, hop: Hop | None) -> Limit:
    """Return the nodes of a label that lead to matching chunks: along a hop, or by containing them."""
    graph, rows = indexes.topology, allowed.rows
    key = (allowed.condition, label, hop)
    known: Limit | None = indexes.limits.find(None, [key]).get(key)
    if known is not None:
        return known
    count = len(graph.nodes[label].ids)
    if label is Label.CHUNK:
        found = rows if hop is None else rows[:0]
    elif label is Label.SUBCHAPTER:
        found = distinct(graph.section[rows], count) if hop in (None, Hop.CHILD) else rows[:0]
    elif hop is Hop.CITED_IN:
        found = distinct(graph.cites.rows(rows)[0], len(graph.nodes[Label.ENTITY].ids)) if len(rows) else rows
        if label is Label.PAGE:
            found = np.flatnonzero(np.isin(graph.page_entity, found))
    else:
        if hop is Hop.CHILD:
            rows = rows[graph.section[rows] < 0]
        found = distinct(graph.page[rows], len(graph.nodes[Label.PAGE].ids))
        if label is Label.ENTITY:
            found = distinct(graph.page_entity[found], count)
    limit = Limit(key, found)
    indexes.limits.put(None, {key: limit})
    return limit


def _ask_index(indexes: IndexSnapshot, allowed: Allowed, terms: Sequence[str], k: int) -> tuple[Floats, Rows]:
    """Return scores (n,) and rows (n,) of about the k best matching chunks by the keyword index, and some more. The
    index is queried for increasingly many chunks until enough of them match.
    """
    count = int(_MARGIN * k * len(allowed.mask) / len(allowed.rows))
    while True:
        scores, rows = search.keyword_hits(indexes, terms, count)
        fits = allowed.mask[rows]
        if np.count_nonzero(fits) >= k or len(rows) < count:
            return scores[fits], rows[fits]
        count *= 4
