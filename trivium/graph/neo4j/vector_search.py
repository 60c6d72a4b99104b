"""Vector search: the nodes nearest to a question, the chunks they lead to, and cosines of given chunks."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Hashable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np

from trivium.common.arrays import dots
from trivium.common.cache import SingleFlight
from trivium.common.iteration import batched
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher import searching as cypher
from trivium.graph.neo4j.cypher.searching import Dialect
from trivium.graph.neo4j.prepare_database import ensure_vector_indexes
from trivium.graph.neo4j.store_cache import StoreCache
from trivium.graph.records import (
    Floats,
    Neighbour,
    Progress,
    Reached,
    Similarities,
    Vectors,
    rank_key,
)
from trivium.graph.schema import Hop, Label
from trivium.graph.stored_vectors import check_query
from trivium.graph.vector_search import in_order

INDEX_NEIGHBOURS = 200
"""Minimum number of neighbours requested from an index, which sets the width of its search: it then finds 99.7 % of
the 50 nearest chunks (98.5 % with 100 neighbours), at a cost of half a millisecond.
"""
ENTITY_NEIGHBOURS = 100
"""The same for entities, which are many and of which few are needed: it finds 99.0 % of the 10 nearest (99.5 % with
200 neighbours, which take a quarter longer).
"""
KEPT = (24, 64)
"""How many of them are read: the first of these that is enough, so that the retrievers of a question ask for the same
number and share the result.
"""
_SLACK = 32
"""Rows read beyond those requested, because the server orders scores that are equal to six digits differently."""
_ALL = 1 << 40
_REMEMBERED = 64
TIES = 14
"""Neighbours read beyond those requested, because scores may tie to six digits."""
_SHARES = 2
"""Number of queries into which a comparison of many chunks is split. The server runs each on its own thread."""
_WORTH_SHARING = 32
_EMBEDDING = 4
"""Index of the embedding in a chunk's row."""

_log = logging.getLogger(__name__)
_Key = tuple[Hashable, Label, int, bytes]
"""State of the store, label, number of neighbours read (a wider search finds others), and the vector."""


