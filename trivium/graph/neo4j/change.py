"""What one call changes: the pages that come, change and go, and what they claim and state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trivium.graph.model import PageGraph, RelationEdge


@dataclass(frozen=True, slots=True)
class Change:
    """``loaded`` are pages that come or, where named in ``replaced``, come anew. ``removed`` are pages that go, with
    the aliases they claimed. ``claims`` are new aliases of pages that are there or come, ``relations`` further ones
    of pages that are there."""

    loaded: Mapping[str, PageGraph] = field(default_factory=dict)
    replaced: Sequence[str] = ()
    removed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    claims: Mapping[str, Sequence[str]] = field(default_factory=dict)
    relations: Mapping[str, Sequence[RelationEdge]] = field(default_factory=dict)

    @property
    def added(self) -> list[str]:
        """Pages that were not there."""
        replaced = set(self.replaced)
        return [uri for uri in self.loaded if uri not in replaced]

    @property
    def emptied(self) -> list[str]:
        """Pages whose sections and chunks go."""
        return [*self.replaced, *self.removed]


def fresh_claims(
    claims: Mapping[str, Sequence[str]], known: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """page -> the aliases it has not claimed yet, of the pages in ``known`` (page -> claimed aliases)."""
    fresh: dict[str, list[str]] = {}
    for page, aliases in claims.items():
        if page in known:
            old = set(known[page])
            new = [alias for alias in dict.fromkeys(aliases) if alias not in old]
            if new:
                fresh[page] = new
    return fresh
