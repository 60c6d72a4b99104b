"""What the numbers that a fusion takes are computed with. A trained network keeps it, and its searches use it, so that a
changed default changes no score of a network that was trained before.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

from trivium.errors import ConfigurationError, FusionError
from trivium.fusion.network import NetworkFusion
from trivium.fusion.protocol import Fusion
from trivium.retrievers.query import check_counts
from trivium.retrievers.registry import RetrieverSettings
from trivium.retrievers.selectors import MatchSettings
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
        return with_values(Inputs(), {name: _hashable(value) for name, value in fusion.inputs.items()})
    except ConfigurationError as error:
        raise FusionError(
            f"the trained fusion has other inputs than this program: {error}; train it again"
        ) from error


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
