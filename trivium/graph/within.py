"""A store as a condition leaves it: a view in which only the chunks that match are found.

The graph stays whole. Walks go through every page and entity, and statistics of words are those of all chunks; but what
is nearest, what shares words and where hops lead are chunks that match, as many as asked for if there are as many. Pages
and sections are only found when a chunk that matches stands under them, and lead to such chunks alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from trivium.graph.filter_values import ChunkFacts, Mask, matching, unknown_names
from trivium.graph.filters import All, Condition
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
)
from trivium.graph.schema import Hop, Label, page_of, section_of
from trivium.types import EmbedderIdentity


@dataclass(frozen=True)
class Allowed:
    """The chunks that match: ``mask`` (n,) over ``chunks``, which are all there are, in uri order."""

    condition: Condition
    chunks: Sequence[str]
    mask: Mask
    hints: tuple[str, ...] = ()
    """Why nothing matches, for people; none where something does."""

    @classmethod
    def of(cls, condition: Condition, facts: ChunkFacts) -> Allowed:
        """The chunks that match, of all that ``facts`` knows of."""
        mask = matching(condition, facts)
        found = () if mask.any() else ("no passage fulfils the condition", *unknown_names(condition, facts))
        return cls(condition, facts.chunks, mask, found)

    @cached_property
    def rows(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Which chunks match, ascending."""
        return np.flatnonzero(self.mask)

    def has(self, uri: str) -> bool:
        """Whether a chunk is there and matches. Makes no set of all of them."""
        row = bisect_left(self.chunks, uri)
        return row < len(self.chunks) and self.chunks[row] == uri and bool(self.mask[row])

    @cached_property
    def uris(self) -> list[str]:
        """Of the chunks that match, in uri order."""
        return [self.chunks[row] for row in self.rows.tolist()]

    @cached_property
    def uri_set(self) -> frozenset[str]:
        """The same as a set."""
        return frozenset(self.uris)

    @cached_property
    def parents(self) -> frozenset[str]:
        """Pages and sections directly above chunks that match."""
        return frozenset(map(section_of, self.uris))

    @cached_property
    def pages(self) -> frozenset[str]:
        """Pages of chunks that match."""
        return frozenset(map(page_of, self.uris))


class Within(ABC):
    """A :class:`~trivium.graph.protocols.SearchStore` limited by a condition."""

    def __init__(self, store: SearchStore, condition: Condition) -> None:
        self._store = store
        self._condition = condition

    @property
    @abstractmethod
    def allowed(self) -> Allowed:
        """The chunks that match, in the state of the store."""

    @abstractmethod
    def nearest(
        self, labels: Sequence[Label], vector: Vectors, k: int, *, exact: bool = False
    ) -> list[Neighbour]: ...

    @abstractmethod
    def expand_nearest(
        self,
        labels: Sequence[Label],
        vector: Vectors,
        nodes: int,
        hop: Hop,
        limit: int | None,
        *,
        exact: bool = False,
    ) -> list[Reached]: ...

    @abstractmethod
    def keyword_search(self, terms: Sequence[str], k: int) -> list[str]: ...

    # -- limited -------------------------------------------------------------------------------------------------

    def within(self, condition: Condition) -> SearchStore:
        """Both conditions."""
        return self._store.within(All((self._condition, condition)))

    @contextmanager
    def pinned(self) -> Iterator[SearchStore]:
        """The view on one state."""
        with self._store.pinned() as store:
            yield store.within(self._condition)

    def expand(self, uris: Sequence[str], hop: Hop) -> dict[str, list[str]]:
        allowed = self.allowed.uri_set
        found = self._store.expand(uris, hop)
        return {uri: [chunk for chunk in chunks if chunk in allowed] for uri, chunks in found.items()}

    def outline(self, pages: Sequence[str]) -> dict[str, list[str]]:
        parents = self.allowed.parents
        found = self._store.outline(pages)
        return {
            page: [section for section in sections if section in parents] for page, sections in found.items()
        }

    def adjacency(self) -> Adjacency:
        return replace(self._store.adjacency(), allowed=self.allowed.mask)

    def chunk_uris(self) -> list[str]:
        allowed = self.allowed.uri_set
        return [uri for uri in self._store.chunk_uris() if uri in allowed]

    def picture_vectors(self) -> PictureVectors:
        found, allowed = self._store.picture_vectors(), self.allowed.uri_set
        rows = [row for row, uri in enumerate(found.uris) if uri in allowed]
        return PictureVectors(tuple(found.uris[row] for row in rows), found.vectors[rows])

    # -- as they are ---------------------------------------------------------------------------------------------

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
