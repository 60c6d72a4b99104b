"""The main entry point: one object that builds, searches, questions and evaluates a store.

>>> import trivium
>>> with trivium.Engine.open("demo-store") as engine:            # doctest: +SKIP
...     for hit in engine.search("Who discovered the two moons of Mars?", k=3):
...         print(hit.rank, hit.uri, hit.score)
"""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Generator, Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from trivium.answering.events import AnswerEvent, Done
from trivium.common import stopping
from trivium.common.argument_checks import check_known, checked, shown
from trivium.common.closing import Closing
from trivium.common.progress import Progress, StageProgress
from trivium.embedding.embedder import Embedder
from trivium.embedding.registry import open_embedder
from trivium.embedding.store_embedder import QUESTIONS, RememberedQuestions, StoreEmbedder
from trivium.engine_parts import EngineParts
from trivium.errors import InputError, StoreError
from trivium.graph.filter_conditions import Where
from trivium.graph.open_store import open_or_create_store, open_store
from trivium.graph.protocols import GraphStore
from trivium.graph.records import StoreInfo
from trivium.index.parser_process import ParserProcess
from trivium.retrievers.setting_values import SettingValues, flatten
from trivium.settings.settings import load_settings
from trivium.types import Answer, Hit, Question

if TYPE_CHECKING:  # imported lazily: a search needs nothing of a build, and a build nothing of a search
    from trivium.checking.report import CheckReport
    from trivium.evaluation.report import Report
    from trivium.evaluation.requests import EvaluateOptions
    from trivium.fusion.score_table import Fusion
    from trivium.graph.backup import BackupReport
    from trivium.index.indexer import Indexer
    from trivium.index.load_report import IngestReport
    from trivium.index.requests import BuildOptions
    from trivium.live.source import LiveSource
    from trivium.rerank.reranker import Reranker
    from trivium.retrievers.path import Selector
    from trivium.retrievers.query import Retriever
    from trivium.search.requests import AskOptions, SearchOptions, SearchRequest
    from trivium.search.searcher import Searcher
    from trivium.search.stage_timing import StageObserver
    from trivium.search_processes import SearchProcesses

LATER = (
    "trivium.search.answers",
    "trivium.search.searcher",
    "trivium.index.indexer",
    "trivium.index.isolated_load",
    "trivium.index.find_pages",
    "trivium.index.parser_process_main",
    "trivium.live.result_cache",
    "trivium.live.fetch_pages",
    "trivium.live.arxiv",
    "trivium.live.mediawiki",
    "trivium.live.web_search",
)
"""Modules that an engine imports lazily, on its first answer, change of documents or live source. Long-running
processes import them in advance.
"""


