"""Turns a question into ranked, explained hits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from trivium.common.argument_checks import check_type
from trivium.common.idle_cores import for_each
from trivium.common.suggested_commands import for_store
from trivium.embedding.embedder import Embedder, embed_queries, embeds_together
from trivium.embedding.store_embedder import RememberedQuestions, StoreEmbedder
from trivium.errors import InputError, NotEmbeddedError
from trivium.fusion.score_table import Fused, Fusion, Table
from trivium.graph.filter_conditions import Condition, Where
from trivium.graph.filter_language import parse
from trivium.graph.filtered_store import Within
from trivium.graph.page_facts import document_name
from trivium.graph.protocols import GraphStore, LooksAhead, SearchStore
from trivium.graph.records import Vectors, page_numbers, round_score
from trivium.live.ask_sources import LiveAnswers, LiveSources
from trivium.live.extended_store import live_view, origins
from trivium.live.found_chunks import TextVectors
from trivium.rerank.reranker import Reranker
from trivium.retrievers.query import Query, Retriever
from trivium.retrievers.signals import SignalSettings
from trivium.retrievers.title_signals import naming_words
from trivium.search.candidates import DEPTH, gather, retrieve_alone
from trivium.search.cut import Cut
from trivium.search.embed_ahead import Ahead
from trivium.search.fuse import DEFAULTS, Fusions, fuse_candidates, inputs_of
from trivium.search.picture_queries import StoreImageEmbedder
from trivium.search.ranking import order, probability
from trivium.search.requests import PassageOptions, SearchRequest, Warned, check_question
from trivium.search.rerank_and_cut import Placed, SecondStage, log_warnings
from trivium.search.retriever_set import RetrieverSet, SettingValues
from trivium.search.searched_text import searched_text
from trivium.search.stage_timing import StageObserver, ignore_stages, observed
from trivium.settings.domain import NO_DOMAIN, Domain
from trivium.text.normalise import composed
from trivium.types import Hit

_IMAGE = "image"
"""The retriever that compares pictures."""
_LEXICAL = "lexical"
"""The retriever that matches words only and needs no vectors."""
_WITHOUT_VECTORS = (_IMAGE, _LEXICAL)
"""Retrievers that do not use the text vector of the question. When one of them is asked alone, nothing is embedded."""


@dataclass(frozen=True, slots=True)
class Scored:
    """The candidates of a question and their fused scores. ``fused`` is None when a single retriever was asked. With
    ``log_odds`` the scores are log-odds of relevance.
    """

    query: Query
    table: Table
    fused: Fused | None
    log_odds: bool


@dataclass(frozen=True, slots=True)
class ScoreBreakdown:
    """Scores of the chunks of one question under a fusion, and what each retriever contributed on top of
    ``baseline``.
    """

    scores: Mapping[str, float]
    contributions: Mapping[str, Mapping[str, float]]
    baseline: float


@dataclass(frozen=True, slots=True)
class _Search:
    """The search for one question of a request. ``embed`` returns its vector, ``after`` is the stage after ranking.
    ``only`` names the retriever when a single one is asked and nothing else needs the vector.
    """

    text: str
    embed: Callable[[], Vectors]
    request: SearchRequest
    after: SecondStage
    only: str | None


def _is_calibrated(fusion: Fusion | None, request: PassageOptions) -> bool:
    """Whether scores are probabilities. A network's score is relative to the other candidates, and those that match a
    condition differ in distribution from those it was calibrated on.
    """
    return fusion is not None and fusion.log_odds and request.where is None


@dataclass(frozen=True, slots=True)
class Searcher:
    """Searches one store. Thread-safe; of a question it caches only the vector. ``on_stage`` is called at the end of
    every stage.
    """

    store: GraphStore
    embedder: StoreEmbedder
    retrievers: RetrieverSet
    fusions: Fusions
    on_stage: StageObserver = ignore_stages
    images: StoreImageEmbedder = field(default_factory=StoreImageEmbedder)
    live: LiveSources = field(default_factory=LiveSources)
    live_vectors: TextVectors = field(default_factory=TextVectors)
    questions: RememberedQuestions = field(default_factory=RememberedQuestions)
    domain: Domain = NO_DOMAIN
    """What the collection is about; used for answering."""

    def on(self, store: GraphStore) -> Searcher:
        """Return this searcher on another snapshot of its store."""
        return replace(self, store=store, embedder=self.embedder.on(store), fusions=self.fusions.on(store))

    def search(self, request: SearchRequest) -> list[Hit]:
        """Return the best chunks for a question, best first.

        One retriever without a fusion returns its own scores. Otherwise scores are fused by the named fusion or the
        ``default``; if the default is a network trained on retrievers that are not asked, the convex combination is
        used.

        Raises InputError for an empty question or an unknown retriever, FusionError for an unknown fusion, and
        NotEmbeddedError when nothing is embedded yet, unless ``lexical`` is asked alone.
        """
        return self.search_many([request.question], request)[0]

    def search_many(self, questions: Iterable[str], request: SearchRequest) -> list[list[Hit]]:
        """Search for several questions, each as the request says for its own; results are in the order of the
        questions. One question is searched for on each idle core, while the next ones are embedded, those of one length
        together if the embedder does that.
        """
        if isinstance(questions, str) or not isinstance(questions, Iterable):
            raise InputError(f"expected several questions, got {type(questions).__name__}")
        names = self.retrievers.chosen_names(request.retrievers, request.settings)
        if request.image is not None and _IMAGE not in names:
            raise InputError(
                f"a picture to search by is for the retriever image: name it, got {', '.join(names)}"
            )
        self.live.choose(request.sources or ())  # raises for unknown names before anything is asked
        fusion = self._fusion(request, names)
        after = self.second_stage(
            request.k, request.rerank, request.cut, request.settings, request.on_warnings
        )
        after.check(calibrated=_is_calibrated(fusion, request))
        only = names[0] if fusion is None and not after.needs_vectors else None
        asked = self._retrievers(request, fusion)
        texts = [composed(text) if isinstance(text, str) else text for text in questions]
        embed, in_groups = partial(self._embed, only=only), partial(self._embeds_together, only)
        embedded = [searched_text(text) if isinstance(text, str) else text for text in texts]
        with Ahead(embedded, embed, in_groups, self._look_ahead) as ahead:
            searches = [
                _Search(text, partial(ahead.vector, number), request, after, only)
                for number, text in enumerate(texts)
            ]
            if fusion is None:
                return for_each(searches, partial(self._search_one, retriever=asked[names[0]]))
            return for_each(searches, partial(self._search_fused, retrievers=asked, fusion=fusion))

    def check(self, request: PassageOptions) -> None:
        """Raise what a search with these options would raise for names and combinations, before it is begun."""
        fusion = self._fusion(request, self.retrievers.chosen_names(request.retrievers, request.settings))
        self.live.choose(request.sources or ())
        after = self.second_stage(request.k, request.rerank, request.cut, request.settings)
        after.check(calibrated=_is_calibrated(fusion, request))

    def _fusion(self, request: PassageOptions, names: Sequence[str]) -> Fusion | None:
        """Return how the scores of the named retrievers are fused; None for one retriever that keeps its own."""
        if len(names) == 1 and request.fusion is None:
            return None
        return self.fusions.suitable(request.fusion, names)

    def _retrievers(self, request: PassageOptions, fusion: Fusion | None) -> Mapping[str, Retriever]:
        inputs = DEFAULTS if fusion is None else inputs_of(fusion)
        return self.retrievers.choose(request.retrievers, request.settings, inputs)

    def second_stage(
        self,
        k: int,
        rerank: str | Reranker | None = None,
        cut: str | Cut | None = None,
        settings: SettingValues | None = None,
        on_warnings: Warned | None = None,
    ) -> SecondStage:
        """Return the stage after ranking that these options describe. Raises ConfigurationError and InputError for
        invalid names, and MissingExtraError.
        """
        reranker = None if rerank is None else self.retrievers.rerankers.get(rerank)
        check_type("cut", cut, (str, Cut, type(None)), "text such as gap, or a trivium.Cut")
        return SecondStage(
            k=k,
            reranker=reranker,
            settings=self.retrievers.rerank_settings(settings),
            views=self.retrievers.choose(reranker.views, settings) if reranker and reranker.views else {},
            cut=Cut.read(cut) if isinstance(cut, str) else cut,
            warn=log_warnings if on_warnings is None else on_warnings,
            on_stage=self.on_stage,
        )

    def score(self, request: SearchRequest, store: SearchStore | None = None) -> Scored:
        """Return the candidates that a search for the same request ranks, with their scores from every retriever.

        ``store`` is a pinned snapshot, for callers that continue to read from it; by default the current store is
        used.
        """
        names = self.retrievers.chosen_names(request.retrievers, request.settings)
        fusion = self._fusion(request, names)
        asked = self._retrievers(request, fusion)
        only = names[0] if fusion is None else None
        query = self.query(request.question, request.exact, store, only=only)
        recall = (
            None if request.recall is None else self.query(request.recall, request.exact, store, only=only)
        )
        if fusion is None:
            table = gather(query, asked, max(DEPTH, request.k), recall=recall, on_stage=self.on_stage)
            return Scored(query, table, None, False)
        table, fused = fuse_candidates(query, asked, fusion, request.k, self.on_stage, recall)
        return Scored(query, table, fused, fusion.log_odds and query.allowed is None)

    def break_down(self, question: str, chunks: Sequence[str], fusion: str) -> ScoreBreakdown:
        """Return the scores that a fusion of all retrievers gives to ``chunks``, and their breakdown. Chunks that no
        retriever returned are left out. Raises FusionError for an unknown fusion.
        """
        fuse = self.fusions.get(fusion)
        inputs = inputs_of(fuse)
        with self.store.pinned() as store:
            query = self.query(question, store=store)
            signals = inputs.signals if fuse.needs_signals else None
            table = self.table(query, self.retrievers.choose(inputs=inputs), inputs.depth, signals=signals)
            fused = self.fuse(fuse, table)
        places = {uri: place for place, uri in enumerate(table.chunks)}
        asked = [uri for uri in dict.fromkeys(chunks) if uri in places]
        rows = [places[uri] for uri in asked]
        shares = fused.explain(rows).tolist()
        return ScoreBreakdown(
            {uri: float(fused.scores[row]) for uri, row in zip(asked, rows, strict=True)},
            {uri: dict(zip(table.columns, own, strict=True)) for uri, own in zip(asked, shares, strict=True)},
            fused.baseline,
        )

    def hints(self, where: Where) -> list[str]:
        """Explain why no passage matches a condition, and suggest similar names for unknown ones. Empty when some
        passage matches.
        """
        with self.limited(parse(where)) as store:
            return list(store.allowed.hints) if isinstance(store, Within) else []

    # -- the stages, one by one ---------------------------------------------------------------------------------

    def query(
        self,
        text: str,
        exact: bool = False,
        store: SearchStore | None = None,
        *,
        image: bytes | None = None,
        only: str | None = None,
        embed: Callable[[], Vectors] | None = None,
    ) -> Query:
        """Return the query for a question on the store or a pinned snapshot, optionally with a picture to search by. Its
        text is :func:`~trivium.search.searched_text.searched_text` of the question.

        The question is embedded when its vector is first needed (by ``embed`` if given). ``only`` names the retriever
        when a single one will be asked. Raises InputError for an empty question, which is allowed only with a picture
        for the retriever ``image``; NotEmbeddedError when vectors are missing and a retriever other than ``lexical``
        will be asked.
        """
        if not (only == _IMAGE and image is not None and text == ""):
            check_question(text)
        text = searched_text(composed(text))
        asked = self.store if store is None else store
        self._check_embedded(asked, only)
        return Query(
            text,
            (lambda: self._embed([text], only)[0]) if embed is None else embed,
            asked,
            exact,
            lambda: self.images.embed(asked, text, image),
        )

    def _embed(self, texts: Sequence[str], only: str | None) -> list[Vectors]:
        with observed(self.on_stage, "embed"):
            if only in _WITHOUT_VECTORS:
                embedder = self.store.embedder
                return [np.zeros(0 if embedder is None else embedder.dimension, np.float32) for _ in texts]
            return embed_queries(self.remembering(), texts)

    def _embeds_together(self, only: str | None) -> bool:
        return only not in _WITHOUT_VECTORS and embeds_together(self.embedder.get())

    def _look_ahead(self, vectors: Sequence[Vectors], like: Vectors) -> None:
        with self.store.pinned() as store:
            if isinstance(store, LooksAhead):
                store.look_ahead(vectors, like)

    def remembering(self) -> Embedder:
        """The store's embedder, with a cache of recent question vectors. Raises the errors of
        :meth:`~trivium.embedding.store_embedder.StoreEmbedder.get`.
        """
        return self.questions.of(self.embedder.get())

    def table(
        self,
        query: Query,
        retrievers: Mapping[str, Retriever],
        depth: int | None = DEPTH,
        *,
        signals: SignalSettings | None = None,
    ) -> Table:
        """Build the table of raw scores; see :func:`trivium.search.candidates.gather`."""
        return gather(query, retrievers, depth, signals=signals, on_stage=self.on_stage)

    def fuse(self, fusion: Fusion, table: Table) -> Fused:
        """Return one fused score per candidate."""
        with observed(self.on_stage, "fuse"):
            return fusion.fuse(table)

    @contextmanager
    def limited(
        self,
        condition: Condition | None,
        text: str = "",
        answers: LiveAnswers | None = None,
        *,
        only: str | None = None,
    ) -> Iterator[SearchStore]:
        """Pin the store, extended by the answers of live sources and restricted by a condition. ``only`` as for
        :meth:`query`.
        """
        with self.store.pinned() as store:
            view: SearchStore = store
            if answers is not None and answers.documents:
                with observed(self.on_stage, "live"):
                    embedder = None if only in _WITHOUT_VECTORS else self.remembering()
                    view = live_view(store, answers.documents, text, embedder, self.live_vectors)
            yield view if condition is None else view.within(condition)

    def _ask_live(self, search: _Search) -> LiveAnswers | None:
        """Ask the live sources. No snapshot of the store is held while waiting."""
        request = search.request
        if not request.sources:
            return None
        text = search.text if request.recall is None else request.recall
        check_question(text)
        self._check_embedded(self.store, search.only)  # do not ask when the answers cannot be ranked
        with observed(self.on_stage, "live"):
            answers = self.live.ask(text, request.sources)
        if request.on_sources is not None:
            request.on_sources(answers.outcomes)
        return answers

    def _view(self, search: _Search) -> AbstractContextManager[SearchStore]:
        """Open what a search reads: the store, with what live sources answer and within the condition."""
        where = search.request.where
        condition = None if where is None else parse(where)
        return self.limited(condition, search.text, self._ask_live(search), only=search.only)

    def _check_embedded(self, store: SearchStore, only: str | None) -> None:
        if store.embedder is None and only != _LEXICAL:
            if not next(iter(store.adjacency().chunks), None):
                raise NotEmbeddedError(
                    f"there are no documents in {store.location} yet: run"
                    f"  {for_store('trivium build FILES --store STORE', store.location)}"
                )
            raise NotEmbeddedError(
                f"nothing in {store.location} is embedded yet: run"
                f"  {for_store('trivium embed --store STORE', store.location)}  or search by words alone"
                " (--retriever lexical)"
            )

    def _search_one(self, search: _Search, retriever: Retriever) -> list[Hit]:
        with self._view(search) as store:
            query, beside = self._queries(search, store)
            with observed(self.on_stage, "retrieve", retriever.name):
                found = retrieve_alone(query, retriever, search.after.wanted, beside)
            placed = search.after.apply(query, [(one.uri, round_score(one.score)) for one in found])
            provenance = {candidate.uri: {retriever.name: str(candidate.source_node)} for candidate in found}
            contributions = {one.uri: {retriever.name: one.score} for one in placed if search.request.explain}
            self._warn_of_waiting(search, store)
            return self._hits(search, store, placed, contributions, provenance)

    def _queries(self, search: _Search, store: SearchStore) -> tuple[Query, Query | None]:
        """Return the query and, if there is one, the query for the alternative question."""
        request = search.request
        query = self.query(
            search.text, request.exact, store, image=request.image, only=search.only, embed=search.embed
        )
        if request.recall is None:
            return query, None
        return query, self.query(request.recall, request.exact, store, only=search.only)

    def _search_fused(
        self, search: _Search, retrievers: Mapping[str, Retriever], fusion: Fusion
    ) -> list[Hit]:
        after = search.after
        with self._view(search) as store:
            query, beside = self._queries(search, store)
            table, fused = fuse_candidates(query, retrievers, fusion, after.wanted, self.on_stage, beside)
            with observed(self.on_stage, "fuse"):
                best = order(table.chunks, fused.scores)[: after.wanted]
                ranking = [(table.chunks[row], round_score(float(fused.scores[row]))) for row in best]
            placed = after.apply(query, ranking)
            rows = {table.chunks[row]: row for row in best}
            best = [rows[one.uri] for one in placed]
            contributions = {}
            if search.request.explain:
                with observed(self.on_stage, "fuse"):
                    for row, values in zip(best, fused.explain(best).tolist(), strict=True):
                        contributions[table.chunks[row]] = dict(zip(table.columns, values, strict=True))
            provenance = {
                table.chunks[row]: {name: str(node) for name, node in table.source_nodes[row].items()}
                for row in best
            }
            baseline = fused.baseline if search.request.explain else 0.0
            calibrated = _is_calibrated(fusion, search.request)
            self._warn_of_waiting(search, store)
            return self._hits(search, store, placed, contributions, provenance, baseline, log_odds=calibrated)

    def _warn_of_waiting(self, search: _Search, store: SearchStore) -> None:
        """Warn that texts have no vectors yet, unless the search does not need them."""
        if search.only not in _WITHOUT_VECTORS:
            warning = store.waiting_texts().warning
            if warning is not None:
                search.after.warn([warning])

    def _hits(
        self,
        search: _Search,
        store: SearchStore,
        placed: Sequence[Placed],
        contributions: Mapping[str, Mapping[str, float]],
        provenance: Mapping[str, Mapping[str, str]],
        baseline: float = 0.0,
        *,
        log_odds: bool = False,
    ) -> list[Hit]:
        with observed(self.on_stage, "fetch"):
            records = store.fetch([one.uri for one in placed])
        live = origins(store)
        return [
            Hit(
                uri=one.uri,
                text=record.text,
                score=one.score,
                rank=rank,
                page=record.page,
                section=record.section,
                kind=record.kind,
                start=record.start,
                end=record.end,
                contributions=contributions.get(one.uri, {}),
                provenance=provenance.get(one.uri, {}),
                baseline=baseline,
                probability=probability(one.score) if log_odds else None,
                document=document_name(record.document),
                pages=tuple(page_numbers(record.pages)),
                format=record.format,
                metadata=record.metadata,
                live=live.get(one.uri),
                rerank_score=one.rerank_score,
                named=naming_words(search.text, record.page) if search.request.explain else (),
            )
            for rank, (one, record) in enumerate(zip(placed, records, strict=True), start=1)
        ]
