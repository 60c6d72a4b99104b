"""Selectors of the path retriever by name."""

from __future__ import annotations

from trivium.errors import ConfigurationError
from trivium.llm.registry import open_chat_model
from trivium.plugins import create_plugin, list_plugins
from trivium.retrievers.llm_selector import LlmSelector
from trivium.retrievers.selectors import MatchSelector, Selector
from trivium.settings import Settings, load_settings

SELECTORS = ("match", "llm")
PLUGINS = "trivium.selectors"
"""The entry points of selectors."""


def make_selector(name: str | None = None, settings: Settings | None = None) -> Selector:
    """The selector of that name, by default the one of the settings: ``match`` needs no language model, ``llm`` asks the
    one of the settings, and ``llm:NAME`` the one of that name (:mod:`trivium.llm.registry`). Other names are those that
    installed packages declare (entry points of the group ``trivium.selectors``: a function called with the settings).
    Raises ConfigurationError."""
    settings = load_settings() if settings is None else settings
    name = settings.path_selector if name is None else name
    if name == "match":
        return MatchSelector()
    family, _, model = name.partition(":")
    if family == "llm":
        return LlmSelector(open_chat_model(model or None, settings))
    declared: Selector | None = create_plugin(PLUGINS, name, settings)
    if declared is None:
        known = ", ".join([*SELECTORS, *list_plugins(PLUGINS)])
        raise ConfigurationError(f"unknown path selector {name!r}: expected one of {known}")
    return declared
