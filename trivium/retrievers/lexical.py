"""lexical: do the words match?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from trivium.graph.store import Floats
from trivium.retrievers.base import Candidate, Query, best_rows, check_counts, check_depth
from trivium.retrievers.bm25 import BM25Settings, bm25


@dataclass(frozen=True, slots=True)
class LexicalSettings:
    """``chunks``: how many are returned when no depth is asked for. ``candidates``: how many the store's word
    index proposes; its own scores are not used, so that all stores rank alike."""

    chunks: int = 10
    candidates: int = 64
    bm25: BM25Settings = field(default_factory=BM25Settings)

    def __post_init__(self) -> None:
        check_counts("lexical", chunks=self.chunks, candidates=self.candidates)


@dataclass(frozen=True, eq=False)
class LexicalRetriever:
    """Chunks that share stemmed words with the question, in headings or text. Score: BM25, >= 0."""

    name: ClassVar[str] = "lexical"
    settings: LexicalSettings = field(default_factory=LexicalSettings)

    def retrieve(self, query: Query, depth: int | None = None) -> list[Candidate]:
        check_depth(depth)
        if not query.terms:
            return []
        count = self.settings.chunks if depth is None else depth
        found = query.store.words(query.terms, max(count, self.settings.candidates))
        scores = self.score(query, found)
        best = best_rows(scores, found, count)
        return [Candidate(found[row], float(scores[row])) for row in best]

    def score(self, query: Query, chunks: Sequence[str]) -> Floats:
        if not query.terms:
            return np.zeros(len(chunks))
        known = self._known(query)
        new = [uri for uri in dict.fromkeys(chunks) if uri not in known]
        if new:
            statistics = query.remember("term_statistics", lambda: query.store.term_statistics(query.terms))
            counts = query.store.term_counts(new, query.terms)
            known.update(zip(new, bm25(counts, statistics, self.settings.bm25).tolist(), strict=True))
        return np.array([known[uri] for uri in chunks], dtype=np.float64)

    def _known(self, query: Query) -> dict[str, float]:
        """Scores worked out so far: most of what fusion asks about was a candidate before."""
        return query.remember(self, dict)
