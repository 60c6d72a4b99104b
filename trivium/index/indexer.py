"""Fills a store: loads documents, embeds their texts, removes pages, adds data from DBpedia."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from trivium.chunking.chunker import Chunker
from trivium.chunking.chunker_spec import DEFAULT
from trivium.chunking.registry import make_chunker
from trivium.common.argument_checks import check_texts
from trivium.common.progress import Progress, StageProgress
from trivium.embedding.late_chunking import is_late, is_plain
from trivium.embedding.manifest import english_only
from trivium.embedding.store_embedder import StoreEmbedder
from trivium.errors import ConfigurationError, InputError
from trivium.graph.page_facts import check_chunker
from trivium.graph.protocols import GraphStore
from trivium.index.document_languages import allow_any_embedder, check_embedder_knows, check_embedder_of
from trivium.index.embed_missing import fill_pictures, fill_sentences, fill_texts, forget_context
from trivium.index.load import delete_linked, load
from trivium.index.load_report import IngestReport, nothing_read
from trivium.index.parser_process import ParserProcess
from trivium.index.recognise_names import choose_entities
from trivium.index.requests import BuildRequest
from trivium.settings.limits import InputLimits
from trivium.settings.settings import load_settings
from trivium.text.languages import AUTO, StoreLanguages, check_language

if TYPE_CHECKING:  # what most builds do not need is imported where it is used
    from trivium.embedding.image_embedders import ImageEmbedder
    from trivium.entities.relation_prompt import RelationSchema
    from trivium.graph.dbpedia import EnrichReport
    from trivium.graph.neo4j_import import ExportReport
    from trivium.index.deleted_files import Pruning
    from trivium.index.model_relations import ModelRelationsReport
    from trivium.index.ray_build import RayBuild
    from trivium.llm.chat_model import ChatModel


@dataclass(frozen=True, slots=True)
class Indexer:
    """Fills one store. Not thread-safe."""

    store: GraphStore
    embedder: StoreEmbedder
    parser: ParserProcess = field(default_factory=ParserProcess)
    """Parses documents of isolated builds. Stop it with :meth:`ParserProcess.close`."""

    def build(self, request: BuildRequest) -> IngestReport:
        """Parse, load and embed sources, adding to what the store already holds.

        Documents that cannot be read are listed in the report's ``problems`` and do not stop the build. After an
        interruption, calling it again completes the work. A stored page is replaced if it changed. The report's
        ``questions`` lists questions of Natural Questions rows that could not be traced to chunks.

        Raises, before anything is read:

        - ConfigurationError for an English-only embedder and a language named that is not English, unless the request
          or the store allows any embedder (for a language that is detected, after loading, if most pages are in it).
        - ChunkerMismatchError for another chunker than the store has with its first page.
        - EmbedderMismatchError if the store was built without ``late``, or with headings; EmbeddingError if the embedder
          does not support late chunking.
        - ConfigurationError for a cluster together with documents that are chunked late, embedded without headings,
          parsed in isolation or cut by a chunker that asks a model, and if it is unavailable; MissingExtraError if Ray
          is not installed.

        Raises NothingReadError if no document could be read and the store is empty.
        """
        language, progress = request.language, request.progress
        known = StoreLanguages.read(self.store.languages)
        embeds = request.embed and not request.any_embedder and not known.any_embedder
        named = known.codes[0] if language is None else check_language(language)
        if named != AUTO and embeds:
            self.embedder.choose_for(named)
            if language is not None:
                check_embedder_knows(named, self.embedder.name)
        pruning = self._pruning(request.paths) if request.prune else None
        cutter = self._chunker(request.chunker, request.model)
        if request.ray is not None:
            self._check_ray(request.ray, cutter, request)
        if request.late:
            self.embedder.chunk_late()
        if not request.headings:
            self.embedder.leave_out_headings()
        special = request.late or not request.headings
        refusable = embeds and (check_language(language) == AUTO if language is not None else known.detect)
        if not refusable:  # an embedder that may be rejected after loading must not be recorded yet
            self._remember_embedder(special)
        limits = load_settings().limits if request.limits is None else request.limits
        # What else a page may depend on, and whoever wants to see every page, needs it read.
        reread = request.reread or bool(request.names or request.meta or request.check or request.isolated)
        with ExitStack() as stack:
            by_ray = (
                None
                if request.ray is None
                else stack.enter_context(self._on_ray(request.ray, limits, cutter.spec, request))
            )
            report = load(
                request.paths,
                self.store,
                format=request.format,
                workers=request.workers,
                progress=progress,
                names=request.names,
                by_name=request.by_name,
                limits=limits,
                isolated=self.parser if request.isolated else None,
                check=request.check if pruning is None else pruning.before(request.check),
                chunker=cutter,
                before_replacing=forget_context(self.store) if is_late(self.store.embedder) else None,
                apart=request.apart,
                language=language,
                metadata=request.meta,
                any_embedder=request.any_embedder,
                entities=request.entities,
                reread=reread,
                parse_all=None if by_ray is None else by_ray.parse_all,
            )
            came_to_nothing = (report.problems or report.left_out_kinds) and not report.read
            if came_to_nothing and not self.store.count_pages():
                raise nothing_read(report)
            if pruning is not None:
                report.relinked += delete_linked(
                    self.store, pruning.stale(self.store, report), report.removed
                )
            if request.questions:
                from trivium.index.load_questions import put_questions

                report.questions = put_questions(
                    request.paths,
                    self.store,
                    annotators=request.annotators,
                    format=request.format,
                    limits=limits,
                    progress=_stage(progress, "questions"),
                )
                for problem in report.questions.problems:
                    report.problem(problem, limits.problems)
            if embeds:
                if by_ray is None:  # whose parts are embedded already
                    self.embedder.choose_for(report.likely_language or self._first_language)
                check_embedder_of(self.store, self.embedder.name)
                if english_only(self.embedder.name):
                    report.english_embedder = self.embedder.name
            self._remember_embedder(special)
            if request.embed and by_ray is not None:
                self.store.set_embedder(self.embedder.get().identity)
                by_ray.embed(self.store, request.sentences, lambda stage: _stage(progress, stage) or _ignore)
        if request.embed:
            self._embed(_stage(progress, "embed"))
            if request.sentences:
                self.embed_sentences(_stage(progress, "sentences"))
            if request.images is not None:
                self.embed_pictures(request.images, _stage(progress, "pictures"))
        self.store.refresh(_stage(progress, "index"))
        return report

    def _pruning(self, sources: Sequence[str]) -> Pruning:
        from trivium.index.deleted_files import Pruning, folders_of

        folders = folders_of(sources)
        if not folders:
            raise InputError(
                "documents are pruned from folders: expected a folder among the sources, got none"
            )
        return Pruning(folders)

    def _check_ray(self, address: str, chunker: Chunker, request: BuildRequest) -> None:
        """Raise ConfigurationError for what is no address, and for options that depend on more than the documents of a
        part, or on a model in this process.
        """
        from trivium.index.ray_build import check_ray

        check_ray(address)
        wrong = (
            (request.isolated, "in an isolated process"),
            (request.late or is_late(self.store.embedder), "chunked late"),
            (not request.headings or is_plain(self.store.embedder), "embedded without headings"),
            (not chunker.portable, f"by the chunker {chunker.spec}, which asks a model"),
        )
        for applies, what in wrong:
            if applies:
                raise ConfigurationError(
                    f"documents cannot be built on a cluster and {what}: leave out one of them"
                )

    def _on_ray(
        self, address: str, limits: InputLimits, chunker: str, request: BuildRequest
    ) -> AbstractContextManager[RayBuild]:
        from trivium.index.build_parts import Work
        from trivium.index.ray_build import ray_build

        folder = request.parts
        if folder is None:
            location = self.store.location
            if "://" in location:  # a database has no folder beside it: the parts go to the working directory
                location = re.sub(r"[^A-Za-z0-9.-]+", "-", location)
            folder = f"{location}.parts"
        embedder = self.embedder.get() if request.embed else None
        work = Work(
            cwd=str(Path.cwd()),
            limits=limits,
            chunker=chunker,
            embedder=self.embedder.portable if request.embed else None,
            identity=None if embedder is None else embedder.identity,
            sentences=request.sentences,
            device=self.embedder.device,
            entities=choose_entities(self.store, request.entities),
        )
        return ray_build(address, folder, work, embedder, _stage(request.progress, "parts") or _ignore)

    def _remember_embedder(self, special: bool) -> None:
        """Record the embedder chosen for the store even if embedding happens later. ``special`` tells whether the
        embedded part of a chunk was chosen, too.
        """
        if (self.embedder.chosen or special) and self.store.embedder is None:
            self.store.set_embedder(self.embedder.get().identity)

    def _chunker(self, wanted: str | None, model: str | ChatModel | None) -> Chunker:
        """Return the chunker of a build. Raises InputError, and ChunkerMismatchError before anything is read."""
        stored = self.store.chunker
        chunker = make_chunker(wanted or stored or DEFAULT, self.embedder.get, model)
        check_chunker(stored, chunker.spec)
        return chunker

    def remove(self, pages: Sequence[str]) -> list[str]:
        """Remove pages by title, alias, uri or source file, and return the uris removed. Raises InputError for an
        unknown name and suggests similar titles.
        """
        from trivium.index.find_pages import find_named

        check_texts("titles for pages", pages, "['Mars']")
        return self.remove_pages(find_named(self.store, pages))

    def remove_pages(self, uris: Sequence[str]) -> list[str]:
        """Remove pages by uri and return the uris removed. Unknown ones are skipped."""
        if not uris and not self.store.links_pending:
            return []
        removed: list[str] = []
        if self.store.entities is None:
            removed = self.store.delete(uris)
        else:  # other documents' names may be entities no longer, or of another kind
            delete_linked(self.store, uris, removed)
            if self.store.embedder is not None and len(self.store.pending_texts()):
                self._embed(None)
        self.store.refresh()
        return removed

    def embed(
        self, progress: Progress | None = None, *, any_embedder: bool = False, headings: bool = True
    ) -> int:
        """Embed every text without a vector and return their number. An interrupted run can be resumed.

        Raises ConfigurationError if most documents are not in English and the embedder supports English only, unless
        ``any_embedder`` is true (the embedder was chosen knowingly), which a store of such documents records. Without
        ``headings`` chunks are embedded without their headings; raises EmbedderMismatchError if the store was built
        with them.
        """
        if any_embedder:
            allow_any_embedder(self.store)
        self.embedder.choose_for(self._first_language)
        check_embedder_of(self.store, self.embedder.name)
        if not headings:
            self.embedder.leave_out_headings()
        return self._embed(progress)

    @property
    def _first_language(self) -> str:
        return StoreLanguages.read(self.store.languages).codes[0]

    def _embed(self, progress: Progress | None) -> int:
        return fill_texts(self.store, self.embedder.get, progress)

    def embed_sentences(self, progress: Progress | None = None) -> int:
        """Embed the sentences of chunks where that has not been done, and return their number. Takes about as long as
        :meth:`embed`, and can be resumed. ``progress`` counts chunks.
        """
        return fill_sentences(self.store, self.embedder.get, progress)

    def embed_pictures(self, images: str | ImageEmbedder, progress: Progress | None = None) -> int:
        """Embed the pictures without a vector, with an image embedder given by name or as an object, and return their
        number. Can be resumed. Raises EmbedderMismatchError if there are vectors of another one, ConfigurationError
        for an unknown name, MissingExtraError, and EmbeddingError if its files are unavailable.
        """
        from trivium.embedding.image_embedders import open_image_embedder

        embedder = (
            open_image_embedder(images, device=self.embedder.device) if isinstance(images, str) else images
        )
        return fill_pictures(self.store, embedder, progress)

    def enrich(
        self, sources: Sequence[str], *, embed: bool = True, progress: StageProgress | None = None
    ) -> EnrichReport:
        """Add relations and types from DBpedia (dump files, or the address of a SPARQL endpoint) to the pages of the
        store, and embed the changes, unless ``embed`` is false or the store has no embeddings yet.
        """
        from trivium.graph.dbpedia import enrich

        report = enrich(self.store, sources, progress=progress)
        self._embed_and_refresh(embed, progress)
        return report

    def enrich_with_model(
        self,
        model: ChatModel,
        schema: RelationSchema | None = None,
        *,
        budget: int | None = None,
        embed: bool = True,
        progress: StageProgress | None = None,
    ) -> ModelRelationsReport:
        """Add relations that a language model reads in the passages, and embed the changes as :meth:`enrich` does; see
        :func:`trivium.index.model_relations.add_model_relations`.
        """
        from trivium.index.model_relations import add_model_relations

        report = add_model_relations(self.store, model, schema, budget=budget, progress=progress)
        self._embed_and_refresh(embed, progress)
        return report

    def _embed_and_refresh(self, embed: bool, progress: StageProgress | None) -> None:
        if embed and self.store.embedder is not None:
            self._embed(_stage(progress, "embed"))
        self.store.refresh(_stage(progress, "index"))

    def export(self, folder: str | Path, progress: Progress | None = None) -> ExportReport:
        """Write the store as files for ``neo4j-admin database import full``; see
        :func:`trivium.graph.neo4j_import.export`."""
        from trivium.graph.neo4j_import import export

        return export(self.store, folder, progress=progress)


def _ignore(done: int, total: int) -> None:
    """Ignore the progress."""


def _stage(progress: StageProgress | None, stage: str) -> Progress | None:
    """Return the progress callback of one stage."""
    return None if progress is None else lambda done, total: progress(stage, done, total)
