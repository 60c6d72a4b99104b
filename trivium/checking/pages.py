"""Checks every page of a store against its digest and against the rules of the graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from trivium.checking.rules import broken_rules
from trivium.common.iteration import batched
from trivium.common.progress import Progress
from trivium.graph.digest import page_digest
from trivium.graph.findings import Finding, Severity, damaged_pages
from trivium.graph.protocols import GraphStore

UNSUMMED = "page not summed"
_LINKS = "link"
_TITLES_A_READ = 5_000


@dataclass
class PageCheck:
    """Result of reading the pages. ``unsummed`` contains the digests of pages that were stored without one."""

    pages: int = 0
    chunks: int = 0
    changed: list[str] = field(default_factory=list)
    broken: dict[str, list[str]] = field(default_factory=dict)
    unsummed: dict[str, str] = field(default_factory=dict)
    titles: dict[str, None] = field(default_factory=dict)
    types: dict[str, None] = field(default_factory=dict)
    unresolved: list[str] = field(default_factory=list)

    def findings(self) -> Iterator[Finding]:
        """Yield one finding per kind of problem."""
        if self.changed:
            yield damaged_pages("not what was written", self.changed)
        for page, problems in self.broken.items():
            yield damaged_pages("; ".join(problems), [page])
        if self.unresolved:
            yield Finding(
                _LINKS,
                Severity.DAMAGE,
                "pages name titles that stand for nothing",
                tuple(self.unresolved),
                "restore a backup, or build the store again",
            )
        if self.unsummed:
            yield Finding(
                UNSUMMED,
                Severity.NOTE,
                "written by an earlier version, without checksums",
                (f"{len(self.unsummed):,} pages",),
                "a repair adds checksums of what is there now",
                repairable=True,
                keys=tuple(self.unsummed.items()),
            )


def check_pages(store: GraphStore, progress: Progress | None = None) -> PageCheck:
    """Read and check every page. ``progress`` counts pages."""
    seen = PageCheck()
    total, digests = store.count_pages(), store.checker().page_digests()
    for page in store.page_graphs():
        digest = page_digest(page)
        if page.uri not in digests:
            seen.unsummed[page.uri] = digest
        elif digests[page.uri] != digest:
            seen.changed.append(page.uri)
        if problems := broken_rules(page):
            seen.broken[page.uri] = problems
        seen.titles.update(dict.fromkeys(title for chunk in page.chunks for title in chunk.cites))
        seen.titles.update(dict.fromkeys(page.aliases))
        for relation in page.relations:
            seen.types[relation.type] = None
            seen.titles.update({relation.source: None, relation.target: None})
        seen.pages += 1
        seen.chunks += len(page.chunks)
        if progress is not None:
            progress(seen.pages, total)
    for titles in batched(seen.titles, _TITLES_A_READ):
        found = store.resolve(titles)
        seen.unresolved += [title for title in titles if title not in found]
    return seen
