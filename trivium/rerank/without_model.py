"""Rerankers that need no model: their scores are made of those that retrievers give the candidates, or of the words of
the candidates.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from trivium.common.arrays import dots
from trivium.errors import ConfigurationError
from trivium.rerank.reranker import Deadline, RerankCandidate
from trivium.retrievers.lexical import smooth_idf
from trivium.retrievers.passage_graph import word_vectors
from trivium.text.normalise import main_terms

LEXICAL = "lexical"
"""The retriever that computes BM25. Document frequencies are those of the entire store, not of the candidates."""
VECTOR = "vector"
DIFFUSION = "diffusion"
"""The retriever that computes centrality, here among the candidates."""
DEFAULT_WEIGHT = 0.5


class _OfRetriever:
    """Score: that of the only retriever among the ``views``; 0 where it has none."""

    __slots__ = ()
    views: ClassVar[tuple[str, ...]]

    def rerank(
        self,
        question: str,  # noqa: ARG002 - the retriever has seen it
        candidates: Sequence[RerankCandidate],
        deadline: Deadline,  # noqa: ARG002 - there is nothing to wait for
    ) -> list[float]:
        scores = [candidate.views[self.views[0]] for candidate in candidates]
        return [0.0 if math.isnan(score) else score for score in scores]


@dataclass(frozen=True, slots=True)
class Bm25Reranker(_OfRetriever):
    """Score: BM25 as computed by the retriever ``lexical``, >= 0; 0 if no word is shared."""

    name: ClassVar[str] = "bm25"
    views: ClassVar[tuple[str, ...]] = (LEXICAL,)
    independent: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class DiffusionReranker(_OfRetriever):
    """Score: stationary probability of a random walk among the candidates that restarts at those the search prefers, as
    computed by the retriever ``diffusion`` with its settings; they sum to 1.
    """

    name: ClassVar[str] = "diffusion"
    views: ClassVar[tuple[str, ...]] = (DIFFUSION,)
    independent: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class TfidfReranker:
    """Score in [0, 1]: cosine of the TF-IDF vectors of question and passage with its headings (stemmed words, counts
    times inverse document frequency), frequencies being those of the candidates.
    """

    name: ClassVar[str] = "tfidf"
    views: ClassVar[tuple[str, ...]] = ()
    independent: ClassVar[bool] = False

    def rerank(
        self,
        question: str,
        candidates: Sequence[RerankCandidate],
        deadline: Deadline,  # noqa: ARG002 - there is nothing to wait for
    ) -> list[float]:
        asked = main_terms(question)
        texts = [main_terms(candidate.full_text) for candidate in candidates]
        found = Counter(term for text in texts for term in set(text))
        known = sorted({*asked, *found})
        inverse = smooth_idf(len(texts), np.array([found[term] for term in known], dtype=np.float64))
        vectors = word_vectors([asked, *texts], dict(zip(known, inverse.tolist(), strict=True)))
        cosines: list[float] = dots(vectors[1:], vectors[0]).tolist()
        return cosines


@dataclass(frozen=True, slots=True)
class WeightedReranker:
    """Score in [0, 1]: ``weight`` times the vector score plus ``1 - weight`` times BM25, each min-max scaled over the
    candidates. Weight 1 ignores the words, weight 0 the vectors.
    """

    weight: float = DEFAULT_WEIGHT
    views: ClassVar[tuple[str, ...]] = (VECTOR, LEXICAL)
    independent: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 <= self.weight <= 1:
            raise ConfigurationError(f"weighted: expected a weight from 0 to 1, got {self.weight:g}")

    @property
    def name(self) -> str:
        """``weighted:0.5``."""
        return f"weighted:{self.weight:g}"

    def rerank(
        self,
        question: str,  # noqa: ARG002 - the retrievers have seen it
        candidates: Sequence[RerankCandidate],
        deadline: Deadline,  # noqa: ARG002 - there is nothing to wait for
    ) -> list[float]:
        dense = scaled([candidate.views[VECTOR] for candidate in candidates])
        sparse = scaled([candidate.views[LEXICAL] for candidate in candidates])
        return [
            self.weight * close + (1 - self.weight) * match
            for close, match in zip(dense, sparse, strict=True)
        ]


PLAIN: Mapping[str, type[Bm25Reranker | TfidfReranker | DiffusionReranker]] = {
    one.name: one for one in (Bm25Reranker, TfidfReranker, DiffusionReranker)
}
"""Those without parameters, by name."""


def scaled(scores: Sequence[float]) -> list[float]:
    """Min-max scale scores to [0, 1]. NaN becomes 0, and so do all scores if they are equal.

    >>> scaled([2.0, 4.0, 3.0]), scaled([7.0, 7.0]), scaled([1.0, float("nan"), 2.0])
    ([0.0, 1.0, 0.5], [0.0, 0.0], [0.0, 0.0, 1.0])
    """
    known = [score for score in scores if not math.isnan(score)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    if not high > low:
        return [0.0] * len(scores)
    return [0.0 if math.isnan(score) else (score - low) / (high - low) for score in scores]
