"""A store as a condition leaves it: a view in which only the chunks that match are found.

The graph stays whole. Walks go through every page and entity, and statistics of words are those of all chunks; but what
is nearest, what shares words and where hops lead are chunks that match, as many as asked for if there are as many. Pages
and sections are only found when a chunk that matches stands under them, and lead to such chunks alone.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from trivium.graph.filter_conditions import All, Condition
from trivium.graph.filter_matching import Allowed
from trivium.graph.protocols import SearchStore
from trivium.graph.records import Adjacency, Neighbour, Reached, Vectors
from trivium.graph.schema import Hop, Label
from trivium.graph.store_view import StoreView
from trivium.graph.stored_vectors import PictureVectors


class Within(StoreView):
    """A :class:`~trivium.graph.protocols.SearchStore` limited by a condition."""

    def __init__(self, store: SearchStore, condition: Condition) -> None:
        super().__init__(store)
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
