"""A Neo4j store restricted by a condition. Matching chunks are determined locally, from page properties that are read
once per state; the server is queried for neighbours until enough of them match.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.common import stopping
from trivium.common.iteration import batched
from trivium.errors import StoreBusyError
from trivium.graph.filter_conditions import Condition
from trivium.graph.filter_matching import Allowed, ChunkFacts, Coded
from trivium.graph.filtered_store import Within
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher import scanning
from trivium.graph.neo4j.cypher import searching as cypher
from trivium.graph.neo4j.keyword_search import any_of
from trivium.graph.neo4j.reader import GraphReads
from trivium.graph.neo4j.store_cache import StoreCache
from trivium.graph.neo4j.vector_search import INDEX_NEIGHBOURS, TIES, Searcher, best, distinct
from trivium.graph.neo4j.walk_graph import project
from trivium.graph.protocols import SearchStore
from trivium.graph.records import Neighbour, Reached, Vectors, rank_key, round_score
from trivium.graph.schema import Hop, Label
from trivium.graph.vector_search import in_order

COMPARED_AT_MOST = 1_000
"""Up to this many matching nodes are compared exhaustively; for more, the index is queried."""
ASKED_AT_MOST = 4_000
"""Maximum number of neighbours requested from an index; beyond that, nodes are compared exhaustively."""
_ROWS_A_READ = 20_000
_MARGIN = 1.5
_ATTEMPTS = 3
_FACTS = "facts"


class Neo4jWithin(Within):
    """See :class:`trivium.graph.filtered_store.Within`, of a store that is not held in memory."""

    remote = True

    def __init__(
        self,
        store: SearchStore,
        condition: Condition,
        connection: Connection,
        cache: StoreCache,
        searcher: Searcher,
    ) -> None:
        super().__init__(store, condition)
        self._connection = connection
        self._cache = cache
        self._searcher = searcher

    @property
    def allowed(self) -> Allowed:
        key = self._cache.state(self._connection).content_key
        found = self._cache.conditions.find(key, [self._condition]).get(self._condition)
        if found is None:
            key, facts = self._facts()
            found = Allowed.of(self._condition, facts)
            self._cache.conditions.put(key, {self._condition: found})
        return found

    def nearest(
        self, labels: Sequence[Label], vector: Vectors, k: int, *, exact: bool = False
    ) -> list[Neighbour]:
        if k <= 0 or not self._searcher.ready(vector):
            return []
        found: list[Neighbour] = []
        for label in distinct(labels):
            if label is Label.ENTITY:
                found += self._store.nearest([label], vector, k, exact=exact)
            else:
                found += self._nearest_among(label, vector, k, self._leading(label, None), exact=exact)
        return best(found, k)

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
        if nodes <= 0 or (limit is not None and limit <= 0) or not self._searcher.ready(vector):
            return []
        near: dict[str, Neighbour] = {}
        for label in dict.fromkeys(labels):
            leading = self._leading(label, hop)
            for node in self._nearest_among(label, vector, nodes, leading, exact=exact):
                near.setdefault(node.uri, node)
        starts = best(near.values(), nodes)
        by_node = self.expand([node.uri for node in starts], hop)
        sources: dict[str, Neighbour] = {}
        for place, node in enumerate(starts):
            # Skip nodes once better ones fill the list by themselves.
            tied = place > 0 and round_score(node.score) == round_score(starts[place - 1].score)
            if limit is not None and len(sources) >= limit and not tied:
                break
            for uri in by_node[node.uri]:
                sources.setdefault(uri, node)
        places = self._searcher.places(list(sources), vector) if sources else {}
        reached = [
            Reached(uri, node.uri, node.score, places[uri][1], places[uri][0])
            for uri, node in sources.items()
            if uri in places
        ]
        return in_order(reached, limit)

    def keyword_search(self, terms: Sequence[str], k: int) -> list[str]:
        query, allowed = any_of(terms), self.allowed
        if not query or k <= 0 or not len(allowed.rows):
            return []
        count = int(_MARGIN * k * len(allowed.mask) / len(allowed.rows)) + 1
        while True:
            hits = self._connection.read(cypher.KEYWORD_HITS, {"query": query, "count": count})[0][0]
            found = [(uri, score) for uri, score in hits if uri in allowed.uri_set]
            if len(found) >= k or len(hits) < count:
                return [uri for uri, score in sorted(found, key=lambda hit: rank_key(hit[1], hit[0]))][:k]
            count *= 4

    def _nearest_among(
        self, label: Label, vector: Vectors, k: int, uris: frozenset[str], *, exact: bool
    ) -> list[Neighbour]:
        """Return candidates for the k nearest of some nodes."""
        total = self._count(label)
        if not exact and len(uris) > COMPARED_AT_MOST:
            count = max(INDEX_NEIGHBOURS, int(_MARGIN * (k + TIES) * total / len(uris)))
            while count <= ASKED_AT_MOST:
                found = self._searcher.nearest_by_index(label, vector, count)
                allowed = [node for node in found if node.uri in uris]
                if len(allowed) >= k or len(found) < count:
                    return best(allowed, k)
                count *= 4
        if not uris:
            return []
        return best(self._searcher.nearest_among(label, vector, sorted(uris), k), k)

    def _count(self, label: Label) -> int:
        """Return the approximate number of nodes of a label."""
        if label is Label.ENTITY:
            return len(project(self._connection, self._cache).entities)
        facts = self._facts()[1]
        if label is Label.CHUNK:
            return len(facts.chunks)
        return len(facts.pages) if label is Label.PAGE else len(facts.sections[0])

    def _leading(self, label: Label, hop: Hop | None) -> frozenset[str]:
        """Return the nodes of a label that lead to matching chunks: along a hop, or by containing them."""
        allowed = self.allowed
        if label is Label.CHUNK:
            return allowed.uri_set if hop is None else frozenset()
        if label is Label.SUBCHAPTER:
            return allowed.parents - allowed.pages if hop in (None, Hop.CHILD) else frozenset()
        if hop is Hop.CITED_IN:
            cited = self._cited(allowed)
            return cited & frozenset(self._all_pages()) if label is Label.PAGE else cited
        return allowed.parents & allowed.pages if hop is Hop.CHILD else allowed.pages

    def _cited(self, allowed: Allowed) -> frozenset[str]:
        """Return the entities cited by matching chunks, read once per condition."""
        key = self._cache.state(self._connection).content_key
        found = self._cache.cited.find(key, [allowed.condition]).get(allowed.condition)
        if found is None:
            cited: set[str] = set()
            for some in stopping.each(batched(allowed.uris, _ROWS_A_READ), 1):
                for uris in self._store.cited(some).values():
                    cited.update(uris)
            found = frozenset(cited)
            self._cache.cited.put(key, {allowed.condition: found})
        return found

    def _all_pages(self) -> list[str]:
        return [page.uri for page in self._facts()[1].pages]

    def _facts(self) -> tuple[object, ChunkFacts]:
        """Return the values that conditions test, and the state they belong to."""
        for _ in range(_ATTEMPTS):
            state = self._cache.state(self._connection, now=True)
            facts = self._cache.facts.find(state.content_key, [_FACTS]).get(_FACTS)
            if facts is None:
                facts = _read_facts(self._connection, self._cache)
                if self._cache.state(self._connection, now=True).content_key != state.content_key:
                    continue
                self._cache.facts.put(state.content_key, {_FACTS: facts})
            return state.content_key, facts
        raise StoreBusyError(
            f"the store at {self._connection.address} is written to without a pause: try again when that has finished"
        )


def _read_facts(connection: Connection, cache: StoreCache) -> ChunkFacts:
    rows = sorted(
        (row for part in connection.batches(scanning.CHUNK_FACTS, _ROWS_A_READ) for row in part),
        key=lambda row: row[-1],
    )
    pages = GraphReads(connection, cache).pages()
    kinds = Coded.of([row[0] for row in rows])
    numbers: NDArray[np.int64] = np.array([row[1:3] for row in rows], dtype=np.int64).reshape(-1, 2)
    return ChunkFacts([row[-1] for row in rows], lambda: pages, lambda: (kinds, numbers))
