"""Search engines of the web as live sources: SearXNG (https://docs.searxng.org/dev/search_api.html) on a server of one's
own, and with a key Brave (https://api-dashboard.search.brave.com/app/documentation), Tavily
(https://docs.tavily.com/documentation/api-reference/endpoint/search) and Google's results by SerpAPI
(https://serpapi.com/organic-results).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from trivium.errors import InputError
from trivium.live.responses import address_of, ask, date_of, results, text_of, title_of, within
from trivium.live.source import RESULTS, LiveDocument

_MOST = 20
"""Maximum number of results per request of Brave and Tavily."""
_LONGEST = 400
"""Maximum length of a question to them, in characters."""
_EXTRA = 5
_NOTHING = "hasn't returned any results"


@dataclass(frozen=True, slots=True)
class WebSearch:
    """The engine ``name``, at the address ``url``. ``secret`` is its key, empty for SearXNG."""

    name: str
    url: str
    secret: str = field(repr=False)
    format: ClassVar[str] = "web"
    results: ClassVar[int] = RESULTS

    @property
    def key(self) -> str:
        return self.url

    def search(self, query: str, k: int, seconds: float) -> list[LiveDocument]:
        answer = {"searxng": _searxng, "brave": _brave, "tavily": _tavily, "serpapi": _serpapi}[self.name]
        return [_document(result) for result in results(answer(self, query, k, seconds))][:k]


def _document(result: Mapping[str, object]) -> LiveDocument:
    """Return a result of any of them: they have the same parts under different names."""

    def first(*names: str) -> object:
        return next((result[name] for name in names if result.get(name)), None)

    further = result.get("extra_snippets")
    return LiveDocument(
        title_of(result.get("title")),
        address_of(first("url", "link")),
        text_of(
            first("content", "description", "snippet"),
            *(further[:_EXTRA] if isinstance(further, list) else ()),
        ),
        date_of(first("publishedDate", "published_date", "page_age", "age", "date")),
    )


def _searxng(engine: WebSearch, query: str, k: int, seconds: float) -> object:  # noqa: ARG001 - as the others
    address = engine.url.rstrip("/")
    address = address if address.endswith("/search") else f"{address}/search"
    answer = ask(address, seconds, params={"q": query, "format": "json", "pageno": "1"})
    if not answer.get("results") and answer.get("unresponsive_engines"):
        raise InputError("none of its engines answered")
    return answer.get("results")


def _brave(engine: WebSearch, query: str, k: int, seconds: float) -> object:
    # The API rejects longer questions.
    asked = {"q": " ".join(query[:_LONGEST].split()[:50]), "count": str(min(k, _MOST))}
    headers = {"X-Subscription-Token": engine.secret, "Accept": "application/json"}
    return within(ask(engine.url, seconds, params=asked, headers=headers), "web", "results")


def _tavily(engine: WebSearch, query: str, k: int, seconds: float) -> object:
    asked = {
        "query": query[:_LONGEST],
        "max_results": min(k, _MOST),
        "search_depth": "basic",
        "include_answer": False,
        "include_raw_content": False,
    }
    headers = {"Authorization": f"Bearer {engine.secret}"}
    return ask(engine.url, seconds, json=asked, headers=headers).get("results")


def _serpapi(engine: WebSearch, query: str, k: int, seconds: float) -> object:
    asked = {"engine": "google", "q": query, "num": str(k), "api_key": engine.secret}
    answer = ask(engine.url, seconds, params=asked)
    error = text_of(answer.get("error"))
    # The API reports an empty result as an error with the status "Success".
    if error and not (_NOTHING in error and within(answer, "search_metadata", "status") == "Success"):
        raise InputError(f"it refuses: {error[:200]}")
    return answer.get("organic_results")
