"""The ranking that a diffusion starts from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from trivium.common.arrays import Floats
from trivium.retrievers.base import Query, best_rows
from trivium.retrievers.lexical import LexicalRetriever
from trivium.retrievers.tfidf import tfidf

FirstStage = Literal["vector", "bm25", "tfidf"]
"""How the initial passages are ranked: by closeness to the question (like the retriever ``vector``), BM25 (like
``lexical``), or TF-IDF (:mod:`trivium.retrievers.tfidf`).
"""

_PROPOSED = 4
"""For TF-IDF, the keyword index proposes this multiple of the requested passages (by its BM25)."""


@dataclass(frozen=True, slots=True)
class RankedList:
    """Passages, best first, with their scores (n,)."""

    uris: list[str]
    scores: Floats


def first_stage(query: Query, name: FirstStage, chunks: int) -> RankedList:
    """Return the best ``chunks`` passages of a first stage."""
    if name == "vector":
        near = query.closest_chunks(chunks)
        return RankedList([one.uri for one in near], np.array([one.score for one in near]))
    if name == "bm25":
        found = LexicalRetriever().retrieve(query, chunks)
        return RankedList([one.uri for one in found], np.array([one.score for one in found]))
    proposed = query.store.keyword_search(query.terms, _PROPOSED * chunks) if query.terms else []
    if not proposed:
        return RankedList([], np.empty(0))
    scores = tfidf(query.term_counts(proposed), query.term_statistics)
    rows = best_rows(scores, proposed, chunks)
    return RankedList([proposed[row] for row in rows], scores[rows])
