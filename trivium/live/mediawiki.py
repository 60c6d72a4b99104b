"""A MediaWiki as a live source: its search, the beginning of each page found, and the full text of the best pages."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from trivium.common import stopping
from trivium.common.fetching import user_agent
from trivium.errors import InputError
from trivium.live.fetch_pages import SMALL, with_page
from trivium.live.responses import address_of, ask, date_of, results, text_of, title_of, within
from trivium.live.source import RESULTS, LiveDocument
from trivium.parser.sources import mediawiki
from trivium.settings.settings import Settings

_LONGEST = 300
"""Maximum length of a question for its search."""
_LEAST_SECONDS = 0.5
"""With less time remaining, no further page is requested."""


@dataclass(frozen=True, slots=True)
class MediaWiki:
    """The wiki of the setting ``mediawiki_api``. Pages are requested one after the other, as its operators ask."""

    settings: Settings
    name: ClassVar[str] = "mediawiki"
    format: ClassVar[str] = "wiki"
    results: ClassVar[int] = RESULTS

    @property
    def key(self) -> str:
        return f"{self.settings.mediawiki_api} {self.settings.live_pages}"

    def search(self, query: str, k: int, seconds: float) -> list[LiveDocument]:
        until = time.monotonic() + seconds
        answer = self._ask(
            seconds,
            action="query",
            generator="search",
            gsrsearch=query[:_LONGEST],
            gsrlimit=str(k),
            prop="info|extracts|revisions",
            inprop="url",
            exintro="1",
            explaintext="1",
            exlimit="max",
            rvprop="timestamp",
        )
        pages = sorted(results(within(answer, "query", "pages")), key=_place)
        return [
            self._document(page, query, until if number < self.settings.live_pages else 0.0)
            for number, page in enumerate(pages[:k])
        ]

    def _document(self, page: Mapping[str, object], query: str, until: float) -> LiveDocument:
        title = title_of(page.get("title"))
        changed = next((revision.get("timestamp") for revision in results(page.get("revisions"))), None)
        document = LiveDocument(
            title,
            address_of(page.get("fullurl")),
            text_of(page.get("extract")),
            date_of(changed),
            names=(f"{mediawiki.PREFIX}{title}",),
        )
        left = until - time.monotonic()
        if left < _LEAST_SECONDS or not title:
            return document
        try:
            whole = self._ask(left, action="parse", page=title, prop="text|revid", redirects="1")
            return with_page(document, mediawiki.to_page(whole, limits=SMALL), query)
        except InputError:  # the beginning is sufficient
            stopping.check()
            return document

    def _ask(self, seconds: float, **parameters: str) -> Mapping[str, object]:
        answer = ask(
            self.settings.mediawiki_api,
            seconds,
            params={**parameters, "format": "json", "formatversion": "2", "maxlag": "5"},
            headers={"User-Agent": user_agent(self.settings.contact)},
        )
        info = within(answer, "error", "info")
        if info is not None:
            raise InputError(f"the API refuses: {text_of(info)[:200]}")
        return answer


def _place(page: Mapping[str, object]) -> int:
    index = page.get("index")
    return index if isinstance(index, int) else 1 << 30
