"""Runs the checks of a store, and repairs what can be repaired."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from trivium.checking.models import check_models
from trivium.checking.pages import UNSUMMED, check_pages
from trivium.checking.report import CheckReport
from trivium.checking.vectors import OTHER_SENTENCES, OTHER_VECTORS, check_vectors
from trivium.common.progress import Progress, StageProgress
from trivium.embedding.store_embedder import StoreEmbedder
from trivium.errors import EmbedderMismatchError, EmbeddingError, MissingExtraError, StoreFormatError
from trivium.graph.findings import PAGES, SENTENCES, VECTORS, Finding, Severity
from trivium.graph.protocols import GraphStore
from trivium.index.indexer import Indexer

_DROPPED = (VECTORS, SENTENCES, OTHER_VECTORS, OTHER_SENTENCES)
"""Kinds of findings whose repair drops vectors, so that texts have to be embedded again."""


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
    """One check. ``repaired`` and ``checked`` are filled while it runs."""

    store: GraphStore
    embedder: StoreEmbedder
    full: bool
    progress: StageProgress | None
    repaired: list[Finding] = field(default_factory=list)
    checked: dict[str, int] = field(default_factory=dict)

    def run(self, *, repair: bool) -> CheckReport:
        found = self._look()
        if repair and any(finding.repairable or finding.kind == PAGES for finding in found):
            before = found
            self._repair(found)
            found = self._look()
            left = {(finding.kind, finding.where) for finding in found}
            self.repaired = [f for f in before if (f.kind, f.where) not in left and f.repairable]
        return CheckReport(self.store.location, tuple(found), tuple(self.repaired), self.checked)

    def _look(self) -> list[Finding]:
        """Return all current problems. If a store cannot be read, further checks are skipped."""
        found = self.store.checker().check(self._stage("check"))
        if any(finding.severity is Severity.BROKEN for finding in found):
            return found
        try:
            found += self._graph(found)
        except StoreFormatError as error:
            found.append(Finding("store", Severity.BROKEN, str(error)))
            return found
        identity = self.store.embedder
        if identity is not None:
            self.checked["model files"], of_models = check_models(identity.name)
            found += of_models
        return found

    def _graph(self, known: Sequence[Finding]) -> list[Finding]:
        """Check the graph itself, in addition to the ``known`` findings."""
        damaged = {uri for finding in known if finding.kind == PAGES for uri in finding.where}
        pages = check_pages(self.store, self._stage("pages"))
        pages.changed = [uri for uri in pages.changed if uri not in damaged]
        self.checked.update(pages=pages.pages, chunks=pages.chunks)
        found = list(pages.findings())
        if self.store.embedder is None or any(finding.kind in (VECTORS, SENTENCES) for finding in known):
            return found
        try:
            embedder = self.embedder.get()
        except (EmbedderMismatchError, EmbeddingError, MissingExtraError) as error:
            return [
                *found,
                Finding("embedder", Severity.NOTE, f"vectors were not compared with texts: {error}"),
            ]
        compared = check_vectors(
            self.store,
            embedder,
            pages.types,
            without={*damaged, *pages.changed},
            full=self.full,
            progress=self._stage("compare"),
        )
        self.checked.update({"vectors compared": compared.compared, "sentences compared": compared.sentences})
        return [*found, *compared.findings()]

    def _repair(self, found: Sequence[Finding]) -> None:
        to_embed = [finding for finding in found if finding.kind in _DROPPED]
        if to_embed:
            self.embedder.get()  # fail before dropping anything that could not be recomputed
        checker = self.store.checker()
        checker.repair(found)
        for finding in found:
            if finding.kind == UNSUMMED:
                checker.sum_pages(dict(finding.keys))
            elif finding.kind == OTHER_VECTORS:
                checker.drop_vectors(finding.keys)
            elif finding.kind == OTHER_SENTENCES:
                checker.drop_sentences(finding.keys)
        if to_embed:
            indexer = Indexer(self.store, self.embedder)
            indexer.embed(self._stage("embed"))
            indexer.embed_sentences(self._stage("sentences"))
        if not any(finding.severity is Severity.BROKEN and not finding.repairable for finding in found):
            self.store.refresh(self._stage("index"))

    def _stage(self, name: str) -> Progress | None:
        report = self.progress
        return None if report is None else lambda done, total: report(name, done, total)
