"""SerpAPI: Google results (https://serpapi.com/organic-results)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from trivium.errors import InputError
from trivium.live.responses import address_of, ask, date_of, results, text_of, title_of, within
from trivium.live.source import LiveDocument

_NOTHING = "hasn't returned any results"


@dataclass(frozen=True, slots=True)
class SerpAPI:
    """Requires a key."""

    secret: str = field(repr=False)
    url: str = "https://serpapi.com/search.json"
    results: int = 10
    name: ClassVar[str] = "serpapi"
    format: ClassVar[str] = "web"

    @property
    def key(self) -> str:
        return self.url

    def search(self, query: str, k: int, seconds: float) -> list[LiveDocument]:
        answer = ask(
            self.url,
            seconds,
            params={"engine": "google", "q": query, "num": str(k), "api_key": self.secret},
        )
        error = text_of(answer.get("error"))
        # The API reports an empty result as an error with the status "Success".
        if error and not (_NOTHING in error and within(answer, "search_metadata", "status") == "Success"):
            raise InputError(f"it refuses: {error[:200]}")
        return [
            LiveDocument(
                title_of(result.get("title")),
                address_of(result.get("link")),
                text_of(result.get("snippet")),
                date_of(result.get("date")),
            )
            for result in results(answer.get("organic_results"))
        ][:k]
