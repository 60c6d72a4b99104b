"""An engine to look into: its searches can be timed stage by stage, and any candidate's score taken apart, without a line
of it in the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trivium.engine import Engine
from trivium.evaluation.latency import Stopwatch
from trivium.fusion.base import Fused, Fusion
from trivium.fusion.table import Table
from trivium.graph.protocols import SearchStore
from trivium.graph.store import Floats, GraphStore
from trivium.retrievers.base import Candidate, Query, Retriever
from trivium.retrievers.selectors import Selector
from trivium.search.candidates import gather
from trivium.search.ranking import Ranking
from trivium.types import Hit


@dataclass(frozen=True, slots=True)
class _WatchedRetriever:
    inner: Retriever
    watch: Stopwatch

    @property
    def name(self) -> str:
        return self.inner.name

    def retrieve(self, query: Query, depth: int | None = None) -> list[Candidate]:
        found = self.inner.retrieve(query, depth)
        self.watch.lap("retrieve")
        return found

    def score(self, query: Query, chunks: Sequence[str]) -> Floats:
        scores = self.inner.score(query, chunks)
        self.watch.lap("score")
        return scores


@dataclass(frozen=True, slots=True)
class _WatchedFusion:
    inner: Fusion
    watch: Stopwatch

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def needs_signals(self) -> bool:
        return self.inner.needs_signals

    @property
    def log_odds(self) -> bool:
        return self.inner.log_odds

    def fuse(self, table: Table) -> Fused:
        # Between the last score and here the table was filled and, where asked for, the signals gathered.
        self.watch.lap("signals" if self.inner.needs_signals else None)
        fused = self.inner.fuse(table)
        self.watch.lap("fuse")
        return fused


@dataclass(frozen=True, slots=True)
class Apart:
    """Chunks of one question under a fusion: their scores, and what each retriever added to them."""

    scores: Mapping[str, float]
    contributions: Mapping[str, Mapping[str, float]]


class WatchedEngine(Engine):
    """An engine with a stopwatch in its parts; it answers as the engine does."""

    def __init__(
        self, store: GraphStore, embedder: str | None = None, selector: Selector | None = None
    ) -> None:
        super().__init__(store, embedder, selector)
        self._watch = Stopwatch()
        self._retrievers = {
            name: _WatchedRetriever(retriever, self._watch) for name, retriever in self._retrievers.items()
        }

    def timed_search(
        self,
        question: str,
        k: int,
        retrievers: Sequence[str] | None,
        fusion: str | None,
        exact: bool = False,
    ) -> dict[str, float]:
        """Search, and return the seconds that each stage took (:data:`~trivium.evaluation.latency.STAGES`) and all of
        them together."""
        self._watch.start()
        try:
            self.search(question, k, retrievers, fusion, exact=exact)
        finally:
            laps = self._watch.stop()
        return laps

    def apart(self, question: str, chunks: Sequence[str], fusion: str, exact: bool = False) -> Apart:
        """Take the scores apart that a fusion gives to ``chunks``, with all retrievers asked; chunks that none returned
        are left out. Raises FusionError for an unknown fusion."""
        fuse = self._fusion(fusion)
        table = gather(self._query(question, exact), self._retrievers, signals=fuse.needs_signals)
        fused = fuse.fuse(table)
        places = {uri: place for place, uri in enumerate(table.chunks)}
        asked = [uri for uri in dict.fromkeys(chunks) if uri in places]
        rows = [places[uri] for uri in asked]
        shares = fused.explain(rows).tolist()
        return Apart(
            {uri: float(fused.scores[row]) for uri, row in zip(asked, rows, strict=True)},
            {uri: dict(zip(table.columns, own, strict=True)) for uri, own in zip(asked, shares, strict=True)},
        )

    def _fusion(self, name: str) -> Fusion:
        fusion = super()._fusion(name)
        self._watch.lap("fuse")  # reading a trained one
        return _WatchedFusion(fusion, self._watch)

    def _query(self, text: str, exact: bool) -> Query:
        query = super()._query(text, exact)
        self._watch.lap("embed")
        return query

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
        self._watch.lap()  # putting in order belongs to what came before
        hits = super()._hits(store, scores, contributions, provenance, baseline, log_odds=log_odds)
        self._watch.lap("fetch")
        return hits
