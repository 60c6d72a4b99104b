"""section: is the section relevant?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from trivium.common.arrays import Floats
from trivium.graph.schema import Hop, Label
from trivium.retrievers.query import Candidate, Query, check_counts, reached


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