class Searcher:
    """Searches a store. Thread-safe.

    If several retrievers of a question ask for the same neighbours concurrently, each index is queried once.
    """

    def __init__(self, connection: Connection, cache: StoreCache, dialect: Dialect) -> None:
        self._connection = connection
        self._cache = cache
        self._dialect = dialect
        self._flights: SingleFlight[_Key, list[Neighbour]] = SingleFlight(_REMEMBERED)
        self._indexing = threading.Lock()

    def nearest(self, labels: Sequence[Label], vector: Vectors, k: int, *, exact: bool) -> list[Neighbour]:
        """See :meth:`trivium.graph.protocols.GraphStore.nearest`. One round trip."""
        wanted = distinct(labels)
        if k <= 0 or not wanted or not self.ready(vector):
            return []
        if exact:
            return best(self._compare_all(wanted, vector, k), k)
        kept = _kept(k)
        with self._flights.claim(self._keys(wanted, vector, kept)) as (answers, mine):
            self._ask_indexes(vector, kept, mine)
        return best([node for answer in answers for node in answer.result()], k)

    def expand_nearest(
        self,
        labels: Sequence[Label],
        vector: Vectors,
        nodes: int,
        hop: Hop,
        limit: int | None,
        *,
        exact: bool,
    ) -> list[Reached]:
        """See :meth:`trivium.graph.protocols.GraphStore.expand_nearest`. One round trip; two if ``exact``, or if
        another retriever is already asking for some of the neighbours.
        """
        wanted = distinct(labels)
        if nodes <= 0 or (limit is not None and limit <= 0) or not wanted or not self.ready(vector):
            return []
        asked = {"vector": vector.tolist(), "rows": _ALL if limit is None else limit + _SLACK}
        if exact:
            near = self.nearest(wanted, vector, nodes, exact=True)
            return in_order(self._reach_from(near, hop, asked, vector, exact=True), limit)
        kept = _kept(nodes)
        with self._flights.claim(self._keys(wanted, vector, kept)) as (answers, mine):
            if len(mine) == len(answers):
                query = cypher.expand_nearest(wanted, hop, self._dialect)
                asked |= {"nodes": nodes, **_of_indexes(wanted, kept)}
                found, starts, chunks = self._connection.read(query, asked)[0]
                _hand_out(found, mine)
                return in_order(_reached(starts, chunks, vector), limit)
            self._ask_indexes(vector, kept, mine)
        near = best([node for answer in answers for node in answer.result()], nodes)
        return in_order(self._reach_from(near, hop, asked, vector, exact=False), limit)

    def nearest_by_index(self, label: Label, vector: Vectors, count: int) -> list[Neighbour]:
        """Return about the ``count`` nearest nodes of a label from its index, unordered."""
        query = cypher.nearest((label,), self._dialect)
        asked = {"vector": vector.tolist(), "count": count, "kept": count}
        found = self._connection.read(query, asked)[0][0]
        return [Neighbour(uri, _clipped(cosine)) for _, uri, cosine in found]

    def nearest_among(self, label: Label, vector: Vectors, uris: Sequence[str], k: int) -> list[Neighbour]:
        """Return candidates for the k nearest of some nodes of a label, compared exactly."""
        asked = {"count": k + _SLACK, "vector": vector.tolist(), "uris": list(uris)}
        rows = self._connection.read(cypher.nearest_among(label), asked)[0][0]
        cosines = _products([embedding for _, embedding in rows], vector)
        return [Neighbour(uri, score) for (uri, _), score in zip(rows, cosines.tolist(), strict=True)]

    def places(self, chunks: Sequence[str], vector: Vectors) -> dict[str, tuple[int, float]]:
        """Map the uris of chunks to their positions on the page and cosines (NaN without a vector)."""
        found = self._connection.read(cypher.PLACES, {"chunks": list(chunks), "vector": vector.tolist()})[0][
            0
        ]
        return {
            uri: (position, math.nan if similarity is None else _clipped(2 * similarity - 1))
            for uri, position, similarity in found
        }

    def _reach_from(
        self, near: Sequence[Neighbour], hop: Hop, asked: dict[str, Any], vector: Vectors, *, exact: bool
    ) -> list[Reached]:
        query = cypher.reach_from(hop, embeddings=exact)
        starts = [[node.uri, node.score] for node in near]
        answer = self._connection.read(query, {**asked, "near": starts})[0]
        return _reached(answer[0], answer[1], vector)

    def similarities(self, vector: Vectors, chunks: Sequence[str]) -> Similarities:
        """See :meth:`trivium.graph.protocols.GraphStore.similarities`. One round trip, of two queries for many
        chunks.
        """
        views = np.full((4, len(chunks)), np.nan)
        if len(chunks) and self.ready(vector):
            distinct = list(dict.fromkeys(chunks))
            parts = list(batched(distinct, max(_WORTH_SHARING, -(-len(distinct) // _SHARES))))
            asked = [{"chunks": part, "vector": vector.tolist()} for part in parts]
            answers = self._connection.read_at_once([cypher.SIMILARITIES] * len(parts), asked)
            highest = np.concatenate(
                [
                    np.stack([_highest(view, len(part)) for view in answer])
                    for part, (answer,) in zip(parts, answers, strict=True)
                ],
                axis=1,
            )
            places = {uri: place for place, uri in enumerate(distinct)}
            views = highest[:, [places[uri] for uri in chunks]]
        return Similarities(*views)

    def ready(self, vector: Vectors) -> bool:
        """Whether the store can be searched with the vector. Creates missing vector indexes, and waits for them.
        Raises StoreError for a vector of another dimension.
        """
        state = self._cache.state(self._connection)
        if state.embedder is None:
            return False
        check_query(vector, state.dimension)
        with self._indexing:
            if not self._cache.indexed.find(state.key, ["vectors"]):
                ensure_vector_indexes(self._connection, _announce(self._connection))
                self._cache.indexed.put(state.key, {"vectors": True})
        return True

    def _keys(self, labels: Sequence[Label], vector: Vectors, kept: int) -> list[_Key]:
        state = self._cache.state(self._connection).key
        return [(state, label, kept, vector.tobytes()) for label in labels]

    def _ask_indexes(
        self, vector: Vectors, kept: int, wanted: Mapping[_Key, Future[list[Neighbour]]]
    ) -> None:
        """Complete the futures in ``wanted``, in one round trip."""
        if wanted:
            labels = tuple(label for _, label, _, _ in wanted)
            query = cypher.nearest(labels, self._dialect)
            asked = {"vector": vector.tolist(), **_of_indexes(labels, kept)}
            _hand_out(self._connection.read(query, asked)[0][0], wanted)

    def _compare_all(self, labels: tuple[Label, ...], vector: Vectors, k: int) -> list[Neighbour]:
        """Return candidates for the k nearest by comparing every node: approximately on the server, exactly here."""
        asked = {"count": k + _SLACK, "vector": vector.tolist()}
        answers = self._connection.read_at_once(
            [cypher.nearest_of_all(label) for label in labels], [asked] * len(labels)
        )
        rows = [row for answer in answers for row in answer[0][0]]
        cosines = _products([embedding for _, embedding in rows], vector)
        return [Neighbour(uri, score) for (uri, _), score in zip(rows, cosines.tolist(), strict=True)]


def _announce(connection: Connection) -> Progress:
    """Return a progress callback that logs once that the search has to wait."""
    reported = False

    def progress(done: int, total: int) -> None:
        nonlocal reported
        if done < total and not reported:
            reported = True
            _log.warning("the vector indexes of %s are being filled: the search waits", connection.address)

    return progress


def distinct(labels: Sequence[Label]) -> tuple[Label, ...]:
    """Return labels without common nodes: pages are entities."""
    wanted = dict.fromkeys(labels)
    if Label.ENTITY in wanted:
        wanted.pop(Label.PAGE, None)
    return tuple(wanted)


def _kept(k: int) -> int:
    """Return how many neighbours to read for the k nearest, including some for ties."""
    wanted = k + TIES
    return next((kept for kept in KEPT if wanted <= kept), max(wanted, INDEX_NEIGHBOURS))


def _of_indexes(labels: Sequence[Label], kept: int) -> dict[str, Any]:
    """Return the query parameters for the number of neighbours from the indexes of labels."""
    width = ENTITY_NEIGHBOURS if set(labels) == {Label.ENTITY} else INDEX_NEIGHBOURS
    return {"count": max(kept, width), "kept": kept}


def _hand_out(
    found: Sequence[tuple[int, str, float]], wanted: Mapping[_Key, Future[list[Neighbour]]]
) -> None:
    """Complete each future with its neighbours, from (index in ``wanted``, uri, cosine)."""
    near: list[list[Neighbour]] = [[] for _ in wanted]
    for place, uri, cosine in found:
        near[place].append(Neighbour(uri, _clipped(cosine)))
    for answer, nodes in zip(wanted.values(), near, strict=True):
        answer.set_result(nodes)


def best(nodes: Iterable[Neighbour], k: int) -> list[Neighbour]:
    """Return the k best nodes, best first; ties by uri."""
    return sorted(nodes, key=lambda node: rank_key(node.score, node.uri))[:k]


def _reached(starts: list[tuple[str, float]], chunks: list[list[Any]], vector: Vectors) -> list[Reached]:
    """Return chunks with the best node that leads there, from what a query of :mod:`.cypher.searching` found."""
    best_first = sorted(range(len(starts)), key=lambda place: rank_key(starts[place][1], starts[place][0]))
    rank = {place: number for number, place in enumerate(best_first)}
    reached = []
    for (uri, position, _, places, *_), cosine in zip(chunks, _own_cosines(chunks, vector), strict=True):
        source_node, score = starts[min(places, key=rank.__getitem__)]
        reached.append(Reached(uri, source_node, _clipped(score), cosine, position))
    return reached


def _own_cosines(chunks: list[list[Any]], vector: Vectors) -> list[float]:
    """Return the cosines of chunks with the question, NaN without an embedding: the server's, or from the embeddings
    if these were returned.
    """
    cosines = [math.nan if chunk[2] is None else _clipped(2 * chunk[2] - 1) for chunk in chunks]
    places = [place for place, chunk in enumerate(chunks) if len(chunk) > _EMBEDDING and chunk[_EMBEDDING]]
    exact = _products([chunks[place][_EMBEDDING] for place in places], vector)
    for place, cosine in zip(places, exact.tolist(), strict=True):
        cosines[place] = cosine
    return cosines


def _highest(view: list[tuple[float | None, list[int]]], count: int) -> Floats:
    """Return the highest cosine at each of ``count`` positions, NaN without any. ``view`` holds similarities of nodes
    with the positions they apply to.
    """
    highest = np.full(count, np.nan)
    sizes = [len(places) for _, places in view]
    similarities = np.array([similarity for similarity, _ in view], dtype=np.float64)  # None becomes NaN
    cosines = np.clip(2 * np.repeat(similarities, sizes) - 1, -1.0, 1.0)
    np.fmax.at(highest, [place for _, places in view for place in places], cosines)
    return highest


def _clipped(cosine: float) -> float:
    """Clip to [-1, 1], since the server computes in single precision."""
    return min(max(cosine, -1.0), 1.0)


def _products(embeddings: Sequence[Sequence[float]], vector: Vectors) -> Floats:
    """Return the cosines of unit vectors with a unit vector, summed in double precision."""
    values = np.array(embeddings, dtype=np.float64).reshape(len(embeddings), vector.size)
    return dots(values, vector, limit=1.0)
