"""A question's view of a store with a replica: a single state throughout, without waiting for the server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from trivium.graph.filters import Condition
from trivium.graph.model import RelationEdge
from trivium.graph.neo4j.replica.replica import Replica
from trivium.graph.protocols import SearchStore
from trivium.graph.records import (
    Adjacency,
    ChunkRecord,
    Neighbour,
    Reached,
    SentenceVectors,
    Similarities,
    TermCounts,
    TermStatistics,
    Vectors,
)
from trivium.graph.schema import Hop, Label
from trivium.graph.view import StoreView
from trivium.types import EmbedderIdentity


class LateView(StoreView):
    """A store that turns out at the first read to be its replica or not."""

    allowed = None
    remote = False
    """True in nearly all cases. Only a question right after a write finds its replica outdated; its reads are then
    sequential.
    """

    def __init__(self, find: Callable[[], SearchStore]) -> None:
        self._find = find
        self._lock = threading.Lock()
        self._found: SearchStore | None = None

    @property
    def _store(self) -> SearchStore:  # type: ignore[override]  # an attribute of other views
        with self._lock:
            if self._found is None:
                self._found = self._find()
            return self._found

    def within(self, condition: Condition) -> SearchStore:
        return self._store.within(condition)

    @contextmanager
    def pinned(self) -> Iterator[SearchStore]:
        yield self


Limit = Callable[[SearchStore, Condition], SearchStore]
"""Returns the view of a store restricted by a condition."""


class ReplicaView(StoreView):
    """Reads from the replica, and from the store what the replica lacks (pictures, whole pages)."""

    def __init__(self, store: SearchStore, replica: Replica, limit: Limit) -> None:
        super().__init__(store)
        self._replica = replica
        self._limit = limit

    allowed = None
    remote = False

    @property
    def embedder(self) -> EmbedderIdentity | None:
        return self._replica.state.embedder

    @property
    def languages(self) -> str | None:
        return self._replica.state.languages

    def within(self, condition: Condition) -> SearchStore:
        return self._limit(self, condition)

    @contextmanager
    def pinned(self) -> Iterator[SearchStore]:
        yield self

    def nearest(
        self,
        labels: Sequence[Label],
        vector: Vectors,
        k: int,
        *,
        exact: bool = False,  # noqa: ARG002 - it always is
    ) -> list[Neighbour]:
        return [Neighbour(found.uri, found.score) for found in self._replica.nearest(labels, vector, k)]

    def expand_nearest(
        self,
        labels: Sequence[Label],
        vector: Vectors,
        nodes: int,
        hop: Hop,
        limit: int | None,
        *,
        exact: bool = False,  # noqa: ARG002 - it always is
    ) -> list[Reached]:
        return self._replica.expand_nearest(labels, vector, nodes, hop, limit)

    def keyword_search(self, terms: Sequence[str], k: int) -> list[str]:
        return self._replica.keyword_search(terms, k)

    def expand(self, uris: Sequence[str], hop: Hop) -> dict[str, list[str]]:
        return self._replica.expand(uris, hop)

    def outline(self, pages: Sequence[str]) -> dict[str, list[str]]:
        return self._replica.outline(pages)

    def adjacency(self) -> Adjacency:
        return self._replica.topology.adjacency

    def fetch(self, chunks: Sequence[str]) -> list[ChunkRecord]:
        return self._replica.fetch(chunks)

    def lookup_names(self, names: Sequence[str]) -> dict[str, str]:
        known = self._replica.names
        return {name: known[name] for name in names if name in known}

    def relations(self, entities: Sequence[str]) -> list[RelationEdge]:
        return self._replica.relations_of(entities)

    def similarities(self, vector: Vectors, chunks: Sequence[str]) -> Similarities:
        return self._replica.similarities(vector, chunks)

    def vectors(self, label: Label, uris: Sequence[str]) -> Vectors:
        return self._replica.gather(label, uris)

    def sentence_vectors(self, chunks: Sequence[str]) -> SentenceVectors:
        return self._replica.sentences_of(chunks)

    def relation_vectors(self, types: Sequence[str]) -> Vectors:
        return self._replica.gather_types(types)

    def term_counts(self, chunks: Sequence[str], terms: Sequence[str]) -> TermCounts:
        return self._replica.term_counts(chunks, terms)

    def term_statistics(self, terms: Sequence[str]) -> TermStatistics:
        return self._replica.term_statistics(terms)
