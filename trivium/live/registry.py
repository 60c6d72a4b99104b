"""Live sources by name.

An installed package can add sources with an entry point of the group ``trivium.live_sources``: a function ``(settings:
Settings) -> LiveSource``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trivium.errors import ConfigurationError, InputError
from trivium.plugins import create_plugin, list_plugins

if TYPE_CHECKING:  # a source is imported when it is queried
    from pydantic import SecretStr

    from trivium.live.source import LiveSource
    from trivium.settings.settings import Settings

GROUP = "trivium.live_sources"
WEB = "web"
"""Stands for the first configured web source."""
OF_THE_WEB = ("searxng", "brave", "tavily", "serpapi")
SOURCES = (WEB, *OF_THE_WEB, "arxiv", "mediawiki")
"""Built-in names; those of installed packages follow."""


@dataclass(frozen=True, slots=True)
class SourceState:
    """A source name: the source it stands for, and what that ``lacks``, None if it is ready."""

    name: str
    stands_for: str
    lacks: str | None


def known_sources() -> tuple[str, ...]:
    """Return all source names."""
    return (*SOURCES, *(name for name in list_plugins(GROUP) if name not in SOURCES))


def make_source(name: str, settings: Settings) -> LiveSource:
    """Return the source with this name. Raises InputError for an unknown name, and ConfigurationError for a source that
    lacks a setting.
    """
    if name not in known_sources():
        raise InputError(
            f"unknown live source {str(name)[:100]!r}: expected some of {', '.join(known_sources())}"
        )
    if name == WEB:
        name = _of_the_web(settings)
    lacks = _lacks(name, settings)
    if lacks is not None:
        raise ConfigurationError(f"the live source {name} {lacks}")
    if name in OF_THE_WEB:
        return _web_search(name, settings)
    if name == "arxiv":
        from trivium.live.arxiv import Arxiv

        return Arxiv(settings)
    if name == "mediawiki":
        from trivium.live.mediawiki import MediaWiki

        return MediaWiki(settings)
    added: LiveSource | None = create_plugin(GROUP, name, settings)
    if added is None or not callable(getattr(added, "search", None)):
        raise ConfigurationError(
            f"the entry point {name!r} of {GROUP}: expected a LiveSource, got {type(added).__name__}"
        )
    return added


def source_states(settings: Settings) -> list[SourceState]:
    """Return whether each source can be queried. Nothing is sent."""
    return [
        SourceState(name, own, _lacks(own, settings))
        for name in known_sources()
        for own in [_of_the_web(settings) if name == WEB else name]
    ]


def usual_sources(settings: Settings) -> tuple[str, ...]:
    """Return the default sources of questions that name none."""
    if settings.live_sources:
        return settings.live_sources
    return ("mediawiki",) if _lacks(_of_the_web(settings), settings) else (WEB,)


def _of_the_web(settings: Settings) -> str:
    return next((name for name in OF_THE_WEB if _lacks(name, settings) is None), OF_THE_WEB[0])


def _lacks(name: str, settings: Settings) -> str | None:
    needed = _NEEDED.get(name)
    if needed is None or getattr(settings, needed) is not None:
        return None
    return f"needs the setting {needed}: set TRIVIUM_{needed.upper()}"


_NEEDED: Mapping[str, str] = {
    "searxng": "searxng_url",
    "brave": "brave_key",
    "tavily": "tavily_key",
    "serpapi": "serpapi_key",
}


def _web_search(name: str, settings: Settings) -> LiveSource:
    from trivium.live.web_search import WebSearch

    key: SecretStr | None = getattr(settings, f"{name}_key", None)
    return WebSearch(name, getattr(settings, f"{name}_url"), "" if key is None else key.get_secret_value())
