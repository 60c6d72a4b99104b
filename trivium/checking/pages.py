"""Reads every page of a store and compares it with the digest recorded when it was written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from trivium.common.iteration import batched
from trivium.common.progress import Progress
from trivium.graph.check_findings import Finding, damaged_pages, damaged_titles
from trivium.graph.page_facts import page_digest
from trivium.graph.protocols import GraphStore

_TITLES_A_READ = 5_000


@dataclass
class PageCheck:
    """Result of reading the pages: their number and that of their chunks, pages that are not what was written, the
    types of their relations, and the titles they name that stand for nothing.
    """

    pages: int = 0
    chunks: int = 0
    changed: list[str] = field(default_factory=list)
    types: dict[str, None] = field(default_factory=dict)
    unresolved: list[str] = field(default_factory=list)

    def findings(self) -> Iterator[Finding]:
        """Yield one finding per kind of problem."""
        if self.changed:
            yield damaged_pages("not what was written", self.changed)
        if self.unresolved:
            yield damaged_titles("pages name titles that stand for nothing", self.unresolved)


def check_pages(store: GraphStore, progress: Progress | None = None) -> PageCheck:
    """Read and check every page. ``progress`` counts pages."""
    seen = PageCheck()
    titles: dict[str, None] = {}
    total, digests = store.count_pages(), store.checker().page_digests()
    for page in store.page_graphs():
        if digests.get(page.uri) != page_digest(page):
            seen.changed.append(page.uri)
        titles.update(dict.fromkeys(title for chunk in page.chunks for title in chunk.cites))
        titles.update(dict.fromkeys(page.aliases))
        for relation in page.relations:
            seen.types[relation.type] = None
            titles.update({relation.source: None, relation.target: None})
        seen.pages += 1
        seen.chunks += len(page.chunks)
        if progress is not None:
            progress(seen.pages, total)
    for some in batched(titles, _TITLES_A_READ):
        found = store.resolve(some)
        seen.unresolved += [title for title in some if title not in found]
    return seen
