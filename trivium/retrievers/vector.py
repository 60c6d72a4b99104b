"""vector: is the content relevant?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from trivium.common.arrays import Floats
from trivium.retrievers.query import Candidate, Query, check_counts, check_depth


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
