"""Which of several versions of a page a store keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trivium.graph.model import PageGraph
from trivium.graph.records import WriteReport


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


def _newer(revision: int | None, than: int | None) -> bool:
    return revision is not None and (than is None or revision > than)
