"""Selectors of the path retriever by name."""

from __future__ import annotations

from pathlib import Path

from trivium.errors import ConfigurationError
from trivium.llm.registry import open_chat_model
from trivium.plugins import create_plugin, list_plugins
from trivium.retrievers.llm_selector import LlmSelector
from trivium.retrievers.recorded_selector import RecordedSelector
from trivium.retrievers.selectors import MatchSelector, Selector
from trivium.settings import Settings, load_settings

SELECTORS = ("match", "llm", "llm-all")
RECORDED = ("record", "replay")
"""Families of selectors whose names go on with a file."""
PLUGINS = "trivium.selectors"
"""The entry points of selectors."""


def make_selector(name: str | None = None, settings: Settings | None = None) -> Selector:
    """The selector of that name, by default the one of the settings: ``match`` needs no language model, ``llm`` asks the
    one of the settings, and ``llm:NAME`` the one of that name (:mod:`trivium.llm.registry`), for at most three places;
    ``llm-all``, likewise, for every place that helps. ``record:FILE`` asks as ``llm-all`` does and writes the selections
    to a file, from which ``replay:FILE`` takes them without a model
    (:class:`~trivium.retrievers.recorded_selector.RecordedSelector`). Other names are those that installed packages
    declare (entry points of the group ``trivium.selectors``: a function called with the settings). Raises
    ConfigurationError."""
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
