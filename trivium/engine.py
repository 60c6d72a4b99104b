"""The front door: one object over the parts that fill a store, search it, answer from it and measure it.

>>> import trivium
>>> with trivium.Engine.open("demo-store") as engine:            # doctest: +SKIP
...     for hit in engine.search("Who found the moons of Mars?", k=3):
...         print(hit.rank, hit.uri, hit.score)
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from trivium.answering.events import AnswerEvent, Done
from trivium.common import stopping
from trivium.common.progress import Progress, StageProgress
from trivium.embedding.base import Embedder
from trivium.embedding.registry import open_embedder
from trivium.embedding.remembered import QUESTIONS, RememberedQuestions
from trivium.embedding.store_embedder import StoreEmbedder
from trivium.errors import InputError
from trivium.fusion.base import Fusion
from trivium.graph.factory import open_or_create_store, open_store
from trivium.graph.filters import Where
from trivium.graph.protocols import GraphStore
from trivium.graph.records import StoreInfo
from trivium.index.isolation import ParserProcess
from trivium.live.asking import LiveSources
from trivium.live.base import LiveSource
from trivium.rerank.base import Reranker
from trivium.rerank.registry import Rerankers
from trivium.retrievers.base import Retriever
from trivium.retrievers.selectors import Selector
from trivium.retrievers.setting_values import SettingValues, flatten
from trivium.search.fusions import Fusions
from trivium.search.options import SearchOptions
from trivium.search.retriever_set import RetrieverSet, checked_settings
from trivium.search.searcher import Searcher
from trivium.search.selectors import make_selector
from trivium.search.stages import StageObserver, ignore_stages
from trivium.settings import load_settings
from trivium.types import Answer, Hit, Question

if TYPE_CHECKING:  # what fills, checks, answers and measures is loaded when it is used
    from trivium.checking.report import CheckReport
    from trivium.evaluation.report import Report
    from trivium.graph.backup import BackupReport
    from trivium.index.indexer import BuildOptions, Indexer
    from trivium.index.report import IngestReport
    from trivium.search.answers import AskOptions

LATER = (
    "trivium.search.answers",
    "trivium.index.indexer",
    "trivium.index.isolated_load",
    "trivium.index.parser_process",
    "trivium.live.cache",
    "trivium.live.pages",
    *(f"trivium.live.{name}" for name in ("arxiv", "brave", "mediawiki", "searxng", "serpapi", "tavily")),
)
"""What an engine loads when it first answers, changes documents or asks a live source: for those who load it before."""


class Engine:
    """A store with what fills, searches and questions it. Make one with :meth:`create` or :meth:`open`; close it, or use
    it as a context manager. ``searcher`` and ``indexer`` are its parts, useful alone.

    ``embedder`` names who fills an empty store, or is an embedder of one's own; a filled store keeps its own.
    ``retrievers`` of one's own are asked beside the eight of the package. ``fusion`` (a name or an object) is the default
    of searches. ``selector`` (likewise) chooses for the path retriever, by default without a language model.
    ``rerankers`` (names, and rerankers of one's own) are those that whoever is served by the engine may name beside
    ``bm25`` and ``weighted``, which load nothing.
    ``live`` are live sources of one's own, asked where a question names them, beside those of the package.
    ``device`` is where the embedder computes: ``cpu``, ``cuda`` or ``cuda:N``, by default that of the settings.
    ``settings`` of retrievers go by dotted name, such as ``{"walk.damping": 0.4}``, and win over ``trivium.toml``.
    ``on_stage`` is told of every stage of a search that ended. ``remembered_questions`` is how many of the questions
    asked last need not be embedded again; 0 for measuring how long a new one takes.
    """

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
        on_stage: StageObserver = ignore_stages,
        device: str | None = None,
        remembered_questions: int = QUESTIONS,
    ) -> None:
        if isinstance(store, str | Path):
            raise InputError(f"expected an open store, got {str(store)!r}: use  Engine.open({str(store)!r})")
        configured = load_settings()
        values = {**flatten(configured.retrievers), **flatten(checked_settings(settings))}
        chooses = make_selector(selector) if selector is None or isinstance(selector, str) else selector
        chosen = RetrieverSet(retrievers, values, chooses, Rerankers(rerankers))
        self.store = store
        self._parser = ParserProcess()
        self.searcher = Searcher(
            store,
            StoreEmbedder(store, embedder, device),
            chosen,
            Fusions(store, fusion),
            on_stage,
            live=LiveSources(own=live),
            questions=RememberedQuestions(remembered_questions),
            domain=configured.conversation,
        )

    @classmethod
    def create(cls, store: str | Path, embedder: str | Embedder | None = None, **parts: Any) -> Self:
        """A new, empty store in a folder (made when missing) or in an empty database (``bolt://HOST:PORT``), to be
        filled by the embedder: by default ``bge-small`` when it is installed, else ``minilm``. An existing store is
        opened. The store stays when a later build fails or reads nothing: it is empty then, and can be filled again.
        ``parts`` as for :class:`Engine`."""
        device = parts.get("device")
        if isinstance(embedder, str) or (embedder is None and device is not None):
            open_embedder(
                embedder, device=device
            ).close()  # what does not work is refused before anything is made
        return cls._on(open_or_create_store(store), embedder, parts)

    @classmethod
    def open(cls, store: str | Path, embedder: str | Embedder | None = None, **parts: Any) -> Self:
        """An existing store; ``parts`` as for :class:`Engine`. Raises StoreNotFoundError, StoreFormatError, and
        EmbedderMismatchError when an embedder is named that did not fill it."""
        return cls._on(open_store(store), embedder, parts)

    @classmethod
    def _on(cls, store: GraphStore, embedder: str | Embedder | None, parts: Mapping[str, Any]) -> Self:
        try:
            return cls(store, embedder, **parts)
        except BaseException:
            store.close()
            raise

    def on(self, store: GraphStore) -> Self:
        """The same engine on another snapshot of its store. They share the embedder, so only one of them is closed."""
        other = object.__new__(type(self))
        other.store = store
        other._parser = self._parser
        other.searcher = self.searcher.on(store)
        return other

    def close(self) -> None:
        """Let go of the store, the embedder and the process that parses."""
        self._parser.close()
        self.searcher.embedder.close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def embedder(self) -> Embedder:
        """The store's embedder, opened at first use. Raises EmbedderMismatchError when the installed model is another
        version than the one that filled the store."""
        return self.searcher.embedder.get()

    @property
    def indexer(self) -> Indexer:
        """What fills the store."""
        from trivium.index.indexer import Indexer

        return Indexer(self.store, self.searcher.embedder, self._parser)

    def info(self) -> StoreInfo:
        """What the store holds, counted."""
        return self.store.info()

    def pages(self) -> list[str]:
        """The uris of all pages, in order."""
        return [page.uri for page in self.store.pages()]

    def build(self, sources: Sequence[str | Path], **options: Unpack[BuildOptions]) -> IngestReport:
        """Parse, load and embed sources, also into a store that has some; see
        :meth:`trivium.index.indexer.Indexer.build` for the options. Documents that cannot be read are in the report's
        ``problems``; they never stop the run. Running it again after an interruption finishes the work. Raises
        NothingReadError where none could be read and the store holds none either."""
        return self.indexer.build(sources, **options)

    def remove(self, pages: Sequence[str]) -> list[str]:
        """Remove pages by title or alias, or by the file they came from; returns the uris removed. Raises InputError for
        an unknown one, with titles like it."""
        return self.indexer.remove(pages)

    def search(
        self,
        question: str,
        k: int = 10,
        retrievers: Sequence[str] | None = None,
        fusion: str | None = None,
        **options: Unpack[SearchOptions],
    ) -> list[Hit]:
        """The k best chunks for a question, best first; see :meth:`trivium.search.searcher.Searcher.search` for the
        options ``explain``, ``exact``, ``settings``, ``where``, ``image``, ``sources``, ``on_sources``, ``recall``,
        ``rerank``, ``cut`` and ``on_warnings``.

        ``retrievers`` names the views to ask (default: all eight). One retriever without a ``fusion`` gives its own
        scores; otherwise they are fused (``default`` when not named). Raises InputError, FusionError, StoreError.
        """
        return self.searcher.search(question, k, retrievers, fusion, **options)

    def hints(self, where: Where) -> list[str]:
        """Why no passage fulfils a condition, such as a name that no document knows, with names like it; none where some
        passage does."""
        return self.searcher.hints(where)

    def search_many(
        self, questions: Iterable[str], k: int = 10, *args: Any, **options: Any
    ) -> list[list[Hit]]:
        """:meth:`search` for several questions, answers in their order."""
        return self.searcher.search_many(questions, k, *args, **options)

    async def asearch(self, question: str, *args: Any, **options: Any) -> list[Hit]:
        """:meth:`search`, off the event loop."""
        return await stopping.in_thread(lambda: self.search(question, *args, **options))

    def ask(self, question: str, **options: Unpack[AskOptions]) -> Answer:
        """Answer a question from the k best chunks, citing them. Without a ``model`` it is made of their sentences. A
        question that follows on the turns of ``history`` is made to stand by itself first. Raises what :meth:`search`
        raises, and ChatModelError."""
        return next(e.answer for e in self.ask_stream(question, **options) if isinstance(e, Done))

    async def aask(self, question: str, **options: Unpack[AskOptions]) -> Answer:
        """:meth:`ask`, off the event loop. Cancelled, it stops the model."""
        return await stopping.in_thread(lambda: self.ask(question, **options))

    def ask_stream(self, question: str, **options: Unpack[AskOptions]) -> Generator[AnswerEvent, None, None]:
        """:meth:`ask` while it happens: what was found, the answer piece by piece, the answer. Wrong arguments are
        refused before the first event. Closing it stops the model."""
        from trivium.search.answers import answer_stream

        return answer_stream(self.searcher, question, **options)

    def check(
        self, *, repair: bool = False, full: bool = False, progress: StageProgress | None = None
    ) -> CheckReport:
        """Whether the store holds what was written and follows the rules of the graph: the database, checksums of what it
        holds and of derived files, every page, a sample of the vectors (with ``full`` all of them, which takes as long as
        embedding the store) and the files of the models.

        With ``repair`` what can be repaired is: derived data are made again, damaged vectors embedded again, leftovers
        removed, and damaged pages marked, so that the next load of them replaces them. The report says what is left.
        Raises StoreError where the store cannot be read or written at all.
        """
        from trivium.checking.run import check_store

        return check_store(self.store, self.searcher.embedder, repair=repair, full=full, progress=progress)

    def backup(self, file: str | Path, progress: Progress | None = None) -> BackupReport:
        """Write the store, as it is committed now, to one file, from which :meth:`restore` makes it again; see
        :func:`trivium.graph.backup.back_up`."""
        from trivium.graph.backup import back_up

        return back_up(self.store.location, file, progress)

    @staticmethod
    def restore(file: str | Path, store: str | Path, progress: Progress | None = None) -> BackupReport:
        """Make a store in a new or empty folder of what :meth:`backup` wrote; see
        :func:`trivium.graph.backup.restore`."""
        from trivium.graph.backup import restore

        return restore(file, store, progress)

    def evaluate(
        self,
        questions: str | Path | Sequence[Question],
        retrievers: Sequence[str] | None = None,
        fusions: Sequence[str] | None = None,
        **options: Any,
    ) -> Report:
        """Retrieval quality of retrievers and fusions: exactly those named, or all eight and ``default`` when none is;
        see :class:`trivium.evaluation.evaluator.Evaluator`."""
        from trivium.evaluation.evaluator import Evaluator

        return Evaluator(self.searcher).evaluate(questions, retrievers, fusions, **options)
