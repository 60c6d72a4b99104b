"""Tavily (https://docs.tavily.com/documentation/api-reference/endpoint/search)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from trivium.live.responses import address_of, ask, date_of, results, text_of, title_of
from trivium.live.source import LiveDocument

_MOST = 20
"""Maximum number of results per request."""
_LONGEST = 400
"""Maximum length of a question."""


@dataclass(frozen=True, slots=True)
class Tavily:
    """Requires a key. Its excerpts are sentences that match the question."""

    secret: str = field(repr=False)
    url: str = "https://api.tavily.com/search"
    results: int = 10
    name: ClassVar[str] = "tavily"
    format: ClassVar[str] = "web"

    @property
    def key(self) -> str:
        return self.url

    def search(self, query: str, k: int, seconds: float) -> list[LiveDocument]:
        answer = ask(
            self.url,
            seconds,
            json={
                "query": query[:_LONGEST],
                "max_results": min(k, _MOST),
                "search_depth": "basic",
                "include_answer": False,
                "include_raw_content": False,
            },
            headers={"Authorization": f"Bearer {self.secret}"},
        )
        return [
            LiveDocument(
                title_of(result.get("title")),
                address_of(result.get("url")),
                text_of(result.get("content")),
                date_of(result.get("published_date")),
            )
            for result in results(answer.get("results"))
        ][:k]
