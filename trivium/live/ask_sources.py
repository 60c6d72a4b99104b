"""Queries live sources concurrently, with time limits and a cache. A source that fails only loses its own documents."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urlsplit

from trivium.errors import InputError
from trivium.live.registry import make_source
from trivium.live.run_concurrently import run_together
from trivium.settings.settings import Settings, load_settings
from trivium.types import LiveOrigin, SourceOutcome

if TYPE_CHECKING:  # imported lazily, when a source is queried
    from trivium.live.result_cache import CachedAnswer, LiveCache
    from trivium.live.source import LiveDocument, LiveSource

MAX_SOURCES = 10
"""Maximum number of live sources per question."""
MAX_QUERY = 1_000
"""Maximum number of characters of a question that are sent."""
_MAX_ERROR = 300
_LEAST_SECONDS = 0.2
"""With less time remaining, no page is fetched."""


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A document, its format, and its origin."""

    document: LiveDocument
    format: str
    origin: LiveOrigin


@dataclass(frozen=True, slots=True)
class LiveAnswers:
    """The distinct documents found, and the outcome of each source."""

    documents: tuple[FoundDocument, ...]
    outcomes: tuple[SourceOutcome, ...]


@dataclass(frozen=True, slots=True)
class _Asked:
    answer: CachedAnswer
    seconds: float
    cached: bool


class LiveSources:
    """Queries live sources. Thread-safe. ``settings`` default to the environment and ``trivium.toml``, read on first
    use. ``own`` are custom sources, which override built-in ones of the same name.
    """

    def __init__(self, settings: Settings | None = None, own: Sequence[LiveSource] = ()) -> None:
        self._given = settings
        self._own = {source.name: source for source in own}
        self._lock = threading.Lock()
        self._cache: LiveCache | None = None

    @property
    def settings(self) -> Settings:
        """The settings in use."""
        with self._lock:
            if self._given is None:
                self._given = load_settings()
            return self._given

    def choose(self, names: Sequence[str]) -> list[LiveSource]:
        """Return the named sources without duplicates. Raises InputError for an unknown name, and ConfigurationError
        for a source that lacks a setting.
        """
        if isinstance(names, str) or not all(isinstance(name, str) for name in names):
            raise InputError(f"expected a list of names of live sources, got {names!r:.100}")
        if len(names) > MAX_SOURCES:
            raise InputError(f"expected at most {MAX_SOURCES} live sources, got {len(names)}")
        chosen = [
            self._own[name] if name in self._own else make_source(name, self.settings) for name in names
        ]
        return list({source.name: source for source in chosen}.values())

    def ask(self, question: str, names: Sequence[str]) -> LiveAnswers:
        """Query the named sources. Raises the errors of :meth:`choose`, and StoppedError when the search was abandoned.
        Failures of a source are reported in its outcome.
        """
        from trivium.live.result_cache import CachedAnswer

        sources = {source.name: source for source in self.choose(names)}
        settings = self.settings
        import_module(
            "trivium.live.fetch_pages"
        )  # takes part of a second, so it is done before the clock starts
        began = time.monotonic()
        limit = settings.live_seconds
        asked = run_together(
            {name: partial(self._ask, source, question, limit) for name, source in sources.items()}, limit
        )
        documents: dict[str, FoundDocument] = {}
        outcomes: list[SourceOutcome] = []
        for name, result in asked.items():
            error = None
            if isinstance(result, Exception):
                error = _said(result)
                old = self._cached(self._key(sources[name], question))
                result = _Asked(
                    CachedAnswer((), 0.0) if old is None else old, time.monotonic() - began, old is not None
                )
            age = result.answer.age if result.cached else None
            outcomes.append(
                SourceOutcome(
                    name,
                    len(result.answer.documents),
                    round(result.seconds, 3),
                    error,
                    None if age is None else round(age, 1),
                )
            )
            retrieved = _time(result.answer.retrieved)
            for document in result.answer.documents:
                origin = LiveOrigin(name, document.address, document.published, retrieved)
                found = FoundDocument(document, sources[name].format, origin)
                documents.setdefault(_same(document.address), found)
        return LiveAnswers(tuple(documents.values()), tuple(outcomes))

    def _ask(self, source: LiveSource, question: str, seconds: float) -> _Asked:
        from trivium.live.fetch_pages import with_pages
        from trivium.live.result_cache import CachedAnswer

        began = time.monotonic()
        settings = self.settings
        key = self._key(source, question)
        known = self._cached(key)
        if known is not None and known.age <= settings.live_cache_seconds:
            return _Asked(known, time.monotonic() - began, cached=True)
        found = [
            usable
            for document in source.search(question[:MAX_QUERY], source.results, seconds)
            if (usable := _usable(document))
        ]
        left = seconds - (time.monotonic() - began)
        if source.format == "web" and found and settings.live_pages and left > _LEAST_SECONDS:
            # A little less than the remaining time, so that pages read by then are used.
            found = with_pages(found, question, 0.9 * left, settings)
        found = [document for document in found if document.text or document.passages]
        answer = CachedAnswer(tuple(found), time.time())
        if settings.live_cache_seconds > 0:
            self._store.put(key, answer)
        return _Asked(answer, time.monotonic() - began, cached=False)

    @property
    def _store(self) -> LiveCache:
        from trivium.live.result_cache import LiveCache

        folder = self.settings.home / "live"
        with self._lock:
            if self._cache is None:
                self._cache = LiveCache(folder)
            return self._cache

    def _key(self, source: LiveSource, question: str) -> tuple[str, ...]:
        pages = str(self.settings.live_pages) if source.format == "web" else ""
        return (source.name, source.key, str(source.results), pages, " ".join(question.split()))

    def _cached(self, key: tuple[str, ...]) -> CachedAnswer | None:
        return self._store.get(key) if self.settings.live_cache_seconds > 0 else None


def _usable(document: LiveDocument) -> LiveDocument | None:
    """Return the document with a title; None without an address, because it could not be cited."""
    if not document.address:
        return None
    return document if document.title else replace(document, title=urlsplit(document.address).netloc)


def _same(address: str) -> str:
    """Normalise an address, to compare pages."""
    return urldefrag(address)[0].rstrip("/")


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).isoformat().replace("+00:00", "Z")


def _said(error: Exception) -> str:
    said = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
    return " ".join(said.split())[:_MAX_ERROR]
