"""entity: are the entities cited by the chunk relevant?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from trivium.common.arrays import Floats
from trivium.graph.schema import Hop, Label
from trivium.retrievers.query import Candidate, Query, check_counts, reached


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
