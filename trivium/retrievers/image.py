"""image: does the picture show what is asked for?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from trivium.common.arrays import Floats
from trivium.common.suggested_commands import for_store
from trivium.errors import InputError, StoreError
from trivium.graph.pictures import EMBED_PICTURES
from trivium.retrievers.query import Candidate, Query, best_rows, check_counts, check_depth


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
