"""What fills a store: load documents, embed their texts, take pages away, add what DBpedia knows."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

from trivium.chunking.base import Chunker
from trivium.chunking.registry import make_chunker
from trivium.chunking.spec import DEFAULT
from trivium.common.progress import Progress, StageProgress
from trivium.embedding.fill import fill, fill_parts
from trivium.embedding.images import ImageEmbedder, check_image_embedder, open_image_embedder
from trivium.embedding.late import LateEmbedder, is_late
from trivium.embedding.plain import PlainEmbedder, embedded_headings, is_plain
from trivium.embedding.store_embedder import StoreEmbedder
from trivium.errors import ConfigurationError, InputError
from trivium.graph.bulk import ExportReport, export
from trivium.graph.chunker import check_chunker
from trivium.graph.dbpedia import EnrichReport, enrich
from trivium.graph.protocols import GraphStore
from trivium.graph.records import Passage
from trivium.graph.sentences import sentence_texts
from trivium.index.isolation import ParserProcess
from trivium.index.languages import allow_any_embedder, check_embedder_knows, check_embedder_of
from trivium.index.late import fill_late, forget_context
from trivium.index.left_out import nothing_read
from trivium.index.load import load
from trivium.index.merge import PageCheck
from trivium.index.page_names import find_named
from trivium.index.pictures import fill_pictures
from trivium.index.plain import fill_plain
from trivium.index.questions import put_questions
from trivium.index.report import IngestReport
from trivium.index.sharding.build import ShardedBuild, ShardPlan, sharded
from trivium.index.sharding.work import Work
from trivium.index_parameters import IndexParameters
from trivium.languages import AUTO, ENGLISH, StoreLanguages, check_language
from trivium.limits import InputLimits
from trivium.llm.base import ChatModel
from trivium.metadata import check as check_metadata
from trivium.parser.sources.annotators import MAJORITY, check_annotators
from trivium.parser.sources.base import Format
from trivium.settings import load_settings
from trivium.types import MetadataValue


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
    chunker: str | None
    late: bool
    headings: bool
    only: Collection[str] | None
    apart: bool
    language: str | None
    any_embedder: bool
    meta: Mapping[str, MetadataValue | None] | None
    images: str | ImageEmbedder | None
    model: str | ChatModel | None
    shards: ShardPlan | None
    index: IndexParameters | None
    questions: bool
    annotators: str


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
        chunker: str | None = None,
        late: bool = False,
        headings: bool = True,
        only: Collection[str] | None = None,
        apart: bool = False,
        language: str | None = None,
        any_embedder: bool = False,
        meta: Mapping[str, MetadataValue | None] | None = None,
        images: str | ImageEmbedder | None = None,
        model: str | ChatModel | None = None,
        shards: ShardPlan | None = None,
        index: IndexParameters | None = None,
        questions: bool = False,
        annotators: str = MAJORITY,
    ) -> IngestReport:
        """Parse, load and (unless ``embed`` is false) embed sources, and (unless ``sentences`` is) their sentences; also
        adds to a store that has some. ``names`` says by path what files are called, where that is not their path.
        ``limits`` are those of the settings where none are given. ``isolated`` parses files of people who are not trusted
        in a process apart, within its limits of memory and time. ``check`` is called with every page before it is
        written; what it raises ends the build. ``language`` is the code of the documents' language, such as ``de``, or
        ``auto`` to recognise each document's; by default that of the store, at first English. ``meta`` is metadata for
        all of these documents, such as ``{"year": 2024}``; it wins over what a document says of itself, and stays when
        the document is read again, until something else is said or None takes it back. ``images`` names an image embedder
        (``clip``), or is one: pictures are embedded, too, for the retriever ``image``. ``only``: paths of files of the
        sources; no others are read. ``apart`` parses packed and large documents in processes with limits of memory,
        however few there are; a script needs ``if __name__ == "__main__":`` for that.

        Raises InputError for a language that is not known. Raises ConfigurationError where texts in another language
        than English would be embedded by a model for English, unless ``any_embedder``, which the store remembers: at once
        for a named language, and after loading where most pages turned out to be in one.

        ``chunker`` says how pages are cut (:mod:`trivium.chunking.spec`): by default as those that are there, in an empty
        store by ``blocks``. ``model`` is, or names, the language model that the chunker ``agentic`` asks, by default that
        of the settings. The store remembers the chunker with its first page; another one raises ChunkerMismatchError.
        ``late`` embeds chunks in the context of their page (:mod:`trivium.embedding.late`), with everything that comes
        later, too; it raises EmbedderMismatchError where the store was filled otherwise, EmbeddingError where the
        embedder cannot. Without ``headings`` the vector of a chunk is that of its text alone
        (:mod:`trivium.embedding.plain`), as refused and as kept to; ConfigurationError is raised for both together.

        ``shards`` has documents parsed and embedded by shards, on a Ray cluster where it names one
        (:class:`~trivium.index.sharding.build.ShardPlan`); the store becomes the same. It raises ConfigurationError with
        ``isolated``, ``late``, no ``headings``, and a chunker that asks a model, and where there is no such cluster;
        MissingExtraError where Ray is not installed.

        ``index`` says how vector indexes are made (:meth:`set_index_parameters`), by default as the settings do.
        ``questions``: rows of Natural Questions also give their questions, as nodes of the graph with ``is_answer_of``
        from the chunks that answer them; ``annotators`` says whose answers count
        (:func:`trivium.parser.sources.annotators.counted`). The report's ``questions`` lists those that cannot be
        traced. They go with their pages.

        A page already there is replaced if it changed. Documents that cannot be read are in the report's
        ``problems``; they never stop the run. Running it again after an interruption finishes the work. Raises
        NothingReadError where none could be read and the store holds none either.
        """
        if isinstance(sources, str | Path):
            raise InputError(f"expected a list of sources, got {type(sources).__name__}: [{str(sources)!r}]")
        if not sources:
            raise InputError("expected at least one source (a file, a folder, an address), got an empty list")
        if isinstance(images, str):
            check_image_embedder(images)
        if images is not None and not embed:
            raise InputError("images are embedded with the texts: expected embed=True, got False")
        known = StoreLanguages.read(self.store.languages)
        embeds = embed and not any_embedder and not known.any_embedder
        if language is not None and check_language(language) not in (AUTO, ENGLISH) and embeds:
            check_embedder_knows(language, self.embedder.name)
        check_annotators(annotators)
        cutter = self._chunker(chunker, model)
        if shards is not None:
            self._check_shards(shards, cutter, isolated, late, headings)
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
        if not refusable:  # one that is refused after loading must not be the store's
            self._remember_embedder(special)
        chosen = load_settings().limits if limits is None else limits
        with ExitStack() as stack:
            by_shards = (
                None
                if shards is None
                else stack.enter_context(
                    self._sharded(shards, chosen, cutter.spec, embed, sentences, workers, progress)
                )
            )
            report = load(
                [str(s) for s in sources],
                self.store,
                format=format,
                workers=workers,
                progress=progress,
                names=names,
                limits=chosen,
                isolated=self.parser if isolated else None,
                check=check,
                chunker=cutter,
                before_replacing=forget_context(self.store) if is_late(self.store.embedder) else None,
                only=only,
                apart=apart,
                language=language,
                metadata=None if meta is None else check_metadata(meta),
                any_embedder=any_embedder,
                parse_all=None if by_shards is None else by_shards.outcomes,
            )
            came_to_nothing = (report.problems or report.left_out_kinds) and not report.read
            if came_to_nothing and not self.store.count_pages():
                raise nothing_read(report)
            if questions:
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
            if embed and by_shards is not None:
                self.store.set_embedder(self.embedder.get().identity)
                by_shards.embed(self.store, sentences, lambda stage: _stage(progress, stage) or _ignore)
        if embed:
            self._embed(_stage(progress, "embed"))
        if embed and sentences:
            self.embed_sentences(_stage(progress, "sentences"))
        if embed and images is not None:
            self.embed_pictures(images, _stage(progress, "pictures"))
        self.store.refresh(_stage(progress, "index"))
        return report

    def _check_shards(
        self, plan: ShardPlan, chunker: Chunker, isolated: bool, late: bool, headings: bool
    ) -> None:
        """Refuse what hangs on more than the documents of a shard, or on a model of this process. Raises
        ConfigurationError."""
        plan.check()
        wrong = (
            (isolated, "in an isolated process"),
            (late or is_late(self.store.embedder), "chunked late"),
            (not headings or is_plain(self.store.embedder), "embedded without headings"),
            (not chunker.portable, f"by the chunker {chunker.spec}, which asks a model"),
        )
        for applies, what in wrong:
            if applies:
                raise ConfigurationError(
                    f"documents cannot be built by shards and {what}: leave out one of them"
                )

    def _sharded(
        self,
        plan: ShardPlan,
        limits: InputLimits,
        chunker: str,
        embed: bool,
        sentences: bool,
        workers: int | None,
        progress: StageProgress | None,
    ) -> AbstractContextManager[ShardedBuild]:
        embedder = self.embedder.get() if embed else None
        work = Work(
            folder=Path(plan.folder).absolute(),
            cwd=str(Path.cwd()),
            limits=limits,
            chunker=chunker,
            embedder=self.embedder.portable if embed else None,
            identity=None if embedder is None else embedder.identity,
            sentences=sentences,
            device=self.embedder.device,
        )
        return sharded(plan, work, embedder, workers or os.cpu_count() or 1, progress)

    def _remember_embedder(self, special: bool) -> None:
        """Have the store know the embedder that was chosen for it, also where embedding comes later. ``special``: so was
        what of a chunk it reads."""
        if (self.embedder.chosen or special) and self.store.embedder is None:
            self.store.set_embedder(self.embedder.get().identity)

    def _chunker(self, wanted: str | None, model: str | ChatModel | None) -> Chunker:
        """What cuts the pages of a build. Raises InputError, and ChunkerMismatchError before anything is read."""
        stored = self.store.chunker
        chunker = make_chunker(wanted or stored or DEFAULT, self.embedder.get, model)
        check_chunker(stored, chunker.spec)
        return chunker

    def set_index_parameters(self, given: IndexParameters | None = None) -> None:
        """Keep with the store how its vector indexes are made: what is ``given`` (by default by the settings) in place of
        what was kept. The next ``refresh`` of the store, which ends a build, makes them anew where that takes other ones.
        Raises ConfigurationError for a parameter that this kind of store has not."""
        given = load_settings().index if given is None else given
        if given.model_fields_set:
            self.store.set_index_parameters(self.store.index_parameters.changed(given))

    def remove(self, pages: Sequence[str]) -> list[str]:
        """Remove pages by title, alias or uri, or by the file they came from; returns the uris removed. Raises InputError
        for an unknown one, with titles like it."""
        if isinstance(pages, str):
            raise InputError(f"expected a list of titles, got the text {pages!r}")
        return self.remove_pages(find_named(self.store, pages))

    def remove_pages(self, uris: Sequence[str]) -> list[str]:
        """Remove pages by uri; returns the uris removed. Unknown ones are left out."""
        if not uris:
            return []
        removed = self.store.delete(uris)
        self.store.refresh()
        return removed

    def embed(
        self, progress: Progress | None = None, *, any_embedder: bool = False, headings: bool = True
    ) -> int:
        """Embed every text that has no vector yet; returns how many. Resumable: what is done stays done. Raises
        ConfigurationError where most documents are in another language than English and the embedder knows English only,
        unless ``any_embedder``, which the store remembers. Without ``headings`` the vector of a chunk is that of its text
        alone; EmbedderMismatchError is raised where the store was filled otherwise."""
        if any_embedder:
            allow_any_embedder(self.store)
        check_embedder_of(self.store, self.embedder.name)
        if not headings:
            self.embedder.leave_out_headings()
        return self._embed(progress)

    def _embed(self, progress: Progress | None) -> int:
        texts = self.store.pending_texts()
        if not texts:
            return 0
        embedder = self.embedder.get()
        self.store.set_embedder(embedder.identity)
        chunks = 0
        if isinstance(embedder, LateEmbedder):
            chunks = fill_late(self.store, embedder, progress)
            texts = self.store.pending_texts()
        elif isinstance(embedder, PlainEmbedder):
            chunks = fill_plain(self.store, embedder, progress)
            texts = self.store.pending_texts()
        return chunks + fill(texts, embedder, self.store.put_vectors, progress, total=len(texts))

    def embed_sentences(self, progress: Progress | None = None) -> int:
        """Embed the sentences of chunks one by one, where that is not done yet; returns how many. Takes about as long as
        :meth:`embed`, and as resumable. ``progress`` counts chunks."""
        passages = self.store.pending_sentences()
        if not passages:
            return 0
        embedder = self.embedder.get()
        self.store.set_embedder(embedder.identity)

        def parts(passage: Passage) -> list[str]:
            headings = embedded_headings(embedder.identity, passage.headings)
            return sentence_texts(Passage(headings, passage.text))

        return fill_parts(passages, parts, embedder, self.store.put_sentences, progress, total=len(passages))

    def embed_pictures(self, images: str | ImageEmbedder, progress: Progress | None = None) -> int:
        """Embed the pictures of documents, where that is not done yet, by the image embedder of that name or by one of
        one's own; returns how many. Resumable. Raises EmbedderMismatchError where another one did so, ConfigurationError
        for an unknown name, MissingExtraError and EmbeddingError where it cannot be had."""
        embedder = (
            open_image_embedder(images, device=self.embedder.device) if isinstance(images, str) else images
        )
        return fill_pictures(self.store, embedder, progress)

    def enrich(
        self, sources: Sequence[str], *, embed: bool = True, progress: StageProgress | None = None
    ) -> EnrichReport:
        """Add relations and types of DBpedia (dump files, or the address of a SPARQL endpoint) to what the store
        holds, and (unless ``embed`` is false, or nothing is embedded yet) embed what that changed."""
        report = enrich(self.store, sources, progress=progress)
        if embed and self.store.embedder is not None:
            self._embed(_stage(progress, "embed"))
        self.store.refresh(_stage(progress, "index"))
        return report

    def export(self, folder: str | Path, progress: Progress | None = None) -> ExportReport:
        """Write the store as files for ``neo4j-admin database import full``; see :func:`trivium.graph.bulk.export`."""
        return export(self.store, folder, progress=progress)


def _ignore(done: int, total: int) -> None:
    """Progress that nobody looks at."""


def _stage(progress: StageProgress | None, stage: str) -> Progress | None:
    """Progress of one stage."""
    return None if progress is None else lambda done, total: progress(stage, done, total)
