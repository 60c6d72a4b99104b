"""Runs the checks of a store, and repairs what can be repaired. Every page is read and compared with the digest recorded
when it was written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from trivium.checking.compare_vectors import OTHER_VECTORS, compare_vectors
from trivium.checking.report import CheckReport
from trivium.common.iteration import batched
from trivium.common.progress import Progress, StageProgress
from trivium.embedding.store_embedder import StoreEmbedder
from trivium.errors import EmbedderMismatchError, EmbeddingError, MissingExtraError, StoreFormatError
from trivium.graph.check_findings import PAGES, VECTORS, Finding, Severity, damaged_pages, damaged_titles
from trivium.graph.page_facts import page_digest
from trivium.graph.protocols import GraphStore
from trivium.index.indexer import Indexer

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
        elsewhere = {edge.chunk for edge in page.relations} - {"", *(chunk.uri for chunk in page.chunks)}
        if elsewhere or digests.get(page.uri) != page_digest(page):
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


def check_store(
    store: GraphStore,
    embedder: StoreEmbedder,
    *,
    repair: bool = False,
    full: bool = False,
    progress: StageProgress | None = None,
) -> CheckReport:
    """See :meth:`trivium.engine.Engine.check`."""
    return _Run(store, embedder, full=full, progress=progress).run(repair=repair)


@dataclass
class _Run:
    """One check. ``checked`` is filled while it runs."""

    store: GraphStore
    embedder: StoreEmbedder
    full: bool
    progress: StageProgress | None
    checked: dict[str, int] = field(default_factory=dict)

    def run(self, *, repair: bool) -> CheckReport:
        found = self._look()
        repaired: list[Finding] = []
        if repair and any(finding.repairable or finding.kind == PAGES for finding in found):
            before = found
            self._repair(found)
            found = self._look()
            left = {(finding.kind, finding.where) for finding in found}
            repaired = [f for f in before if f.repairable and (f.kind, f.where) not in left]
        return CheckReport(self.store.location, tuple(found), tuple(repaired), self.checked)

    def _look(self) -> list[Finding]:
        """Return all current problems. If a store cannot be read, further checks are skipped."""
        found = self.store.checker().check(self._stage("check"))
        if any(finding.severity is Severity.BROKEN for finding in found):
            return found
        try:
            return [*found, *self._graph(found)]
        except StoreFormatError as error:
            return [*found, Finding("store", Severity.BROKEN, str(error))]

    def _graph(self, known: Sequence[Finding]) -> Iterator[Finding]:
        """Check pages and vectors, in addition to the ``known`` findings."""
        damaged = {uri for finding in known if finding.kind == PAGES for uri in finding.where}
        pages = check_pages(self.store, self._stage("pages"))
        pages.changed = [uri for uri in pages.changed if uri not in damaged]
        self.checked.update(pages=pages.pages, chunks=pages.chunks)
        yield from pages.findings()
        if self.store.embedder is None or any(finding.kind == VECTORS for finding in known):
            return
        try:
            embedder = self.embedder.get()
        except (EmbedderMismatchError, EmbeddingError, MissingExtraError) as error:
            yield Finding("embedder", Severity.NOTE, f"vectors were not compared with texts: {error}")
            return
        try:
            compared = compare_vectors(
                self.store,
                embedder,
                pages.types,
                without={*damaged, *pages.changed},
                full=self.full,
                progress=self._stage("compare"),
            )
        except EmbeddingError as error:  # its files are damaged, or its endpoint does not answer
            yield Finding("embedder", Severity.DAMAGE, f"texts cannot be embedded: {error}")
        else:
            self.checked["vectors compared"] = compared.compared
            yield from compared.findings()

    def _repair(self, found: Sequence[Finding]) -> None:
        to_embed = any(finding.kind in (VECTORS, OTHER_VECTORS) for finding in found)
        if to_embed:
            self.embedder.get()  # fail before dropping anything that could not be recomputed
        checker = self.store.checker()
        checker.repair(found)
        for finding in found:
            if finding.kind == OTHER_VECTORS:
                checker.drop_vectors(finding.keys)
        if to_embed:
            indexer = Indexer(self.store, self.embedder)
            indexer.embed(self._stage("embed"))
            indexer.embed_sentences(self._stage("sentences"))
        if not any(finding.severity is Severity.BROKEN and not finding.repairable for finding in found):
            self.store.refresh(self._stage("index"))

    def _stage(self, name: str) -> Progress | None:
        report = self.progress
        return None if report is None else lambda done, total: report(name, done, total)
