"""page: is the document relevant?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from trivium.common.arrays import Floats
from trivium.graph.schema import Hop, Label
from trivium.retrievers.query import Candidate, Query, check_counts, reached


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
