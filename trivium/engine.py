"""Where the stages meet: build a graph, search it, explain the answer, measure it.

>>> import trivium
>>> with trivium.Engine.open("demo-store") as engine:            # doctest: +SKIP
...     for hit in engine.search("Who found the moons of Mars?", k=3):
...         print(hit.rank, hit.uri, hit.score)
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from trivium.answering.answer import Ground, answer
from trivium.answering.events import AnswerEvent, Done
from trivium.datasets.questions import read_questions
from trivium.datasets.trace import Traced, trace
from trivium.embedding.base import Embedder
from trivium.embedding.fill import fill, fill_parts
from trivium.embedding.registry import open_embedder
from trivium.errors import EmbedderMismatchError, InputError, StoreError
from trivium.evaluation.report import Report
from trivium.evaluation.run import evaluate as evaluate_rankings
from trivium.fusion.base import Fusion
from trivium.fusion.decision import Decision, read_decision
from trivium.fusion.hits import HitFile, HitList, hit_list, save_hits
from trivium.fusion.network import NetworkFusion
from trivium.fusion.registry import NETWORK, make_fusion, suits
from trivium.fusion.table import Table
from trivium.graph.bulk import ExportReport, export
from trivium.graph.dbpedia import EnrichReport, enrich
from trivium.graph.factory import open_or_create_store, open_store
from trivium.graph.protocols import SearchStore
from trivium.graph.schema import page_uri
from trivium.graph.store import GraphStore, StoreInfo, round_score
from trivium.index.load import IngestReport, load
from trivium.index.load import Progress as LoadProgress
from trivium.index.sentences import sentence_texts
from trivium.llm.base import ChatModel
from trivium.parser.sources.base import Format
from trivium.retrievers.base import Query, Retriever
from trivium.retrievers.registry import RETRIEVERS, make_retrievers
from trivium.retrievers.selectors import Selector
from trivium.search.candidates import DEPTH, gather
from trivium.search.fused import fuse_candidates
from trivium.search.ranking import Ranking, fused_ranking, order, own_ranking, probability
from trivium.text import normalise_title
from trivium.training.gate import decide, verdict
from trivium.types import Answer, Hit, Question, Turn

Progress = Callable[[int, int], None]


class Engine:
    """A store with its embedder and retrievers. Make one with :meth:`create` or :meth:`open`; close it, or use
    it as a context manager."""

    def __init__(
        self, store: GraphStore, embedder: str | None = None, selector: Selector | None = None
    ) -> None:
        """``embedder`` names who fills an empty store; a filled one keeps its own. ``selector`` chooses for the path
        retriever; by default one that needs no language model."""
        known = store.embedder
        if embedder is not None and known is not None and embedder != known.name:
            raise EmbedderMismatchError(
                f"the store {store.info().location} was filled by {known.name}, not by {embedder}: "
                f"open it without naming an embedder, or build another store"
            )
        self.store = store
        self._embedder_name = embedder
        self._embedder: Embedder | None = None
        self._opening = threading.Lock()
        self._retrievers = make_retrievers(selector=selector)
        self._fusions: dict[str, Fusion] = {}

    @classmethod
    def create(cls, store: str | Path, embedder: str | None = None) -> Self:
        """A new, empty store in a folder (made when missing) or in an empty database (``bolt://HOST:PORT``), to be
        filled by the named embedder: by default ``bge-small`` when it is installed, else ``minilm``. An existing
        store is opened."""
        if embedder is not None:
            open_embedder(embedder).close()  # a name that does not work is refused before anything is made
        return cls._on(open_or_create_store(store), embedder)

    @classmethod
    def open(cls, store: str | Path, embedder: str | None = None, selector: Selector | None = None) -> Self:
        """An existing store. Raises StoreNotFoundError, StoreFormatError, and EmbedderMismatchError when an
        embedder is named that did not fill it."""
        return cls._on(open_store(store), embedder, selector)

    @classmethod
    def _on(cls, store: GraphStore, embedder: str | None, selector: Selector | None = None) -> Self:
        try:
            return cls(store, embedder, selector)
        except BaseException:
            store.close()
            raise

    def close(self) -> None:
        """Let go of the store and the embedder."""
        if self._embedder is not None:
            self._embedder.close()
            self._embedder = None
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def embedder(self) -> Embedder:
        """The store's embedder, opened on first use. Raises EmbedderMismatchError when the installed model is
        another version than the one that filled the store."""
        with self._opening:
            if self._embedder is None:
                self._embedder = self._open_embedder()
            return self._embedder

    def _open_embedder(self) -> Embedder:
        known = self.store.embedder
        embedder = open_embedder(self._embedder_name if known is None else known.name)
        if known is not None and known != embedder.identity:
            embedder.close()
            raise EmbedderMismatchError(
                f"the store was filled by {known.name} version {known.version} ({known.dimension} dimensions), "
                f"but version {embedder.identity.version} ({embedder.identity.dimension}) is installed: "
                f"install the version it was filled by, or build the store again"
            )
        return embedder

    # -- filling ----------------------------------------------------------------------------------------------

    def build(
        self,
        sources: Sequence[str | Path],
        *,
        format: Format = "auto",
        workers: int | None = None,
        embed: bool = True,
        sentences: bool = True,
        progress: LoadProgress | None = None,
        names: Mapping[str, str] | None = None,
    ) -> IngestReport:
        """Parse, load and (unless ``embed`` is false) embed sources, and (unless ``sentences`` is) their sentences; also
        adds to a store that has some. ``names`` says by path what files are called, where that is not their path.

        A page already there is replaced if it changed. Documents that cannot be read are in the report's
        ``problems``; they never stop the run. Running it again after an interruption finishes the work.
        """
        if self._embedder_name is not None and self.store.embedder is None:
            self.store.set_embedder(self.embedder.identity)  # remembered also when embedding comes later
        report = load(
            [str(s) for s in sources],
            self.store,
            format=format,
            workers=workers,
            progress=progress,
            names=names,
        )
        if embed:
            self.embed(None if progress is None else lambda done, total: progress("embed", done, total))
        if embed and sentences:
            self.embed_sentences(
                None if progress is None else lambda done, total: progress("sentences", done, total)
            )
        self.store.refresh(None if progress is None else lambda done, total: progress("index", done, total))
        return report

    def remove(self, pages: Sequence[str]) -> list[str]:
        """Remove pages by title (or alias); returns the uris removed. Raises InputError for an unknown page."""
        uris = [page_uri(normalise_title(page)) for page in pages]
        known = self.store.resolve(uris)
        present = {uri for uri, _, _, _ in self.store.pages()}
        unknown = [page for page, uri in zip(pages, uris, strict=True) if known.get(uri) not in present]
        if unknown:
            raise InputError(f"no such page in the store: {', '.join(unknown)}")
        removed = self.store.delete([known[uri] for uri in uris])
        self.store.refresh()
        return removed

    def embed(self, progress: Progress | None = None) -> int:
        """Embed every text that has no vector yet; returns how many. Resumable: what is done stays done."""
        texts = self.store.pending_texts()
        if not texts:
            return 0
        self.store.set_embedder(self.embedder.identity)
        return fill(texts, self.embedder, self.store.put_vectors, progress)

    def embed_sentences(self, progress: Progress | None = None) -> int:
        """Embed the sentences of chunks one by one, where that is not done yet; returns how many. Takes about as long as
        :meth:`embed`, and as resumable. ``progress`` counts chunks."""
        passages = self.store.pending_sentences()
        if not passages:
            return 0
        self.store.set_embedder(self.embedder.identity)
        return fill_parts(passages, sentence_texts, self.embedder, self.store.put_sentences, progress)

    def enrich(
        self, sources: Sequence[str], *, embed: bool = True, progress: LoadProgress | None = None
    ) -> EnrichReport:
        """Add relations and types of DBpedia (dump files, or the address of a SPARQL endpoint) to what the store
        holds, and (unless ``embed`` is false, or nothing is embedded yet) embed what that changed."""
        report = enrich(self.store, sources, progress=progress)
        if embed and self.store.embedder is not None:
            self.embed(None if progress is None else lambda done, total: progress("embed", done, total))
        self.store.refresh(None if progress is None else lambda done, total: progress("index", done, total))
        return report

    def export(self, folder: str | Path, progress: Progress | None = None) -> ExportReport:
        """Write the store as files for ``neo4j-admin database import full``; see :func:`trivium.graph.bulk.export`."""
        return export(self.store, folder, progress=progress)

    def info(self) -> StoreInfo:
        """What the store holds."""
        return self.store.info()

    # -- searching --------------------------------------------------------------------------------------------

    def search(
        self,
        question: str,
        k: int = 10,
        retrievers: Sequence[str] | None = None,
        fusion: str | None = None,
        explain: bool = False,
        exact: bool = False,
    ) -> list[Hit]:
        """The k best chunks for a question, best first.

        ``retrievers`` names the views to ask (default: all eight). One retriever without a ``fusion`` gives its
        own scores; otherwise they are fused (``default`` when not named; where that is a network and views it was trained
        on are left out, the convex combination). ``explain`` fills each hit's
        ``contributions``. ``exact`` asks exact instead of approximate vector search.
        Raises InputError for an empty question, a k below 1 or an unknown retriever, FusionError for an unknown
        fusion, StoreError when nothing is embedded yet.
        """
        return self.search_many([question], k, retrievers, fusion, explain, exact)[0]

    async def asearch(
        self,
        question: str,
        k: int = 10,
        retrievers: Sequence[str] | None = None,
        fusion: str | None = None,
        explain: bool = False,
        exact: bool = False,
    ) -> list[Hit]:
        """:meth:`search`, off the event loop."""
        return await asyncio.to_thread(self.search, question, k, retrievers, fusion, explain, exact)

    def search_many(
        self,
        questions: Iterable[str],
        k: int = 10,
        retrievers: Sequence[str] | None = None,
        fusion: str | None = None,
        explain: bool = False,
        exact: bool = False,
    ) -> list[list[Hit]]:
        """:meth:`search` for several questions, answers in their order."""
        if k < 1:
            raise InputError(f"k must be 1 or more, got {k}")
        asked = self._named(retrievers)
        if len(asked) == 1 and fusion is None:
            (only,) = asked.values()
            return [self._search_one(text, exact, k, only, explain) for text in questions]
        fuse = self._fusion(self._suitable("default" if fusion is None else fusion, asked))
        return [self._search_fused(text, exact, k, asked, fuse, explain) for text in questions]

    def gives_log_odds(self, retrievers: Sequence[str] | None = None, fusion: str | None = None) -> bool:
        """Whether the scores of :meth:`search` with these arguments are log-odds, 0 where a hit is as likely right as
        wrong."""
        asked = self._named(retrievers)
        if len(asked) == 1 and fusion is None:
            return False
        return self._made(self._suitable("default" if fusion is None else fusion, asked)).log_odds

    def _search_one(self, text: str, exact: bool, k: int, retriever: Retriever, explain: bool) -> list[Hit]:
        with self._asked(text, exact) as query:
            found = retriever.retrieve(query, k)[:k]
            scores = [(candidate.uri, round_score(candidate.score)) for candidate in found]
            provenance = {candidate.uri: {retriever.name: candidate.source_node} for candidate in found}
            contributions = {uri: {retriever.name: score} for uri, score in scores if explain}
            return self._hits(query.store, scores, contributions, provenance)

    def _search_fused(
        self,
        text: str,
        exact: bool,
        k: int,
        retrievers: Mapping[str, Retriever],
        fusion: Fusion,
        explain: bool,
    ) -> list[Hit]:
        with self._asked(text, exact) as query:
            table, fused = fuse_candidates(query, retrievers, fusion, k)
            best = order(table.chunks, fused.scores)[:k]
            scores = [(table.chunks[row], round_score(float(fused.scores[row]))) for row in best]
            contributions = {}
            if explain:
                for row, values in zip(best, fused.explain(best).tolist(), strict=True):
                    contributions[table.chunks[row]] = dict(zip(table.columns, values, strict=True))
            provenance = {table.chunks[row]: dict(table.source_nodes[row]) for row in best}
            baseline = fused.baseline if explain else 0.0
            return self._hits(
                query.store, scores, contributions, provenance, baseline, log_odds=fusion.log_odds
            )

    @contextmanager
    def _asked(self, text: str, exact: bool) -> Iterator[Query]:
        """A question of the store as it is now, whatever is written meanwhile."""
        query = self._query(text, exact)
        with self.store.pinned() as store:
            yield replace(query, store=store)

    def _hits(
        self,
        store: SearchStore,
        scores: Ranking,
        contributions: dict[str, dict[str, float]],
        provenance: dict[str, dict[str, str]],
        baseline: float = 0.0,
        *,
        log_odds: bool = False,
    ) -> list[Hit]:
        records = store.fetch([uri for uri, _ in scores])
        return [
            Hit(
                uri=uri,
                text=record.text,
                score=score,
                rank=rank,
                page=record.page,
                section=record.section,
                kind=record.kind,
                start=record.start,
                end=record.end,
                contributions=contributions.get(uri, {}),
                provenance=provenance.get(uri, {}),
                baseline=baseline,
                probability=probability(score) if log_odds else None,
            )
            for rank, ((uri, score), record) in enumerate(zip(scores, records, strict=True), start=1)
        ]

    def _query(self, text: str, exact: bool) -> Query:
        if not text.strip():
            raise InputError("a question needs some text, got an empty one")
        if self.store.embedder is None:
            raise StoreError(
                f"nothing in {self.store.info().location} is embedded yet: run  trivium embed --store STORE"
            )
        return Query(text=text, vector=self.embedder.embed_query(text), store=self.store, exact=exact)

    def _named(self, names: Sequence[str] | None) -> dict[str, Retriever]:
        if names is None or not names:
            return self._retrievers
        unknown = [name for name in names if name not in self._retrievers]
        if unknown:
            raise InputError(
                f"unknown retriever {', '.join(unknown)}: expected some of {', '.join(RETRIEVERS)}"
            )
        return {name: self._retrievers[name] for name in RETRIEVERS if name in names}

    def _fusion(self, name: str) -> Fusion:
        return self._made(name)

    def _made(self, name: str) -> Fusion:
        """The fusion of a name, made once: one that is changed on disk is seen by the next engine."""
        if name not in self._fusions:
            known = self.store.embedder
            embedder = known.name if known is not None else ""
            self._fusions[name] = make_fusion(name, embedder, self._decision() if name == "default" else None)
        return self._fusions[name]

    def _decision(self) -> str | None:
        kept = self.store.fusion_decision
        return None if kept is None else read_decision(kept).fusion

    def _suitable(self, name: str, asked: Mapping[str, Retriever]) -> str:
        """What ``default`` is where only some views are asked; any other fusion is what it was named."""
        return name if name != "default" or suits(self._made(name), asked) else "convex"

    # -- answering --------------------------------------------------------------------------------------------

    def ask(
        self,
        question: str,
        *,
        k: int = 6,
        history: Sequence[Turn] = (),
        model: ChatModel | None = None,
        retrievers: Sequence[str] | None = None,
        fusion: str | None = None,
    ) -> Answer:
        """Answer a question from the k best chunks, citing them. Without a ``model`` it is made of their sentences.

        A question that follows on the turns of ``history`` is made to stand by itself first. Raises what :meth:`search`
        raises, and ChatModelError.
        """
        events = self.ask_stream(
            question, k=k, history=history, model=model, retrievers=retrievers, fusion=fusion
        )
        return next(event.answer for event in events if isinstance(event, Done))

    def ask_stream(
        self,
        question: str,
        *,
        k: int = 6,
        history: Sequence[Turn] = (),
        model: ChatModel | None = None,
        retrievers: Sequence[str] | None = None,
        fusion: str | None = None,
    ) -> Generator[AnswerEvent, None, None]:
        """:meth:`ask` while it happens: what was found, the answer piece by piece, the answer. Wrong arguments are
        refused before the first event. Closing it stops the model."""
        if not question.strip():
            raise InputError("a question needs some text, got an empty one")
        if k < 1:
            raise InputError(f"k must be 1 or more, got {k}")
        self.gives_log_odds(retrievers, fusion)  # refuses unknown names
        ground = Ground(self.store, self.embedder, lambda asked: self.search(asked, k, retrievers, fusion))
        return answer(question, ground, history, model)

    # -- measuring --------------------------------------------------------------------------------------------

    def tables(
        self, questions: Iterable[Question], *, exact: bool = False, depth: int = DEPTH
    ) -> Iterable[Table]:
        """The table of all eight retrievers' scores, question by question: what the convex combination is tuned on."""
        for question in questions:
            yield gather(self._query(question.text, exact), self._retrievers, depth)

    def trace(self, questions: Sequence[Question]) -> Traced:
        """The gold chunks of questions in this store, or the reasons why some have none."""
        return trace(questions, self.store)

    def evaluate(
        self,
        questions: str | Path | Sequence[Question],
        retrievers: Sequence[str] | None = None,
        fusions: Sequence[str] | None = None,
        *,
        exact: bool = False,
        hits: str | Path | None = None,
        progress: Progress | None = None,
    ) -> Report:
        """Retrieval quality of retrievers and fusions, one row each: exactly those named, or all eight and
        ``default`` when none is. ``hits`` names a file for the hit lists, with signals: what ``trivium train`` reads."""
        asked = read_questions(Path(questions)) if isinstance(questions, str | Path) else list(questions)
        if not retrievers and not fusions:
            retrievers, fusions = RETRIEVERS, ("default",)
        single = list(self._named(retrievers)) if retrievers else []
        fused = {name: self._fusion(name) for name in fusions or ()}
        traced = self.trace(asked)
        rankings: dict[str, list[Ranking]] = {name: [] for name in [*single, *fused]}
        kept: list[HitList] = []
        needed = self._retrievers if fused or hits is not None else self._named(single)
        signals = hits is not None or any(fusion.needs_signals for fusion in fused.values())
        for done, question in enumerate(traced.questions, start=1):
            table = gather(self._query(question.text, exact), needed, DEPTH, signals=signals)
            for name in single:
                rankings[name].append(own_ranking(table, name))
            for name, fusion in fused.items():
                rankings[name].append(fused_ranking(table, fusion.fuse(table).scores))
            if hits is not None:
                gold = traced.gold[question.id]
                kept.append(hit_list(question.id, question.text, table, gold.groups, gold.pages))
            if progress is not None:
                progress(done, len(traced.questions))
        if hits is not None:
            save_hits(Path(hits), HitFile(tuple(kept), self.embedder.identity.name))
        return evaluate_rankings(asked, traced, rankings)

    def activate(self, report: Report, fusion: str = NETWORK) -> Decision:
        """Decide by an evaluation on the user's own questions what ``default`` means in this store: the trained
        ``fusion`` (``network``, or a folder) where the gate lets it (:mod:`trivium.training.gate`), else the convex
        combination.

        The report needs rows of all eight retrievers, ``convex`` and the fusion. Other engines on the store obey from
        when they are opened. Raises InputError for a report without them and for a fusion that is not trained.
        """
        if not isinstance(self._made(fusion), NetworkFusion):
            raise InputError(
                f"expected a trained fusion to decide on, got {fusion!r}: there is nothing to decide"
            )
        gate = decide({"questions": verdict(report, fusion, RETRIEVERS)})
        name = fusion if fusion == NETWORK else str(Path(fusion).resolve())
        decision = Decision(
            fusion=name if gate.active else "convex",
            because=gate.because,
            questions=len(report.traced.questions),
            figures={"trained": name, **gate.to_json()["sets"]["questions"]},
        )
        self.store.set_fusion_decision(decision.to_json())
        self._fusions.pop("default", None)
        return decision
