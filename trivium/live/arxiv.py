"""arXiv as a live source: recent papers, with title and abstract as one text each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trivium.live.source import LiveDocument
from trivium.parser.sources import arxiv
from trivium.settings.settings import Settings

_DAYS = 365
"""Maximum age of a paper in days."""


@dataclass(frozen=True, slots=True)
class Arxiv:
    """Papers of the last year."""

    settings: Settings
    name: ClassVar[str] = "arxiv"
    format: ClassVar[str] = arxiv.FORMAT
    results: ClassVar[int] = arxiv.RESULTS

    @property
    def key(self) -> str:
        return self.settings.arxiv_url

    def search(self, query: str, k: int, seconds: float) -> list[LiveDocument]:
        asked = arxiv.query_of_question(query)
        if not asked:
            return []
        found = arxiv.search(asked, k, seconds=seconds, days=_DAYS, settings=self.settings)
        return [
            LiveDocument(paper.title, paper.address, paper.abstract, paper.published or None, whole=True)
            for paper in found
        ]
