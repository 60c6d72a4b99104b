"""An engine that says how long its parts take, and can be set upon another view of its store."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from trivium.engine import Engine
from trivium.fusion.base import Fused
from trivium.fusion.table import Table
from trivium.graph.factory import open_store
from trivium.graph.store import Floats, GraphStore
from trivium.retrievers.base import Candidate, Query, Retriever
from trivium.search.candidates import DEPTH, gather
from trivium.search.fused import fuse_candidates

Observe = Callable[[str, float], None]
"""Called with a stage of a search and the seconds it took."""


@dataclass(frozen=True, slots=True)
class _TimedRetriever:
    inner: Retriever
    observe: Observe

    @property
    def name(self) -> str:
        return self.inner.name

    def retrieve(self, query: Query, depth: int | None = None) -> list[Candidate]:
        started = time.perf_counter()
        found = self.inner.retrieve(query, depth)
        self.observe(self.inner.name, time.perf_counter() - started)
        return found

    def score(self, query: Query, chunks: Sequence[str]) -> Floats:
        return self.inner.score(query, chunks)


@dataclass(frozen=True, slots=True)
class Judged:
    """The candidates of a question and what a fusion made of them; None where one view was asked by itself."""

    query: Query
    table: Table
    fused: Fused | None
    log_odds: bool


class ServingEngine(Engine):
    """An engine for many threads: it answers as :class:`~trivium.engine.Engine` does."""

    def __init__(self, store: GraphStore, observe: Observe | None = None) -> None:
        super().__init__(store)
        self._observe: Observe = observe if observe is not None else lambda _, __: None
        self._retrievers = {
            name: _TimedRetriever(retriever, self._observe) for name, retriever in self._retrievers.items()
        }

    @classmethod
    def serving(cls, store: str | Path, observe: Observe | None = None) -> Self:
        """On an existing store; raises what :meth:`~trivium.engine.Engine.open` raises."""
        opened = open_store(store)
        try:
            return cls(opened, observe)
        except BaseException:
            opened.close()
            raise

    def upon(self, store: GraphStore) -> Self:
        """The same engine on another view of its store. They share the embedder, so only one of them may be closed."""
        other = copy.copy(self)
        other.store = store
        other._fusions = {}  # which one is the default may have been decided anew
        if store.embedder is not None:
            other._embedder = self.embedder
        return other

    def judge(self, question: str, k: int, retrievers: Sequence[str] | None, fusion: str | None) -> Judged:
        """The candidates that a search with the same arguments ranks, with every view's scores of them."""
        asked = self._named(retrievers)
        query = self._query(question, exact=False)
        if len(asked) == 1 and fusion is None:
            return Judged(query, gather(query, asked, max(DEPTH, k)), None, False)
        fuse = self._made(self._suitable("default" if fusion is None else fusion, asked))
        return Judged(query, *fuse_candidates(query, asked, fuse, k), fuse.log_odds)

    def _query(self, text: str, exact: bool) -> Query:
        started = time.perf_counter()
        query = super()._query(text, exact)
        self._observe("embed", time.perf_counter() - started)
        return query
