"""The retrievers that compare vectors. vector, page, section, entity: is the content relevant, the document, the section,
or what the passage cites? Each starts at the nodes whose vectors are nearest to the question. image: does the picture
show what is asked for?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from trivium.common.arrays import Floats
from trivium.common.suggested_commands import for_store
from trivium.errors import InputError, StoreError
from trivium.graph.schema import Hop, Label
from trivium.graph.stored_vectors import EMBED_PICTURES
from trivium.retrievers.query import Candidate, Query, best_rows, check_counts, check_depth, reached


@dataclass(frozen=True, slots=True)
class VectorSettings:
    """``chunks``: number of results when no depth is given."""

    chunks: int = 10

    def __post_init__(self) -> None:
        check_counts("vector", chunks=self.chunks)


@dataclass(frozen=True, eq=False)
class VectorRetriever:
    """Chunks closest to the question. Score, [-1, 1]: the mean of the chunk's cosine and the highest cosine of its
    sentences, or the chunk's cosine alone when the store has no sentence vectors for it.
    """

    name: ClassVar[str] = "vector"
    settings: VectorSettings = field(default_factory=VectorSettings)

    def retrieve(self, query: Query, depth: int | None = None) -> list[Candidate]:
        check_depth(depth)
        count = self.settings.chunks if depth is None else depth
        return [Candidate(near.uri, near.score) for near in query.closest_chunks(count)]

    def score(self, query: Query, chunks: Sequence[str]) -> Floats:
        return query.closeness(chunks)


@dataclass(frozen=True, slots=True)
class PageSettings:
    """``pages``: number of nearest pages whose chunks are returned."""

    pages: int = 3

    def __post_init__(self) -> None:
        check_counts("page", pages=self.pages)


@dataclass(frozen=True, eq=False)
class PageRetriever:
    """Every chunk of the nearest pages. Score: cosine of the page's text with the question, [-1, 1]."""

    name: ClassVar[str] = "page"
    settings: PageSettings = field(default_factory=PageSettings)

    def retrieve(self, query: Query, depth: int | None = None) -> list[Candidate]:
        return reached(query, [Label.PAGE], self.settings.pages, Hop.BELOW, depth)

    def wider(self, times: int) -> PageRetriever:
        """Start from ``times`` as many pages."""
        return PageRetriever(PageSettings(self.settings.pages * times))

    def score(self, query: Query, chunks: Sequence[str]) -> Floats:
        return query.similarities(chunks).page


@dataclass(frozen=True, slots=True)
class SectionSettings:
    """``sections``: number of nearest sections whose chunks are returned. A page stands for its lead section."""

    sections: int = 5

    def __post_init__(self) -> None:
        check_counts("section", sections=self.sections)


@dataclass(frozen=True, eq=False)
class SectionRetriever:
    """Chunks directly under the nearest sections. Score: cosine of the section's text with the question, [-1, 1]."""

    name: ClassVar[str] = "section"
    settings: SectionSettings = field(default_factory=SectionSettings)

    def retrieve(self, query: Query, depth: int | None = None) -> list[Candidate]:
        return reached(query, [Label.PAGE, Label.SUBCHAPTER], self.settings.sections, Hop.CHILD, depth)

    def wider(self, times: int) -> SectionRetriever:
        """Start from ``times`` as many sections."""
        return SectionRetriever(SectionSettings(self.settings.sections * times))

    def score(self, query: Query, chunks: Sequence[str]) -> Floats:
        return query.similarities(chunks).section


@dataclass(frozen=True, slots=True)
class EntitySettings:
    """``entities``: number of nearest entities whose citing chunks are returned."""

    entities: int = 5

    def __post_init__(self) -> None:
        check_counts("entity", entities=self.entities)


@dataclass(frozen=True, eq=False)
class EntityRetriever:
    """Chunks that cite the nearest entities. Score: highest cosine of a cited entity, [-1, 1]."""

    name: ClassVar[str] = "entity"
    settings: EntitySettings = field(default_factory=EntitySettings)

    def retrieve(self, query: Query, depth: int | None = None) -> list[Candidate]:
        return reached(query, [Label.ENTITY], self.settings.entities, Hop.CITED_IN, depth)

    def wider(self, times: int) -> EntityRetriever:
        """Start from ``times`` as many entities."""
        return EntityRetriever(EntitySettings(self.settings.entities * times))

    def score(self, query: Query, chunks: Sequence[str]) -> Floats:
        return query.similarities(chunks).entity


@dataclass(frozen=True, slots=True)
class ImageSettings:
    """``chunks``: number of results when no depth is given."""

    chunks: int = 10

    def __post_init__(self) -> None:
        check_counts("image", chunks=self.chunks)


@dataclass(frozen=True, eq=False)
class ImageRetriever:
    """Chunks of pictures, ranked by the cosine of the picture with the question or with the picture searched by.

    Vectors are those of the store's image embedder; every picture is compared. Score: cosine, [-1, 1], NaN for chunks
    without a picture. Raises StoreError on a store without vectors of pictures.
    """

    name: ClassVar[str] = "image"
    settings: ImageSettings = field(default_factory=ImageSettings)

    def retrieve(self, query: Query, depth: int | None = None) -> list[Candidate]:
        check_depth(depth)
        uris, scores = query.store.picture_vectors().uris, self._scores(query)
        best = best_rows(scores, uris, self.settings.chunks if depth is None else depth)
        return [Candidate(uris[row], float(scores[row])) for row in best]

    def score(self, query: Query, chunks: Sequence[str]) -> Floats:
        scores, rows = self._scores(query), query.store.picture_vectors().rows
        found = np.array([rows.get(uri, -1) for uri in chunks], dtype=np.int64)
        known = found >= 0
        values = np.full(len(chunks), np.nan)
        values[known] = scores[found[known]]
        return values

    def _scores(self, query: Query) -> Floats:
        """Return the cosines of all pictures (n,), computed once per question."""
        return query.memoize(("image", self), lambda: self._compare(query))

    def _compare(self, query: Query) -> Floats:
        store = query.store
        if store.image_embedder is None:
            raise StoreError(
                f"the pictures in {store.location} have no vectors: run  {for_store(EMBED_PICTURES, store.location)}"
                "  (pictures of documents that were loaded by an earlier version are known once they are loaded again)"
            )
        if query.embed_picture is None:
            raise InputError("this question cannot be compared with pictures: search by Engine.search")
        return store.picture_vectors().cosines(query.embed_picture())
