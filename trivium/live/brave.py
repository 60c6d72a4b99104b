"""The Brave Search API (https://api-dashboard.search.brave.com/app/documentation)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from trivium.live.responses import address_of, ask, date_of, results, text_of, title_of, within
from trivium.live.source import LiveDocument

_MOST = 20
"""Maximum number of results per request."""
_EXTRA = 5


@dataclass(frozen=True, slots=True)
class Brave:
    """Requires a key."""

    secret: str = field(repr=False)
    url: str = "https://api.search.brave.com/res/v1/web/search"
    results: int = 10
    name: ClassVar[str] = "brave"
    format: ClassVar[str] = "web"

    @property
    def key(self) -> str:
        return self.url

    def search(self, query: str, k: int, seconds: float) -> list[LiveDocument]:
        answer = ask(
            self.url,
            seconds,
            # The API rejects longer questions.
            params={"q": " ".join(query[:400].split()[:50]), "count": str(min(k, _MOST))},
            headers={"X-Subscription-Token": self.secret, "Accept": "application/json"},
        )
        return [
            LiveDocument(
                title_of(result.get("title")),
                address_of(result.get("url")),
                text_of(result.get("description"), *_further(result.get("extra_snippets"))),
                date_of(result.get("page_age") or result.get("age")),
            )
            for result in results(within(answer, "web", "results"))
        ][:k]


def _further(snippets: object) -> list[object]:
    return snippets[:_EXTRA] if isinstance(snippets, list) else []
