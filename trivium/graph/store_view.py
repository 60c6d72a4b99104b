"""A store seen through: every read is the store's own, until a view overrides it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager

from trivium.graph.allowed_chunks import Allowed
from trivium.graph.filters import Condition
from trivium.graph.model import RelationEdge
from trivium.graph.pictures import PictureVectors
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
    WaitingTexts,
)
from trivium.graph.schema import Hop, Label
from trivium.types import EmbedderIdentity


class StoreView(ABC):
    """A :class:`~trivium.graph.protocols.SearchStore` on top of another one."""

    def __init__(self, store: SearchStore) -> None:
        self._store = store

    @property
    @abstractmethod
    def allowed(self) -> Allowed | None:
        """The chunks that a condition leaves; None where none limits the view."""

    @abstractmethod
    def within(self, condition: Condition) -> SearchStore: ...

    @abstractmethod
    def pinned(self) -> AbstractContextManager[SearchStore]: ...

    def waiting_texts(self) -> WaitingTexts:
        return self._store.waiting_texts()

    def nearest(
        self, labels: Sequence[Label], vector: Vectors, k: int, *, exact: bool = False
    ) -> list[Neighbour]:
        return self._store.nearest(labels, vector, k, exact=exact)

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
        return self._store.expand_nearest(labels, vector, nodes, hop, limit, exact=exact)

    def keyword_search(self, terms: Sequence[str], k: int) -> list[str]:
        return self._store.keyword_search(terms, k)

    def expand(self, uris: Sequence[str], hop: Hop) -> dict[str, list[str]]:
        return self._store.expand(uris, hop)

    def outline(self, pages: Sequence[str]) -> dict[str, list[str]]:
        return self._store.outline(pages)

    def adjacency(self) -> Adjacency:
        return self._store.adjacency()

    def chunk_uris(self) -> list[str]:
        return self._store.chunk_uris()

    def picture_vectors(self) -> PictureVectors:
        return self._store.picture_vectors()

    @property
    def location(self) -> str:
        return self._store.location

    @property
    def remote(self) -> bool:
        return self._store.remote

    @property
    def languages(self) -> str | None:
        return self._store.languages

    @property
    def embedder(self) -> EmbedderIdentity | None:
        return self._store.embedder

    def cited(self, chunks: Sequence[str]) -> dict[str, list[str]]:
        return self._store.cited(chunks)

    def cited_sections(self, chunks: Sequence[str]) -> dict[str, list[str]]:
        return self._store.cited_sections(chunks)

    def fetch(self, chunks: Sequence[str]) -> list[ChunkRecord]:
        return self._store.fetch(chunks)

    def thumbnails(self, chunks: Sequence[str]) -> dict[str, bytes]:
        return self._store.thumbnails(chunks)

    def page_text(self, page: str) -> str:
        return self._store.page_text(page)

    def resolve(self, titles: Sequence[str]) -> dict[str, str]:
        return self._store.resolve(titles)

    def lookup_names(self, names: Sequence[str]) -> dict[str, str]:
        return self._store.lookup_names(names)

    def names_like(self, forms: Sequence[str]) -> Iterable[tuple[str, str]]:
        return self._store.names_like(forms)

    def aliases(self) -> list[str]:
        return self._store.aliases()

    def names(self) -> Iterator[tuple[str, str]]:
        return self._store.names()

    def relations(self, entities: Sequence[str]) -> list[RelationEdge]:
        return self._store.relations(entities)

    def similarities(self, vector: Vectors, chunks: Sequence[str]) -> Similarities:
        return self._store.similarities(vector, chunks)

    def vectors(self, label: Label, uris: Sequence[str]) -> Vectors:
        return self._store.vectors(label, uris)

    def sentence_vectors(self, chunks: Sequence[str]) -> SentenceVectors:
        return self._store.sentence_vectors(chunks)

    @property
    def image_embedder(self) -> EmbedderIdentity | None:
        return self._store.image_embedder

    def relation_vectors(self, types: Sequence[str]) -> Vectors:
        return self._store.relation_vectors(types)

    def term_counts(self, chunks: Sequence[str], terms: Sequence[str]) -> TermCounts:
        return self._store.term_counts(chunks, terms)

    def term_statistics(self, terms: Sequence[str]) -> TermStatistics:
        return self._store.term_statistics(terms)
