"""Fetches pages by title from a MediaWiki API, one request at a time, with retries and a cache.

Follows the etiquette of the API (https://www.mediawiki.org/wiki/API:Etiquette): a user agent with a contact,
``maxlag``, no parallel requests, and waiting as long as the server asks.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast
from urllib.parse import quote

import requests

from trivium.common.fetching import user_agent
from trivium.common.retries import Pace, PassingError, retried, retry_after
from trivium.errors import InputError
from trivium.parser.html import parse_html
from trivium.parser.sources.read_files import parse_json
from trivium.parser.sources.response_cache import AnswerCache
from trivium.parser.sources.source_items import MEDIAWIKI, Item, clean_text
from trivium.settings.limits import DEFAULT_LIMITS, InputLimits
from trivium.settings.settings import load_settings
from trivium.text.normalise import normalise_title
from trivium.types import Page

PREFIX = MEDIAWIKI
MAX_WAIT = 120.0
"""Maximum wait in seconds. The request fails if a server asks for longer."""

_TIMEOUT = (10.0, 60.0)
_MAXLAG = 5
_RETRY_STATUSES = frozenset({429, 500, 502, 503, 504})
_RETRY_CODES = frozenset({"maxlag", "ratelimited", "readonly"})

Answer = Mapping[str, object]


class MediaWiki:
    """A client of one API.

    - ``api``: defaults to ``TRIVIUM_MEDIAWIKI_API``, else English Wikipedia's.
    - ``interval``: minimum time between two requests, in seconds.
    - ``retries``: maximum number of retries.
    - ``cache``: folder for responses (default: ``mediawiki`` in the setting ``home``), which are reused, also offline.

    The user agent has the address of the setting ``contact``, as Wikimedia requests from clients that read many pages.
    """

    def __init__(
        self,
        api: str | None = None,
        *,
        cache: Path | None = None,
        interval: float = 1.0,
        retries: int = 5,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        settings = load_settings()
        self.api = api or settings.mediawiki_api
        self._cache = AnswerCache(settings.home / "mediawiki" if cache is None else cache)
        self._interval = interval
        self._retries = retries
        self._pace = Pace(interval, sleep, clock)
        self._session = requests.Session()
        self._session.headers["User-Agent"] = user_agent(settings.contact)

    def page(self, title: str) -> Page:
        """Return the page with a title, following redirects. Raises the errors of :meth:`fetch`."""
        item = self.item(title)
        return to_page(parse_json(item.content or b""), source=item.name)

    def item(self, title: str) -> Item:
        """Return the fetched page as an item. Raises the errors of :meth:`fetch`."""
        content = json.dumps(self.fetch(title), ensure_ascii=True).encode("ascii")
        return Item("wiki", PREFIX + title, content=content)

    def fetch(self, title: str) -> Answer:
        """Return the API's response for a title, as a JSON object.

        Raises InputError when there is no such page, or when the server refuses or does not respond.
        """
        key = (self.api, normalise_title(clean_text(title)))
        if not key[1]:
            raise InputError(f"expected the title of a page, got {title!r}")
        answer = self._cache.get(key)
        if answer is None:
            answer = self._ask(key[1])
            self._cache.put(key, answer)
        return answer

    def _ask(self, title: str) -> Answer:
        parameters = {
            "action": "parse",
            "page": title,
            "prop": "text|revid",
            "redirects": "1",
            "format": "json",
            "formatversion": "2",
            "maxlag": str(_MAXLAG),
        }

        def wait(error: PassingError, number: int) -> float:
            """Return the longer of the wait requested by the server and exponential backoff, in seconds."""
            return max(error.wait or 0.0, self._interval * 2.0 ** (number - 1))

        try:
            return retried(
                lambda: self._attempt(title, parameters), self._retries, wait, sleep=self._pace.postpone
            )
        except PassingError as error:
            raise InputError(
                f"{self.api} did not give {title!r} in {self._retries + 1} attempts; the last: {error}"
            ) from error

    def _attempt(self, title: str, parameters: Mapping[str, str]) -> Answer:
        """Send one request. Raises PassingError if a retry may succeed, InputError otherwise."""
        self._pace.wait()
        try:
            response = self._session.get(self.api, params=parameters, timeout=_TIMEOUT)
        except requests.RequestException as error:
            if isinstance(error, ValueError):  # the address itself is invalid: a retry is pointless
                raise InputError(f"the address of the API is not usable: {error}") from error
            raise PassingError(f"no answer ({type(error).__name__})") from error
        failure = f"HTTP {response.status_code}"
        if response.status_code not in _RETRY_STATUSES:
            answer = _answer(response)
            code, info = _error(answer)
            if code is None:
                return answer
            if code not in _RETRY_CODES:
                raise InputError(_refusal(title, code, info))
            failure = f"{code}: {info}"
        asked = retry_after(response.headers.get("Retry-After"))
        if asked is not None and asked > MAX_WAIT:
            raise InputError(f"{self.api} asks to wait {asked:.0f} s ({failure}); try again then")
        raise PassingError(failure, asked)


def to_page(answer: object, source: str = "", limits: InputLimits = DEFAULT_LIMITS) -> Page:
    """Convert an API response to a page, with its revision and, as aliases, the titles redirected to it.

    Raises InputError when it is not a response to ``action=parse``.
    """
    parsed = answer.get("parse") if isinstance(answer, Mapping) else None
    if not isinstance(parsed, Mapping) or not isinstance(parsed.get("text"), str):
        raise InputError(
            "expected the answer of action=parse with its text (formatversion 2), got something else"
        )
    title = normalise_title(clean_text(str(parsed.get("title") or "")))
    # The response contains a fragment: add the head in which a complete page would state its title.
    name = f'<link rel="canonical" href="/wiki/{quote(title, safe="")}">' if title else ""
    document = f"<!DOCTYPE html><html><head>{name}</head><body>{clean_text(parsed['text'])}</body></html>"
    page = parse_html(document, source=source, limits=limits)
    redirects = parsed.get("redirects")
    entries = redirects if isinstance(redirects, list) else []
    redirect_titles = [entry.get("from") for entry in entries if isinstance(entry, Mapping)]
    aliases = (normalise_title(clean_text(alias)) for alias in redirect_titles if isinstance(alias, str))
    others = dict.fromkeys([*page.aliases, *(alias for alias in aliases if alias and alias != page.title)])
    revision = parsed.get("revid")
    if not isinstance(revision, int) or isinstance(revision, bool) or not 0 <= revision < 1 << 63:
        revision = page.revision
    return replace(page, aliases=tuple(others), revision=revision)


def _answer(response: requests.Response) -> Answer:
    try:
        answer = response.json()
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"expected JSON from the API, got HTTP {response.status_code} with something else; is the"
            " address of the API (TRIVIUM_MEDIAWIKI_API) right? It ends in api.php"
        ) from error
    if not isinstance(answer, Mapping):
        raise InputError(f"expected a JSON object from the API, got a JSON {type(answer).__name__}")
    return cast(Answer, answer)


def _error(answer: Answer) -> tuple[str | None, str]:
    """Return the code and text of an error; (None, "") if there is none."""
    error = answer.get("error")
    if isinstance(error, Mapping):
        return str(error.get("code")), str(error.get("info"))
    return (None, "") if "parse" in answer else ("no-answer", "the response has neither a page nor an error")


def _refusal(title: str, code: str, info: str) -> str:
    if code in ("missingtitle", "invalidtitle"):
        return f"there is no page titled {title!r} ({info})"
    return f"the API refused {title!r}: {code}: {info}"
