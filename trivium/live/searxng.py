"""SearXNG, a self-hosted metasearch engine (https://docs.searxng.org/dev/search_api.html)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trivium.errors import InputError
from trivium.live.responses import address_of, ask, date_of, results, text_of, title_of
from trivium.live.source import LiveDocument


@dataclass(frozen=True, slots=True)
class SearXNG:
    """``url`` is the address of the server, whose ``settings.yml`` must list ``json`` under ``search.formats``."""

    url: str
    results: int = 10
    name: ClassVar[str] = "searxng"
    format: ClassVar[str] = "web"

    @property
    def key(self) -> str:
        return self.url

    def search(self, query: str, k: int, seconds: float) -> list[LiveDocument]:
        address = self.url.rstrip("/")
        address = address if address.endswith("/search") else f"{address}/search"
        answer = ask(address, seconds, params={"q": query, "format": "json", "pageno": "1"})
        found = [
            LiveDocument(
                title_of(result.get("title")),
                address_of(result.get("url")),
                text_of(result.get("content")),
                date_of(result.get("publishedDate")),
            )
            for result in results(answer.get("results"))
        ]
        if not found and answer.get("unresponsive_engines"):
            raise InputError("none of its engines answered")
        return found[:k]
