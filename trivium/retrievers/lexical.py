"""lexical: do the words match?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from trivium.common.arrays import Floats
from trivium.retrievers.bm25 import BM25Settings, bm25
from trivium.retrievers.query import Candidate, Query, best_rows, check_counts, check_depth


@dataclass(frozen=True, slots=True)
class LexicalSettings:
    """``chunks``: number of results when no depth is given. ``candidates``: number of chunks proposed by the store's
    keyword index. Its scores are not used, so that all stores rank alike.
    """

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
        found = query.store.keyword_search(query.terms, max(count, self.settings.candidates))
        scores = self.score(query, found)
        best = best_rows(scores, found, count)
        return [Candidate(found[row], float(scores[row])) for row in best]

    def score(self, query: Query, chunks: Sequence[str]) -> Floats:
        if not query.terms:
            return np.zeros(len(chunks))
        return bm25(query.term_counts(chunks), query.term_statistics, self.settings.bm25)
