"""What one call changes: the pages that come, change and go, and what they claim and state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trivium.graph.model import PageGraph, RelationEdge
from trivium.graph.store import WriteReport


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


def latest(pages: Sequence[PageGraph]) -> dict[str, PageGraph]:
    """One page a uri: the higher revision, then the earlier. An unknown revision is the lowest."""
    chosen: dict[str, PageGraph] = {}
    for page in pages:
        other = chosen.get(page.uri)
        if other is None or _newer(page.revision, other.revision):
            chosen[page.uri] = page
    return chosen


def choose(
    pages: Mapping[str, PageGraph], stored: Mapping[str, tuple[str, int | None]]
) -> tuple[dict[str, PageGraph], list[str], WriteReport]:
    """Pages to load, those of them that replace a stored one, and the report.

    ``stored`` has content hash and revision of the pages that are there. A revision that is unknown on either side
    settles nothing: such a page is loaded.
    """
    loaded: dict[str, PageGraph] = {}
    replaced: list[str] = []
    skipped: list[str] = []
    unchanged = 0
    for uri, page in pages.items():
        if uri in stored:
            content_hash, revision = stored[uri]
            if page.content_hash == content_hash:
                unchanged += 1
                continue
            if _newer(revision, page.revision) and page.revision is not None:
                skipped.append(uri)
                continue
            replaced.append(uri)
        loaded[uri] = page
    return (
        loaded,
        replaced,
        WriteReport(len(loaded) - len(replaced), len(replaced), unchanged, tuple(skipped)),
    )


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


def _newer(revision: int | None, than: int | None) -> bool:
    return revision is not None and (than is None or revision > than)