class Engine(Closing):
    """A store together with the parts that build, search and question it.

    Create one with :meth:`create` or :meth:`open`, and close it or use it as a context manager. Its parts
    ``searcher`` and ``indexer`` can also be used on their own.

    - ``embedder``: name of the embedder for an empty store, or an :class:`~trivium.embedding.embedder.Embedder` object. A
      store that already holds vectors keeps the embedder it was built with.
    - ``retrievers``: custom retrievers, asked in addition to the eight built-in ones.
    - ``fusion``: name or object; the default fusion of searches.
    - ``selector``: name or object; the selector of the path retriever. The default needs no language model.
    - ``rerankers``: names or objects that clients of this engine may request, in addition to ``bm25`` and
      ``weighted``, which load no model.
    - ``live``: custom live sources, asked when a question names them, in addition to the built-in ones.
    - ``device``: where the embedder runs, ``cpu``, ``cuda`` or ``cuda:N``. Default: from the settings.
    - ``settings``: retriever settings by dotted name, such as ``{"walk.damping": 0.4}``. They override
      ``trivium.toml``.
    - ``on_stage``: called whenever a stage of a search has ended.
    - ``remembered_questions``: how many recent question vectors to cache. Set it to 0 to measure the latency of
      questions that have not been seen.
    """

    @checked
    def __init__(
        self,
        store: GraphStore,
        embedder: str | Embedder | None = None,
        *,
        retrievers: Sequence[Retriever] = (),
        fusion: str | Fusion | None = None,
        selector: str | Selector | None = None,
        settings: SettingValues | None = None,
        rerankers: Sequence[str | Reranker] = (),
        live: Sequence[LiveSource] = (),
        on_stage: StageObserver | None = None,
        device: str | None = None,
        remembered_questions: int = QUESTIONS,
    ) -> None:
        if isinstance(store, str | Path):
            raise InputError(f"expected an open store, got {str(store)!r}: use  Engine.open({str(store)!r})")
        self.store = store
        self._embedder = StoreEmbedder(store, embedder, device)
        self._parser = ParserProcess()
        self._processes: SearchProcesses | None = None
        self._starting = threading.Lock()
        self._closed = False
        self._folder = _current_folder()
        self._parts: dict[str, Any] | None = None  # what other processes open the store with

        def make_searcher() -> Searcher:
            from trivium.live.ask_sources import LiveSources
            from trivium.rerank.registry import Rerankers
            from trivium.retrievers.llm_path_selectors import make_selector
            from trivium.search.fuse import Fusions
            from trivium.search.retriever_set import RetrieverSet, checked_settings
            from trivium.search.searcher import Searcher
            from trivium.search.stage_timing import ignore_stages

            configured = load_settings()
            values = {**flatten(configured.retrievers), **flatten(checked_settings(settings))}
            chooses = make_selector(selector) if selector is None or isinstance(selector, str) else selector
            return Searcher(
                store,
                self._embedder,
                RetrieverSet(retrievers, values, chooses, Rerankers(rerankers)),
                Fusions(store, fusion),
                ignore_stages if on_stage is None else on_stage,
                live=LiveSources(own=live),
                questions=RememberedQuestions(remembered_questions),
                domain=configured.conversation,
            )

        self._make_searcher = make_searcher
        self._searcher: Searcher | None = None
        given = (fusion, selector, settings, load_settings().retrievers)
        if any(given) or any(map(len, (retrievers, rerankers, live))):
            self._searcher = make_searcher()  # what is wrong with them is raised here

    @classmethod
    @checked
    def create(
        cls, store: str | Path, embedder: str | Embedder | None = None, **parts: Unpack[EngineParts]
    ) -> Self:
        """Open a store for writing, creating it when it does not exist.

        ``store`` is a folder (created when missing) or the address of an empty database (``bolt://HOST:PORT``). A new
        store is filled with ``embedder``, by default ``bge-small`` when it is installed, else ``minilm``. If a later
        build fails or reads no documents, the empty store remains and can be filled later. ``parts`` are the keyword
        arguments of :class:`Engine`.
        """
        check_known("Engine.create", parts, list(EngineParts.__annotations__))
        device = parts.get("device")
        if isinstance(embedder, str) or (embedder is None and device is not None):
            open_embedder(
                embedder, device=device
            ).close()  # fail before anything is created if the embedder cannot be opened
        return cls._on(open_or_create_store(store), embedder, parts)

    @classmethod
    @checked
    def open(
        cls, store: str | Path, embedder: str | Embedder | None = None, **parts: Unpack[EngineParts]
    ) -> Self:
        """Open an existing store. ``parts`` are the keyword arguments of :class:`Engine`.

        Raises StoreNotFoundError, StoreFormatError, and EmbedderMismatchError when ``embedder`` names another
        embedder than the one the store was built with.
        """
        check_known("Engine.open", parts, list(EngineParts.__annotations__))
        return cls._on(open_store(store), embedder, parts)

    @classmethod
    def _on(cls, store: GraphStore, embedder: str | Embedder | None, parts: EngineParts) -> Self:
        try:
            engine = cls(store, embedder, **parts)
        except BaseException:
            store.close()
            raise
        engine._parts = {"embedder": embedder, **parts}
        return engine

    def on(self, store: GraphStore) -> Self:
        """Return this engine on another snapshot of its store. Both share one embedder, so close only one of them."""
        other = object.__new__(type(self))
        other.store = store
        other._searcher = self.searcher.on(store)
        other._embedder = other._searcher.embedder
        other._parser = self._parser
        other._processes, other._parts = None, None
        other._starting, other._closed, other._folder = threading.Lock(), False, self._folder
        return other

    def close(self) -> None:
        """Close the store, the embedder and the processes."""
        self._parser.close()
        with self._starting:
            self._closed = True
        if self._processes is not None:
            self._processes.close()
        self._embedder.close()
        self.store.close()

    @property
    def embedder(self) -> Embedder:
        """The store's embedder, opened on first use. Raises EmbedderMismatchError when the installed version of the
        model differs from the version the store was built with.
        """
        return self._embedder.get()

    @property
    def searcher(self) -> Searcher:
        """The searcher of this store, made on first use: a build needs none."""
        if self._searcher is None:
            with self._starting:
                if self._searcher is None:
                    self._searcher = self._make_searcher()
        return self._searcher

    @property
    def indexer(self) -> Indexer:
        """The indexer of this store, which adds, removes and embeds documents."""
        from trivium.index.indexer import Indexer

        return Indexer(self.store, self._embedder, self._parser)

    def info(self) -> StoreInfo:
        """Identity and counts of the store."""
        return self.store.info()

    def pages(self) -> list[str]:
        """The uris of all pages, sorted."""
        return [page.uri for page in self.store.pages()]

    def build(self, sources: Sequence[str | Path], **options: Unpack[BuildOptions]) -> IngestReport:
        """Parse, load and embed sources, adding to what the store already holds.

        The options are the fields of a :class:`~trivium.index.requests.BuildRequest`, which describes them. Unreadable
        documents are listed in the report's ``problems`` and do not stop the build. After an interruption, calling it
        again completes the work.
        Raises NothingReadError when no document could be read and the store is empty.
        """
        from trivium.index.requests import BuildRequest

        check_known("build", options, [one.name for one in fields(BuildRequest) if one.name != "sources"])
        return self.indexer.build(BuildRequest(sources, **options))

    def add_files(self, files: Mapping[str, str | bytes], **options: Unpack[BuildOptions]) -> IngestReport:
        """Load files that exist only in memory: contents (text or bytes) by name. The name says what the file is called
        and, where the content does not tell, its format: ``{"guide/setup.md": "# Set up ..."}``. A document that is
        added again under its name replaces the earlier one, also under another title. Otherwise like :meth:`build`;
        ``names``, ``by_name``, ``isolated``, ``prune`` and ``ray`` are not available.
        """
        from trivium.index.in_memory_documents import as_files

        _reject(options, "names", "by_name", "isolated", "prune", "ray")
        with as_files(files) as names:
            options["names"], options["by_name"] = names, True
            return self.build(list(names), **options)

    def add_records(
        self,
        records: Iterable[Mapping[str, object]],
        source: str = "records.jsonl",
        **options: Unpack[BuildOptions],
    ) -> IngestReport:
        """Load texts: mappings with ``title``, ``text`` and, as further values, metadata for conditions. They are read
        one at a time. Records with the same title form one page, in their order, with the metadata in which they do
        not differ; a page that is added again replaces the earlier one. Mentions of other titles become links.
        ``source`` is the name of a file, which need not exist, recorded as their origin: :meth:`remove` accepts it for
        all of them. Otherwise like :meth:`build`; ``format``, ``names``, ``by_name``, ``prune``
        and ``ray`` are not available.
        """
        from trivium.index.in_memory_documents import as_records

        _reject(options, "format", "names", "by_name", "prune", "ray")
        if not isinstance(source, str) or not source.strip():
            raise InputError(f"expected the name of a source, such as 'records.jsonl', got {shown(source)}")
        with as_records(records) as file:
            options["format"], options["names"] = "records", {file: source}
            return self.build([file], **options)

    def remove(self, pages: Sequence[str]) -> list[str]:
        """Remove pages, given by title, alias or source file, and return the uris removed. Raises InputError for an
        unknown name and suggests similar titles.
        """
        return self.indexer.remove(pages)

    def search(
        self,
        question: str,
        k: int = 10,
        retrievers: Sequence[str] | None = None,
        fusion: str | None = None,
        **options: Unpack[SearchOptions],
    ) -> list[Hit]:
        """The k best chunks for a question, best first. The arguments are the fields of a
        :class:`~trivium.search.requests.SearchRequest`, which says more.

        - ``question``: text of 1 to 20,000 characters. Empty with an ``image`` alone.
        - ``k``: the number of hits, 1 to 10,000.
        - ``retrievers``: names of the views to ask, at least one. Default: all eight.
        - ``fusion``: how their scores are fused, such as ``default`` or ``rrf``. Without one a single retriever keeps
          its own scores, and several are fused by ``default``.
        - ``where``: a condition, such as ``"year >= 2020"``, of at most 4,000 characters.
        - ``rerank``: a reranker of the first hits, such as ``bm25``. ``cut``: end the list by scores: ``gap``,
          ``near:SHARE`` or ``probability:P``, with a number from 0 to 1.
        - ``sources``: names of live sources to ask, too; ``on_sources``: called with how they did.
        - ``settings``: of retrievers, by dotted name. ``exact``: exact vector search. ``explain``: also say what each
          retriever contributed.
        - ``image``: bytes of a picture to search for. ``recall``: another wording that adds candidates.
        - ``on_warnings``: called with what failed and was skipped; otherwise it is logged.

        Raises InputError, FusionError, StoreError.
        """
        return self.searcher.search(_search_request("search", question, k, retrievers, fusion, options))

    @checked
    def is_about(self, question: str, hits: Sequence[Hit]) -> bool:
        """Whether the hits of :meth:`search`, best first, seem to be about the question, or only the nearest of what
        there is. The six best are examined. An answer without a language model makes the same decision: otherwise its
        outcome is ``absent``. Raises InputError and the errors of a search.
        """
        from trivium.search.about_question import is_about

        return is_about(self.searcher, question, hits)

    def hints(self, where: Where) -> list[str]:
        """Explain why no passage matches a condition, for example because no document contains a name; similar names
        are suggested. Empty when some passage matches.
        """
        return self.searcher.hints(where)

    def search_many(
        self,
        questions: Iterable[str],
        k: int = 10,
        retrievers: Sequence[str] | None = None,
        fusion: str | None = None,
        *,
        processes: int | None = None,
        **options: Unpack[SearchOptions],
    ) -> list[list[Hit]]:
        """Run :meth:`search` for several questions; results are in the order of the questions.

        ``processes`` is how many processes share the work, each of which uses a core and 230 to 500 MB of memory,
        depending on the collection. They start with the first call that names as many, in one or two seconds, and
        remain for later calls until this engine is closed: worth it for some hundred questions. By default the threads
        of this process search. Warnings are then told once a batch. Raises StoreError when a process ends, and
        InputError for what another process cannot be given: parts of this engine and options that are objects instead
        of names, pictures, live sources, and an engine that was given a store instead of opening it.
        """
        request = _search_request("search_many", "", k, retrievers, fusion, options, "processes")
        if processes is None:
            return self.searcher.search_many(questions, request)
        from trivium.search.rerank_and_cut import log_warnings
        from trivium.search_processes import ClosedError

        several = isinstance(questions, Iterable) and not isinstance(questions, str)
        # With no questions it raises what is wrong with the options.
        self.searcher.search_many(() if several else questions, request)
        if request.sources:
            raise InputError("live sources cannot be asked with processes: search without")
        told = options.pop("on_warnings", None) or log_warnings
        given = {"k": k, "retrievers": retrievers, "fusion": fusion, **options}
        asked = list(questions)
        while True:
            searching = self._searching(processes)
            try:
                return searching.search_many(asked, given, told)
            except ClosedError:
                continue  # another thread has just asked for another number of processes

    def _searching(self, count: int) -> SearchProcesses:
        from trivium.common.worker_processes import plain
        from trivium.search_processes import SearchProcesses

        if self._parts is None:
            raise InputError(
                "only engines of Engine.open and Engine.create search by processes: this one was given a store, which"
                " may be a snapshot"
            )
        objects = []
        for name, part in self._parts.items():
            try:
                plain(part)
            except TypeError:
                objects.append(name)
        if objects:
            raise InputError(
                f"this engine has parts that other processes cannot be given ({', '.join(objects)}): search without"
                "  processes=  or give their names instead of objects"
            )
        others = None
        with self._starting:
            if self._closed:
                raise StoreError("this engine is closed")
            if self._processes is None or self._processes.count != count:
                made = SearchProcesses(self.store.location, count, self._parts, self._folder)
                others, self._processes = self._processes, made
            found = self._processes
        if others is not None:
            others.close()
        return found

    async def asearch(
        self,
        question: str,
        k: int = 10,
        retrievers: Sequence[str] | None = None,
        fusion: str | None = None,
        **options: Unpack[SearchOptions],
    ) -> list[Hit]:
        """Run :meth:`search` in a thread, without blocking the event loop."""
        return await stopping.in_thread(lambda: self.search(question, k, retrievers, fusion, **options))

    def ask(self, question: str, **options: Unpack[AskOptions]) -> Answer:
        """Answer a question from the k best chunks and cite them. The options are the fields of an
        :class:`~trivium.search.requests.AskRequest`, which describes them.

        Without a ``model`` the answer is composed of sentences from these chunks. A follow-up to the turns in
        ``history`` is first rewritten as a standalone question. Raises the errors of :meth:`search`, and
        ChatModelError.
        """
        return next(e.answer for e in self.ask_stream(question, **options) if isinstance(e, Done))

    async def aask(self, question: str, **options: Unpack[AskOptions]) -> Answer:
        """Run :meth:`ask` in a thread, without blocking the event loop. Cancelling it stops the model."""
        return await stopping.in_thread(lambda: self.ask(question, **options))

    def ask_stream(self, question: str, **options: Unpack[AskOptions]) -> Generator[AnswerEvent, None, None]:
        """Stream :meth:`ask`: first the passages found, then the answer piece by piece, finally the complete answer.
        Invalid arguments raise before the first event. Closing the generator stops the model.
        """
        from trivium.search.answers import answer_stream
        from trivium.search.requests import AskRequest

        check_known("ask", options, [one.name for one in fields(AskRequest)])
        return answer_stream(self.searcher, AskRequest(question, **options))

    def aask_stream(self, question: str, **options: Unpack[AskOptions]) -> AsyncGenerator[AnswerEvent, None]:
        """Run :meth:`ask_stream` in a thread, without blocking the event loop. Cancelling or closing it
        (:func:`contextlib.aclosing`) stops the model.
        """
        return stopping.iterated(lambda: self.ask_stream(question, **options))

    @checked
    def check(
        self, *, repair: bool = False, full: bool = False, progress: StageProgress | None = None
    ) -> CheckReport:
        """Check the integrity of the store.

        Checks the database, every page against the digest of what was written, the checksums of vectors and of derived
        files, what follows from the pages, and a sample of the vectors against their texts (all of them with ``full``,
        which takes as long as embedding the store).

        With ``repair``, repairs what can be repaired: rebuilds derived data, re-embeds damaged vectors, removes
        leftovers and marks damaged pages so that the next load replaces them. The report lists what remains. Raises
        StoreError when the store cannot be read or written at all.
        """
        from trivium.checking.check_store import check_store

        return check_store(self.store, self._embedder, repair=repair, full=full, progress=progress)

    @checked
    def backup(self, file: str | Path, progress: Progress | None = None) -> BackupReport:
        """Write the committed state of the store to one file, which :meth:`restore` reads; see
        :func:`trivium.graph.backup.back_up`.
        """
        from trivium.graph.backup import back_up

        return back_up(self.store.location, file, progress)

    @staticmethod
    @checked
    def restore(file: str | Path, store: str | Path, progress: Progress | None = None) -> BackupReport:
        """Restore a file written by :meth:`backup` into a new or empty folder; see
        :func:`trivium.graph.backup.restore`.
        """
        from trivium.graph.backup import restore

        return restore(file, store, progress)

    @checked
    def evaluate(
        self,
        questions: str | Path | Sequence[Question],
        retrievers: Sequence[str | Retriever] | None = None,
        fusions: Sequence[str | Fusion] | None = None,
        *,
        progress: Progress | None = None,
        reading: Progress | None = None,
        **options: Unpack[EvaluateOptions],
    ) -> Report:
        """Measure the retrieval quality of retrievers and fusions, named or given as objects, or of all eight retrievers
        and the ``default`` fusion when none is given. The options are those of
        :class:`~trivium.evaluation.requests.EvaluateRequest`; ``progress`` counts questions, ``reading`` the bytes of
        question files. Raises InputError.
        """
        from trivium.evaluation.evaluator import Evaluator
        from trivium.evaluation.requests import EvaluateOptions, EvaluateRequest

        named = ("progress", "reading", *EvaluateOptions.__annotations__)
        check_known("evaluate", options, named)
        request = EvaluateRequest(
            questions=questions, retrievers=retrievers or (), fusions=fusions or (), **options
        )
        return Evaluator(self.searcher).evaluate(request, progress=progress, reading=reading)


def _search_request(
    method: str,
    question: str,
    k: int,
    retrievers: Sequence[str] | None,
    fusion: str | None,
    options: SearchOptions,
    *others: str,
) -> SearchRequest:
    """Return the request of a method of an engine, which also has the options ``others``. Raises InputError."""
    from trivium.search.requests import SearchRequest

    known = [one.name for one in fields(SearchRequest) if one.name != "question"]
    check_known(method, options, [*known, *others])
    return SearchRequest(question, k=k, retrievers=retrievers, fusion=fusion, **options)


def _reject(options: Mapping[str, Any], *names: str) -> None:
    """Raise InputError if one of the options is given."""
    for name in names:
        if name in options:
            raise InputError(f"{name} cannot be chosen for documents in memory")


def _current_folder() -> str | None:
    """The folder that relative paths begin at; None if it has been removed."""
    try:
        return str(Path.cwd())
    except OSError:
        return None
