"""Fills a store: loads documents, embeds their texts, removes pages, adds data from DBpedia."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from trivium.chunking.chunker import Chunker
from trivium.chunking.registry import make_chunker
from trivium.chunking.spec import DEFAULT
from trivium.common.arguments import check_count, check_texts, check_type
from trivium.common.progress import Progress, StageProgress
from trivium.embedding.late import is_late
from trivium.embedding.plain import is_plain
from trivium.embedding.store_embedder import StoreEmbedder
from trivium.errors import ConfigurationError, InputError
from trivium.graph.chunker import check_chunker
from trivium.graph.protocols import GraphStore
from trivium.index.isolation import ParserProcess
from trivium.index.languages import allow_any_embedder, check_embedder_knows, check_embedder_of
from trivium.index.load import delete_linked, load
from trivium.index.merge import PageCheck
from trivium.index.report import IngestReport, nothing_read
from trivium.index.vectors import fill_pictures, fill_sentences, fill_texts, forget_context
from trivium.index_parameters import IndexParameters
from trivium.languages import AUTO, ENGLISH, StoreLanguages, check_language
from trivium.limits import InputLimits
from trivium.metadata import check as check_metadata
from trivium.parser.sources.annotators import MAJORITY, check_annotators
from trivium.parser.sources.base import Format
from trivium.settings import load_settings
from trivium.types import MetadataValue

if TYPE_CHECKING:  # what most builds do not need is imported where it is used
    from trivium.embedding.images import ImageEmbedder
    from trivium.graph.bulk import ExportReport
    from trivium.graph.dbpedia import EnrichReport
    from trivium.index.pruning import Pruning
    from trivium.index.ray_build import RayBuild
    from trivium.llm.base import ChatModel


class BuildOptions(TypedDict, total=False):
    """The options of :meth:`Indexer.build`."""

    format: Format
    workers: int | None
    embed: bool
    sentences: bool
    progress: StageProgress | None
    names: Mapping[str, str] | None
    by_name: bool
    limits: InputLimits | None
    isolated: bool
    check: PageCheck | None
    chunker: str | None
    late: bool
    headings: bool
    only: Collection[str] | None
    prune: bool
    apart: bool
    language: str | None
    any_embedder: bool
    meta: Mapping[str, MetadataValue | None] | None
    images: str | ImageEmbedder | None
    model: str | ChatModel | None
    ray: str | None
    parts: str | Path | None
    index: IndexParameters | None
    questions: bool
    annotators: str


@dataclass(frozen=True, slots=True)
class Indexer:
    """Fills one store. Not thread-safe."""

    store: GraphStore
    embedder: StoreEmbedder
    parser: ParserProcess = field(default_factory=ParserProcess)
    """Parses documents of isolated builds. Stop it with :meth:`ParserProcess.close`."""

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
        by_name: bool = False,
        limits: InputLimits | None = None,
        isolated: bool = False,
        check: PageCheck | None = None,
        chunker: str | None = None,
        late: bool = False,
        headings: bool = True,
        only: Collection[str] | None = None,
        prune: bool = False,
        apart: bool = False,
        language: str | None = None,
        any_embedder: bool = False,
        meta: Mapping[str, MetadataValue | None] | None = None,
        images: str | ImageEmbedder | None = None,
        model: str | ChatModel | None = None,
        ray: str | None = None,
        parts: str | Path | None = None,
        index: IndexParameters | None = None,
        questions: bool = False,
        annotators: str = MAJORITY,
    ) -> IngestReport:
        """Parse, load and embed sources, adding to what the store already holds.

        Documents that cannot be read are listed in the report's ``problems`` and do not stop the build. After an
        interruption, calling it again completes the work. A stored page is replaced if it changed. Raises
        NothingReadError if no document could be read and the store is empty.

        Reading:

        - ``names``: display names of files, by path. With ``by_name`` each name identifies a document, which is
          replaced also when its title has changed. Otherwise files of one name and different titles are different
          documents. Raises ConfigurationError together with ``isolated``.
        - ``only``: paths of files; other files of the sources are skipped.
        - ``prune``: also remove the documents whose files were deleted from the folders among the sources, and records
          that are no longer in their files. Raises InputError together with ``only``, and without a folder.
        - ``limits``: input limits, by default those of the settings.
        - ``isolated``: parse untrusted files in a separate process with limits of memory and time.
        - ``apart``: parse packed and large documents in processes with a memory limit even if there are few
          documents.
        - ``check``: called with every page before it is written; an error it raises ends the build.
        - ``meta``: metadata of all these documents, such as ``{"year": 2024}``. It overrides their own, and is kept
          when a document is read again, until it is changed, or removed with None.

        Languages:

        - ``language``: language code of the documents, such as ``de``, or ``auto`` to detect that of each document.
          By default that of the store, initially English. Raises InputError for an unknown language.
        - ``any_embedder``: allow, now and in later builds, an English-only embedder for texts in other languages.
          Otherwise ConfigurationError is raised: immediately for a named language, and after loading if most pages
          are in one.

        Chunking:

        - ``chunker``: how pages are split (:mod:`trivium.chunking.spec`), by default as existing pages, or ``blocks``
          in an empty store. The store records the chunker with its first page; another one raises
          ChunkerMismatchError.
        - ``model``: the language model of the chunker ``agentic``, or its name. By default that of the settings.

        Embedding:

        - ``embed``, ``sentences``: whether to embed texts, and sentences.
        - ``late``: embed chunks in the context of their page (:mod:`trivium.embedding.late`), in this and later
          builds. Raises EmbedderMismatchError if the store was built without it, EmbeddingError if the embedder does
          not support it.
        - ``headings``: if false, embed chunks without their headings (:mod:`trivium.embedding.plain`), with the same
          restrictions as ``late``. Both together raise ConfigurationError.
        - ``images``: an image embedder or its name (``clip``), to embed pictures for the retriever ``image``.
        - ``index``: parameters of the vector indexes (:meth:`set_index_parameters`), by default those of the
          settings.
        - ``ray``: address of a Ray cluster (``auto``, ``local``, ``HOST:PORT``) that parses and embeds the documents in
          parts (:mod:`trivium.index.ray_build`), which are kept in the folder ``parts``, by default ``STORE.parts``
          beside the store. The resulting store is the same. Raises ConfigurationError together with ``isolated``,
          ``late``, no ``headings`` or a chunker that asks a model, and if the cluster is unavailable; InputError for a
          database without ``parts``; MissingExtraError if Ray is not installed.

        Questions:

        - ``questions``: also store the questions of Natural Questions rows, as nodes with a relation ``is_answer_of``
          from the chunks that answer them. They are removed with their pages. The report's ``questions`` lists those
          that could not be traced to chunks.
        - ``annotators``: whose answers count (:func:`trivium.parser.sources.annotators.counted`).
        """
        if isinstance(sources, str | Path):
            raise InputError(f"expected a list of sources, got {type(sources).__name__}: [{str(sources)!r}]")
        check_type("sources", sources, Iterable, "a list of paths or addresses")
        sources = list(sources)
        for source in sources:
            check_type("each of the sources", source, (str, Path), "a path or an address")
        if not sources:
            raise InputError("expected at least one source (a file, a folder, an address), got an empty list")
        if workers is not None:
            check_count("workers", workers)
        if by_name and isolated:
            raise ConfigurationError(
                "files that are parsed apart are not identified by name: leave out one of them"
            )
        if isinstance(images, str):
            from trivium.embedding.images import check_image_embedder

            check_image_embedder(images)
        if images is not None and not embed:
            raise InputError("images are embedded with the texts: expected embed=True, got False")
        known = StoreLanguages.read(self.store.languages)
        embeds = embed and not any_embedder and not known.any_embedder
        if language is not None and check_language(language) not in (AUTO, ENGLISH) and embeds:
            check_embedder_knows(language, self.embedder.name)
        check_annotators(annotators)
        pruning = self._pruning(sources, only) if prune else None
        cutter = self._chunker(chunker, model)
        if ray is not None:
            self._check_ray(ray, cutter, isolated, late, headings)
        if late and not headings:
            raise ConfigurationError(
                "late chunking reads a chunk in its context, headings too: leave out one of them"
            )
        self.set_index_parameters(index)
        if late:
            self.embedder.chunk_late()
        if not headings:
            self.embedder.leave_out_headings()
        special = late or not headings
        refusable = embeds and (check_language(language) == AUTO if language is not None else known.detect)
        if not refusable:  # an embedder that may be rejected after loading must not be recorded yet
            self._remember_embedder(special)
        chosen = load_settings().limits if limits is None else limits
        with ExitStack() as stack:
            by_ray = (
                None
                if ray is None
                else stack.enter_context(
                    self._on_ray(ray, parts, chosen, cutter.spec, embed, sentences, progress)
                )
            )
            report = load(
                [str(s) for s in sources],
                self.store,
                format=format,
                workers=workers,
                progress=progress,
                names=names,
                by_name=by_name,
                limits=chosen,
                isolated=self.parser if isolated else None,
                check=check if pruning is None else pruning.before(check),
                chunker=cutter,
                before_replacing=forget_context(self.store) if is_late(self.store.embedder) else None,
                only=only,
                apart=apart,
                language=language,
                metadata=None if meta is None else check_metadata(meta),
                any_embedder=any_embedder,
                parse_all=None if by_ray is None else by_ray.parse_all,
            )
            came_to_nothing = (report.problems or report.left_out_kinds) and not report.read
            if came_to_nothing and not self.store.count_pages():
                raise nothing_read(report)
            if pruning is not None:
                report.relinked += delete_linked(
                    self.store, pruning.stale(self.store, report), report.removed
                )
            if questions:
                from trivium.index.questions import put_questions

                report.questions = put_questions(
                    [str(s) for s in sources],
                    self.store,
                    annotators=annotators,
                    format=format,
                    limits=chosen,
                    only=only,
                    progress=_stage(progress, "questions"),
                )
                for problem in report.questions.problems:
                    report.problem(problem, chosen.problems)
            if embeds:
                check_embedder_of(self.store, self.embedder.name)
            self._remember_embedder(special)
            if embed and by_ray is not None:
                self.store.set_embedder(self.embedder.get().identity)
                by_ray.embed(self.store, sentences, lambda stage: _stage(progress, stage) or _ignore)
        if embed:
            self._embed(_stage(progress, "embed"))
        if embed and sentences:
            self.embed_sentences(_stage(progress, "sentences"))
        if embed and images is not None:
            self.embed_pictures(images, _stage(progress, "pictures"))
        self.store.refresh(_stage(progress, "index"))
        return report

    def _pruning(self, sources: Sequence[str | Path], only: Collection[str] | None) -> Pruning:
        from trivium.index.pruning import Pruning, folders_of

        folders = folders_of([str(source) for source in sources])
        if only is not None:
            raise InputError("what only=... leaves out would be removed by prune=True: leave out one of them")
        if not folders:
            raise InputError(
                "documents are pruned from folders: expected a folder among the sources, got none"
            )
        return Pruning(folders)

    def _check_ray(self, address: str, chunker: Chunker, isolated: bool, late: bool, headings: bool) -> None:
        """Raise ConfigurationError for what is no address, and for options that depend on more than the documents of a
        part, or on a model in this process.
        """
        from trivium.index.ray_build import check_ray

        check_ray(address)
        wrong = (
            (isolated, "in an isolated process"),
            (late or is_late(self.store.embedder), "chunked late"),
            (not headings or is_plain(self.store.embedder), "embedded without headings"),
            (not chunker.portable, f"by the chunker {chunker.spec}, which asks a model"),
        )
        for applies, what in wrong:
            if applies:
                raise ConfigurationError(
                    f"documents cannot be built on a cluster and {what}: leave out one of them"
                )

    def _on_ray(
        self,
        address: str,
        folder: str | Path | None,
        limits: InputLimits,
        chunker: str,
        embed: bool,
        sentences: bool,
        progress: StageProgress | None,
    ) -> AbstractContextManager[RayBuild]:
        from trivium.index.parts import Work
        from trivium.index.ray_build import ray_build

        if folder is None:
            if "://" in self.store.location:
                raise InputError("a build on a cluster keeps its parts in a folder: name one (parts)")
            folder = f"{self.store.location}.parts"
        embedder = self.embedder.get() if embed else None
        work = Work(
            cwd=str(Path.cwd()),
            limits=limits,
            chunker=chunker,
            embedder=self.embedder.portable if embed else None,
            identity=None if embedder is None else embedder.identity,
            sentences=sentences,
            device=self.embedder.device,
        )
        return ray_build(address, folder, work, embedder, _stage(progress, "parts") or _ignore)

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

    def set_index_parameters(self, given: IndexParameters | None = None) -> None:
        """Replace the parameters of the store's vector indexes by the ``given`` ones (default: those of the
        settings). The next ``refresh`` of the store, which ends a build, rebuilds the indexes if they differ. Raises
        ConfigurationError for a parameter that this kind of store does not support.
        """
        given = load_settings().index if given is None else given
        if given.model_fields_set:
            self.store.set_index_parameters(self.store.index_parameters.changed(given))

    def remove(self, pages: Sequence[str]) -> list[str]:
        """Remove pages by title, alias, uri or source file, and return the uris removed. Raises InputError for an
        unknown name and suggests similar titles.
        """
        from trivium.index.page_names import find_named

        check_texts("titles for pages", pages, "['Mars']")
        return self.remove_pages(find_named(self.store, pages))

    def remove_pages(self, uris: Sequence[str]) -> list[str]:
        """Remove pages by uri and return the uris removed. Unknown ones are skipped."""
        if not uris:
            return []
        removed = self.store.delete(uris)
        self.store.refresh()
        return removed

    def embed(
        self, progress: Progress | None = None, *, any_embedder: bool = False, headings: bool = True
    ) -> int:
        """Embed every text without a vector and return their number. An interrupted run can be resumed.

        Raises ConfigurationError if most documents are not in English and the embedder supports English only, unless
        ``any_embedder`` is true, which the store records. Without ``headings`` chunks are embedded without their
        headings; raises EmbedderMismatchError if the store was built with them.
        """
        if any_embedder:
            allow_any_embedder(self.store)
        check_embedder_of(self.store, self.embedder.name)
        if not headings:
            self.embedder.leave_out_headings()
        return self._embed(progress)

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
        from trivium.embedding.images import open_image_embedder

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
        if embed and self.store.embedder is not None:
            self._embed(_stage(progress, "embed"))
        self.store.refresh(_stage(progress, "index"))
        return report

    def export(self, folder: str | Path, progress: Progress | None = None) -> ExportReport:
        """Write the store as files for ``neo4j-admin database import full``; see :func:`trivium.graph.bulk.export`."""
        from trivium.graph.bulk import export

        return export(self.store, folder, progress=progress)


def _ignore(done: int, total: int) -> None:
    """Ignore the progress."""


def _stage(progress: StageProgress | None, stage: str) -> Progress | None:
    """Return the progress callback of one stage."""
    return None if progress is None else lambda done, total: progress(stage, done, total)
