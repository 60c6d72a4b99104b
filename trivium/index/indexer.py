"""What fills a store: load documents, embed their texts, take pages away, add what DBpedia knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

from trivium.common.progress import Progress, StageProgress
from trivium.embedding.fill import fill, fill_parts
from trivium.embedding.store_embedder import StoreEmbedder
from trivium.errors import InputError
from trivium.graph.bulk import ExportReport, export
from trivium.graph.dbpedia import EnrichReport, enrich
from trivium.graph.protocols import GraphStore
from trivium.graph.schema import page_uri
from trivium.index.isolation import ParserProcess
from trivium.index.load import IngestReport, PageCheck, load
from trivium.index.sentences import sentence_texts
from trivium.limits import InputLimits
from trivium.parser.sources.base import Format
from trivium.settings import load_settings
from trivium.text import has_lone_surrogate, normalise_title


class BuildOptions(TypedDict, total=False):
    """The options of :meth:`Indexer.build`."""

    format: Format
    workers: int | None
    embed: bool
    sentences: bool
    progress: StageProgress | None
    names: Mapping[str, str] | None
    limits: InputLimits | None
    isolated: bool
    check: PageCheck | None


@dataclass(frozen=True, slots=True)
class Indexer:
    """Fills one store; one call at a time."""

    store: GraphStore
    embedder: StoreEmbedder
    parser: ParserProcess = field(default_factory=ParserProcess)
    """Parses for isolated builds; :meth:`ParserProcess.close` ends it."""

    def build(
        self,
        sources: Sequence[str | Path],
        *,
        format: Format = "auto",
        workers: int | None = None,
        embed: bool = True,
        sentences: bool = True,
        progress: StageProgress | None = None,
        names: Mapping[str, str] | None = None,
        limits: InputLimits | None = None,
        isolated: bool = False,
        check: PageCheck | None = None,
    ) -> IngestReport:
        """Parse, load and (unless ``embed`` is false) embed sources, and (unless ``sentences`` is) their sentences; also
        adds to a store that has some. ``names`` says by path what files are called, where that is not their path.
        ``limits`` are those of the settings where none are given. ``isolated`` parses files of people who are not trusted
        in a process apart, within its limits of memory and time. ``check`` is called with every page before it is
        written; what it raises ends the build.

        A page already there is replaced if it changed. Documents that cannot be read are in the report's
        ``problems``; they never stop the run. Running it again after an interruption finishes the work.
        """
        if isinstance(sources, str | Path):
            raise InputError(f"expected a list of sources, got {type(sources).__name__}: [{str(sources)!r}]")
        if self.embedder.chosen and self.store.embedder is None:
            self.store.set_embedder(
                self.embedder.get().identity
            )  # remembered also when embedding comes later
        report = load(
            [str(s) for s in sources],
            self.store,
            format=format,
            workers=workers,
            progress=progress,
            names=names,
            limits=load_settings().limits if limits is None else limits,
            isolated=self.parser if isolated else None,
            check=check,
        )
        if embed:
            self.embed(_stage(progress, "embed"))
        if embed and sentences:
            self.embed_sentences(_stage(progress, "sentences"))
        self.store.refresh(_stage(progress, "index"))
        return report

    def remove(self, pages: Sequence[str]) -> list[str]:
        """Remove pages by title, alias or uri; returns the uris removed. Raises InputError for an unknown page."""
        if isinstance(pages, str):
            raise InputError(f"expected a list of titles, got the text {pages!r}")
        for page in pages:
            if has_lone_surrogate(page):
                raise InputError(f"expected a title in UTF-8, got {page!r}")
        uris = {page: (page_uri(normalise_title(page)), page) for page in pages}
        resolved = self.store.resolve(list(dict.fromkeys(uri for names in uris.values() for uri in names)))
        present = self.store.find_pages(list(resolved.values()))
        found = {
            page: next((resolved[uri] for uri in names if resolved.get(uri) in present), None)
            for page, names in uris.items()
        }
        unknown = [page for page, uri in found.items() if uri is None]
        if unknown:
            raise InputError(f"no such page in the store: {', '.join(unknown)}")
        removed = self.store.delete([uri for uri in found.values() if uri is not None])
        self.store.refresh()
        return removed

    def embed(self, progress: Progress | None = None) -> int:
        """Embed every text that has no vector yet; returns how many. Resumable: what is done stays done."""
        texts = self.store.pending_texts()
        if not texts:
            return 0
        embedder = self.embedder.get()
        self.store.set_embedder(embedder.identity)
        return fill(texts, embedder, self.store.put_vectors, progress, total=len(texts))

    def embed_sentences(self, progress: Progress | None = None) -> int:
        """Embed the sentences of chunks one by one, where that is not done yet; returns how many. Takes about as long as
        :meth:`embed`, and as resumable. ``progress`` counts chunks."""
        passages = self.store.pending_sentences()
        if not passages:
            return 0
        embedder = self.embedder.get()
        self.store.set_embedder(embedder.identity)
        return fill_parts(
            passages, sentence_texts, embedder, self.store.put_sentences, progress, total=len(passages)
        )

    def enrich(
        self, sources: Sequence[str], *, embed: bool = True, progress: StageProgress | None = None
    ) -> EnrichReport:
        """Add relations and types of DBpedia (dump files, or the address of a SPARQL endpoint) to what the store
        holds, and (unless ``embed`` is false, or nothing is embedded yet) embed what that changed."""
        report = enrich(self.store, sources, progress=progress)
        if embed and self.store.embedder is not None:
            self.embed(_stage(progress, "embed"))
        self.store.refresh(_stage(progress, "index"))
        return report

    def export(self, folder: str | Path, progress: Progress | None = None) -> ExportReport:
        """Write the store as files for ``neo4j-admin database import full``; see :func:`trivium.graph.bulk.export`."""
        return export(self.store, folder, progress=progress)


def _stage(progress: StageProgress | None, stage: str) -> Progress | None:
    """Progress of one stage."""
    return None if progress is None else lambda done, total: progress(stage, done, total)
