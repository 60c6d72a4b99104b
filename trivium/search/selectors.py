"""Creates selectors of the path retriever by name."""

from __future__ import annotations

from pathlib import Path

from trivium.errors import ConfigurationError
from trivium.llm.registry import open_chat_model
from trivium.plugins import create_plugin, list_plugins
from trivium.retrievers.llm_selector import LlmSelector
from trivium.retrievers.path import MatchSelector, Selector
from trivium.retrievers.recorded_selector import RecordedSelector
from trivium.settings.settings import Settings, load_settings

SELECTORS = ("match", "llm", "llm-all")
RECORDED = ("record", "replay")
"""Selectors whose name is followed by a file, as in ``replay:FILE``."""
PLUGINS = "trivium.selectors"
"""Entry point group of selectors in installed packages."""


def make_selector(name: str | None = None, settings: Settings | None = None) -> Selector:
    """Create the selector of that name, by default the one of the settings.

    - ``match``: needs no language model.
    - ``llm``, ``llm:NAME``: asks the language model of the settings or the named one (:mod:`trivium.llm.registry`)
      for at most three places.
    - ``llm-all``, ``llm-all:NAME``: likewise, for every helpful place.
    - ``record:FILE``: like ``llm-all``, and writes the selections to a file.
    - ``replay:FILE``: reads the selections from such a file, without a model
      (:class:`~trivium.retrievers.recorded_selector.RecordedSelector`).

    Other names are looked up among installed packages (entry point group ``trivium.selectors``; each entry is a
    function of the settings). Raises ConfigurationError.
    """
    settings = load_settings() if settings is None else settings
    name = settings.path_selector if name is None else name
    if name == "match":
        return MatchSelector()
    family, _, model = name.partition(":")
    if family == "llm":
        return LlmSelector(open_chat_model(model or None, settings))
    if family == "llm-all":
        return LlmSelector(open_chat_model(model or None, settings), most=None)
    if family in RECORDED:
        if not model:
            raise ConfigurationError(f"expected {family}:FILE, got no file")
        inner = LlmSelector(open_chat_model(None, settings), most=None) if family == "record" else None
        return RecordedSelector(Path(model), inner)
    declared: Selector | None = create_plugin(PLUGINS, name, settings)
    if declared is None:
        known = ", ".join([*SELECTORS, *(f"{family}:FILE" for family in RECORDED), *list_plugins(PLUGINS)])
        raise ConfigurationError(f"unknown path selector {name!r}: expected one of {known}")
    return declared
