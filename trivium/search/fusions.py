"""Selects the fusion of a search: by name, as an object, or the default of the store; and what the numbers that it takes
are computed with. A trained network keeps that, and its searches use it, so that a changed default changes no score of a
network that was trained before.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from trivium.errors import ConfigurationError, FusionError, InputError
from trivium.fusion.default_decision import read_decision
from trivium.fusion.names import DEFAULT, FUSIONS, PLUGINS
from trivium.fusion.network import NetworkFusion
from trivium.fusion.registry import make_fusion, suits
from trivium.fusion.table import Fusion
from trivium.graph.protocols import GraphStore
from trivium.plugins import list_plugins
from trivium.rerank.names import PREFIX
from trivium.retrievers.names import OPTIONAL
from trivium.retrievers.path import MatchSettings
from trivium.retrievers.query import check_counts
from trivium.retrievers.registry import RetrieverSettings
from trivium.retrievers.setting_values import flatten, with_values
from trivium.retrievers.signals import SignalSettings

DEPTH = 30
"""Number of candidates that each retriever returns for fusion."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """Settings of the retrievers, of the path retriever's selector and of the signals, and how many candidates each
    retriever returns."""

    retrievers: RetrieverSettings = field(default_factory=RetrieverSettings)
    match: MatchSettings = field(default_factory=MatchSettings)
    signals: SignalSettings = field(default_factory=SignalSettings)
    depth: int = DEPTH

    def __post_init__(self) -> None:
        check_counts("inputs", depth=self.depth)

    @property
    def values(self) -> dict[str, Any]:
        """All of them by dotted name, as an artefact keeps them.

        >>> Inputs().values["retrievers.lexical.bm25.k1"]
        0.9
        """
        return flatten(asdict(self))


DEFAULTS = Inputs()
"""Those of this program."""


def inputs_of(fusion: Fusion) -> Inputs:
    """Return those a fusion was trained with: :data:`DEFAULTS` for fusions that were not trained, and where an artefact
    of an earlier version names none. Raises FusionError for what this program has not.
    """
    return _inputs_of(fusion) if isinstance(fusion, NetworkFusion) else DEFAULTS


@lru_cache(maxsize=16)
def _inputs_of(fusion: NetworkFusion) -> Inputs:
    try:
        return with_values(
            Inputs(), {name: _hashable(value) for name, value in fusion.inputs.items()}, constants=True
        )
    except ConfigurationError as error:
        raise FusionError(
            f"the trained fusion has other inputs than this program: {error}; train it again"
        ) from error


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


class Fusions:
    """The fusions of one store, created on first use and cached. Changes on disk are seen by the next engine.

    ``default`` (a fusion or a name) is used by searches that name none. Without it, the default is the fusion decided
    for the store, else the one shipped for its embedder.
    """

    def __init__(self, store: GraphStore, default: str | Fusion | None = None) -> None:
        self._store = store
        self._default = default
        self._made: dict[str, Fusion] = {}
        if default is not None and not isinstance(default, str):
            self._made[default.name] = default

    @property
    def names(self) -> tuple[str, ...]:
        """All known names: built-in fusions, then the one passed as an object, then those of installed packages."""
        handed_in = () if self._default is None or isinstance(self._default, str) else (self._default.name,)
        return tuple(dict.fromkeys((*FUSIONS, *handed_in, *list_plugins(PLUGINS))))

    def get(self, name: str) -> Fusion:
        """Return the fusion of that name, or the trained one in the folder of that name. Raises FusionError."""
        if name == DEFAULT and self._default is not None:
            name = self._default if isinstance(self._default, str) else self._default.name
        if name not in self._made:
            identity = self._store.embedder
            embedder = "" if identity is None else identity.name
            self._made[name] = make_fusion(name, embedder, self._decision() if name == DEFAULT else None)
        return self._made[name]

    def suitable(self, name: str | None, retrievers: Collection[str]) -> Fusion:
        """Return the fusion for a search that asks ``retrievers``: the named one, else the default.

        If the default is a network trained on retrievers that are not asked, the convex combination is used instead.
        If an optional retriever is asked, reciprocal rank fusion is used, since no fusion was fitted with it and a
        weighted mean would ignore it. Raises FusionError.
        """
        if name is not None and not isinstance(name, (str, Path)):
            raise InputError(f"expected the name of a fusion, got {type(name).__name__}")
        name = DEFAULT if name is None else str(name)
        if name == DEFAULT and any(view in OPTIONAL or view.startswith(PREFIX) for view in retrievers):
            return self.get("rrf")
        fusion = self.get(name)
        return fusion if name != DEFAULT or suits(fusion, retrievers) else self.get("convex")

    def of_store(self) -> Fusion:
        """Return the default fusion of the store, read anew: the one decided for it, else the one shipped for its
        embedder. A default passed as an object or a name does not count. Raises FusionError for a damaged decision.
        """
        identity = self._store.embedder
        return make_fusion(DEFAULT, "" if identity is None else identity.name, self._decision())

    def forget_default(self) -> None:
        """Drop the cached default, after another decision was stored."""
        self._made.pop(DEFAULT, None)

    def on(self, store: GraphStore) -> Fusions:
        """Return the fusions for another snapshot of the store, which may have another default."""
        return Fusions(store, self._default)

    def _decision(self) -> str | None:
        kept = self._store.fusion_decision
        return None if kept is None else read_decision(kept).fusion
