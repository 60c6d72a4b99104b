"""The retrievers that a search can ask: the eight of the package, those handed in, and those of installed packages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trivium.errors import InputError
from trivium.plugins import list_plugins
from trivium.retrievers.base import Retriever
from trivium.retrievers.registry import RETRIEVERS, RetrieverSettings, make_plugin, make_retrievers
from trivium.retrievers.selectors import Selector
from trivium.retrievers.setting_values import PLUGINS, SettingValues, split_values

__all__ = ["RetrieverSet", "SettingValues"]


class RetrieverSet:
    """Retrievers by name.

    A search that names none asks the eight of the package and those handed in as objects (``extra``). Retrievers that
    installed packages declare (entry points of the group ``trivium.retrievers``) are asked when they are named.
    ``values`` are settings by dotted name, such as ``{"walk.damping": 0.4}``; ``selector`` chooses for the path
    retriever, by default without a language model. Both can be read, and not changed.
    Raises ConfigurationError for unknown settings, InputError for two retrievers of one name.
    """

    def __init__(
        self,
        extra: Sequence[Retriever] = (),
        values: SettingValues | None = None,
        selector: Selector | None = None,
    ) -> None:
        self.values = dict(values or {})
        self.selector = selector
        self._extra = {retriever.name: retriever for retriever in extra}
        taken = [name for name in self._extra if name in RETRIEVERS]
        if taken or len(self._extra) < len(extra):
            names = ", ".join(repr(retriever.name) for retriever in extra)
            raise InputError(
                f"expected retrievers whose names are their own, got {names}; {', '.join(RETRIEVERS)} are taken"
            )
        self._usual = self._make(self.values)
        self._plugins: dict[str, Retriever] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that can be asked, those of installed packages last."""
        known = (*RETRIEVERS, *self._extra)
        return (*known, *(name for name in list_plugins(PLUGINS) if name not in known))

    def choose(
        self, names: Sequence[str] | None = None, values: SettingValues | None = None
    ) -> Mapping[str, Retriever]:
        """The named retrievers, in the order of :attr:`names`; those of :class:`RetrieverSet` where none is named.
        ``values`` are settings for this choice only. Raises InputError for an unknown name, ConfigurationError for an
        unknown setting."""
        usual = self._usual if not values else self._make({**self.values, **values})
        if names is None or not names:
            return usual
        if isinstance(names, str):
            raise InputError(f"expected a list of retrievers, got the text {names!r}")
        unknown = [str(name) for name in names if name not in usual and name not in list_plugins(PLUGINS)]
        if unknown:
            raise InputError(
                f"unknown retriever {', '.join(unknown)}: expected some of {', '.join(self.names)}"
            )
        chosen = {name: usual[name] for name in usual if name in names}
        for name in names:
            if name not in chosen:
                chosen[name] = self._plugin(name, values)
        return chosen

    def _make(self, values: SettingValues) -> dict[str, Retriever]:
        own, _ = split_values(values, self._extra)
        settings = RetrieverSettings().with_values(own)
        return {**make_retrievers(settings, selector=self.selector), **self._extra}

    def _plugin(self, name: str, values: SettingValues | None) -> Retriever:
        if values:
            return make_plugin(name, split_values({**self.values, **values}, self._extra)[1].get(name, {}))
        if name not in self._plugins:
            self._plugins[name] = make_plugin(name, split_values(self.values, self._extra)[1].get(name, {}))
        return self._plugins[name]
