"""The retrievers that a search can ask: the eight built-in ones, custom ones, and those of installed packages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from trivium.common.argument_checks import check_texts
from trivium.errors import ConfigurationError, InputError
from trivium.plugins import list_plugins
from trivium.rerank.as_retriever import RerankRetriever
from trivium.rerank.registry import Rerankers
from trivium.rerank.reranker import RerankSettings
from trivium.rerank.reranker_names import PREFIX
from trivium.retrievers.path import MatchSelector, Selector
from trivium.retrievers.query import Retriever
from trivium.retrievers.registry import (
    RetrieverSettings,
    make_plugin,
    make_retrievers,
)
from trivium.retrievers.retriever_names import OPTIONAL, PLUGINS, RETRIEVERS
from trivium.retrievers.setting_values import SettingValues, flatten, with_values
from trivium.search.fuse import DEFAULTS, Inputs

__all__ = ["RetrieverSet", "SettingValues"]


_TAKEN = (*RETRIEVERS, *OPTIONAL)

MAX_RETRIEVERS = 100
"""Maximum number of retriever names in one search."""
MAX_SETTINGS = 1_000
"""Maximum number of retriever settings in one search."""
NO_NAMES = "expected at least one retriever, got an empty list: name some, or leave it out for the usual ones"
"""Message for an empty list, which asks nobody. It is no list of all: a program that filters names would be misled."""

_RERANK = "rerank."


@dataclass(frozen=True, slots=True)
class _StageSettings:
    """Settings of stages after retrieval. Field names are the prefixes of the dotted names."""

    rerank: RerankSettings = field(default_factory=RerankSettings)


class RetrieverSet:
    """Retrievers by name.

    By default a search asks the eight built-in retrievers and the custom ones passed as ``extra``. The following are
    asked only when named: the optional built-in retriever ``image``, retrievers of installed packages (entry point
    group ``trivium.retrievers``), and ``rerankers``, as ``rerank:NAME``.

    ``values`` are settings by dotted name, such as ``{"walk.damping": 0.4}``. ``selector`` is the selector of the
    path retriever; the default needs no language model. Treat both attributes as read-only.

    Raises ConfigurationError for unknown settings, InputError for duplicate retriever names.
    """

    def __init__(
        self,
        extra: Sequence[Retriever] = (),
        values: SettingValues | None = None,
        selector: Selector | None = None,
        rerankers: Rerankers | None = None,
    ) -> None:
        self.rerankers = Rerankers() if rerankers is None else rerankers
        self.values = flatten(checked_settings(values))
        self.selector = selector
        self._extra = {retriever.name: retriever for retriever in extra}
        taken = [name for name in self._extra if name in _TAKEN]
        if taken or len(self._extra) < len(extra):
            names = ", ".join(repr(retriever.name) for retriever in extra)
            raise InputError(
                f"expected retrievers whose names are their own, got {names}; {', '.join(_TAKEN)} are taken"
            )
        own, self._declared_values = self._split(self.values)
        self._trained: dict[Inputs, dict[str, Retriever]] = {DEFAULTS: self._make(own, DEFAULTS)}
        self._declared: dict[str, Retriever] = {}

    @property
    def inputs(self) -> Inputs:
        """What a network is trained on that learns from the scores of these."""
        return Inputs(RetrieverSettings().with_values(self._split(self.values)[0]))

    @property
    def names(self) -> tuple[str, ...]:
        """All retriever names; those of installed packages follow the built-in and custom ones."""
        known = (*RETRIEVERS, *self._extra, *OPTIONAL)
        others = (name for name in list_plugins(PLUGINS) if name not in known)
        return (*known, *others, *(PREFIX + name for name in self.rerankers.names))

    def describe_unknown(self, unknown: Sequence[str]) -> str:
        """Return a message about unknown names, with the nearest known ones. Rerankers are not listed: they are not
        what a mistyped name means.
        """
        known = [name for name in self.names if not name.startswith(PREFIX)]
        told = []
        for name in unknown:
            close = get_close_matches(name, known, n=1, cutoff=0.75)
            told.append(f"{name} (did you mean {close[0]}?)" if close else name)
        return f"unknown retriever {', '.join(told)}: expected some of {', '.join(known)}"

    def chosen_names(
        self, names: Sequence[str] | None = None, values: SettingValues | None = None
    ) -> list[str]:
        """Return the names of the retrievers that :meth:`choose` returns, in its order, without making any. Raises the
        same errors, but for unknown settings.
        """
        if len(flatten(checked_settings(values))) > MAX_SETTINGS:
            raise InputError(
                f"expected at most {MAX_SETTINGS:,} settings of retrievers, got {len(flatten(values or {})):,}"
            )
        if names is None:
            return [*RETRIEVERS, *self._extra]
        check_texts("retrievers", names, "['lexical']")
        if not names:
            raise InputError(NO_NAMES)
        if len(names) > MAX_RETRIEVERS:
            raise InputError(f"expected at most {MAX_RETRIEVERS} retrievers, got a list of {len(names):,}")
        usual = (*RETRIEVERS, *self._extra, *OPTIONAL)
        unknown = [
            str(name)[:100]
            for name in names
            if name not in usual and name not in list_plugins(PLUGINS) and not str(name).startswith(PREFIX)
        ]
        if unknown:
            raise InputError(self.describe_unknown(unknown))
        return list(dict.fromkeys([*(name for name in usual if name in names), *names]))

    def choose(
        self,
        names: Sequence[str] | None = None,
        values: SettingValues | None = None,
        inputs: Inputs = DEFAULTS,
    ) -> Mapping[str, Retriever]:
        """Return the named retrievers in the order of :attr:`names`, or without ``names`` the default ones.

        ``values`` are settings for this call only, ``inputs`` those of a trained fusion in place of the defaults.
        Raises InputError for an unknown name and for an empty list, ConfigurationError for an unknown setting.
        """
        chosen = self.chosen_names(names, values)
        values = flatten(checked_settings(values))
        if values:
            own, declared_values = self._split({**self.values, **values})
            usual = self._make(own, inputs)
        else:
            usual, declared_values = self._trained_with(inputs), self._declared_values

        def made(name: str) -> Retriever:
            if name in usual:
                return usual[name]
            if name.startswith(PREFIX):
                return self._reranking(name, usual, values)
            return (
                make_plugin(name, declared_values.get(name, {})) if values else self._declared_retriever(name)
            )

        return {name: made(name) for name in chosen}

    def rerank_settings(self, values: SettingValues | None = None) -> RerankSettings:
        """Return the reranking settings, with overrides ``rerank.NAME`` for this call. Raises ConfigurationError."""
        given = {**self.values, **flatten(checked_settings(values))}
        of_rerankers = {key: value for key, value in given.items() if key.startswith(_RERANK)}
        return with_values(_StageSettings(), of_rerankers).rerank

    def _reranking(self, name: str, usual: Mapping[str, Retriever], values: SettingValues) -> RerankRetriever:
        reranker = self.rerankers.get(name.removeprefix(PREFIX))
        views = {view: usual[view] for view in reranker.views}
        return RerankRetriever(reranker, views, self.rerank_settings(values))

    def _trained_with(self, inputs: Inputs) -> dict[str, Retriever]:
        if inputs not in self._trained:
            self._trained[inputs] = self._make(self._split(self.values)[0], inputs)
        return self._trained[inputs]

    def _make(self, own: SettingValues, inputs: Inputs) -> dict[str, Retriever]:
        settings = inputs.retrievers.with_values(own)
        selector = MatchSelector(inputs.match) if self.selector is None else self.selector
        made = make_retrievers(settings, names=_TAKEN, selector=selector)
        optional = {name: made.pop(name) for name in OPTIONAL}
        return {**made, **self._extra, **optional}

    def _declared_retriever(self, name: str) -> Retriever:
        if name not in self._declared:
            self._declared[name] = make_plugin(name, self._declared_values.get(name, {}))
        return self._declared[name]

    def _split(self, values: SettingValues) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Split the settings into those of built-in retrievers and, by name, those of installed packages."""
        own: dict[str, Any] = {}
        declared: dict[str, dict[str, Any]] = {}
        self.rerank_settings(values)  # raises for invalid settings of rerankers
        for key, value in values.items():
            if key.startswith(_RERANK):
                continue
            name, _, setting = key.partition(".")
            if name in self._extra:
                raise ConfigurationError(f"{key}: {name} was handed in as an object and has its own settings")
            if setting and name not in _TAKEN and name in list_plugins(PLUGINS):
                declared.setdefault(name, {})[setting] = value
            else:
                own[key] = value
        return own, declared


def checked_settings(values: object) -> SettingValues:
    """Return settings given by dotted name, or nested as in ``trivium.toml``. Raises InputError for anything else."""
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise InputError(
            f'expected settings by name, such as {{"walk.damping": 0.4}}, got {type(values).__name__}'
        )
    return values
