"""vector: is the content relevant?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from trivium.common.arrays import Floats
from trivium.retrievers.base import Candidate, Query, check_counts, check_depth


@dataclass(frozen=True, slots=True)
class VectorSettings:
    """``chunks``: how many are returned when no depth is asked for."""

    chunks: int = 10

    def __post_init__(self) -> None:
        check_counts("vector", chunks=self.chunks)


@dataclass(frozen=True, eq=False)
class VectorRetriever:
    """Chunks closest to the question. Score: the mean of two cosines, that of the chunk and the highest of its
    sentences; that of the chunk alone where it has one sentence only or the store knows none. [-1, 1]."""

    name: ClassVar[str] = "vector"
    settings: VectorSettings = field(default_factory=VectorSettings)

    def retrieve(self, query: Query, depth: int | None = None) -> list[Candidate]:
        check_depth(depth)
        count = self.settings.chunks if depth is None else depth
        return [Candidate(near.uri, near.score) for near in query.closest_chunks(count)]

    def score(self, query: Query, chunks: Sequence[str]) -> Floats:
        return query.closeness(chunks)
