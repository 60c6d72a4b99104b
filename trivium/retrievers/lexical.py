"""lexical: do the words match? BM25 is computed in this module only, so that all stores rank words alike.

    score = sum over the question's distinct terms of  idf * tf (k1 + 1) / (tf + k1 norm)
    norm  = 1 - b + b length / mean length
    idf   = ln(1 + (N - df + 1/2) / (df + 1/2))

Headings and text count as one field: ``tf`` adds both counts and ``length`` both lengths. Source: Robertson and
Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond* (2009); the 1 inside the logarithm (as in Lucene)
keeps idf positive. The defaults of ``k1`` and ``b`` are lower than the usual ones, because passages are short:
repeated words and length carry little information (see docs/decisions).

TF-IDF is for comparison, as in Lucene's ClassicSimilarity. It does not saturate, and it penalises long chunks more.

    score = sum over the question's distinct terms of  sqrt(tf) * idf^2 / sqrt(length)
    idf   = 1 + ln(N / (df + 1))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from trivium.common.arrays import dots
from trivium.errors import ConfigurationError
from trivium.graph.records import Floats, TermCounts, TermStatistics
from trivium.retrievers.query import Candidate, Query, best_rows, check_counts, check_depth
from trivium.retrievers.setting_values import CONSTANT


@dataclass(frozen=True, slots=True)
class BM25Settings:
    """``k1`` >= 0 controls term frequency saturation, ``b`` in [0, 1] length normalisation."""

    k1: float = 0.9
    b: float = 0.4

    def __post_init__(self) -> None:
        if not 0 <= self.k1 < float("inf"):
            raise ConfigurationError(f"lexical.bm25.k1 must be at least 0 and finite, got {self.k1}")
        if not 0 <= self.b <= 1:
            raise ConfigurationError(f"lexical.bm25.b must be in [0, 1], got {self.b}")


def idf(statistics: TermStatistics) -> Floats:
    """Inverse document frequency of each term (t,), > 0.

    >>> idf(TermStatistics(chunks=3, mean_length=1.0, document_frequency=np.array([1.0]))).round(4).tolist()
    [0.9808]
    """
    frequency = statistics.document_frequency
    scores: Floats = np.log1p((statistics.chunks - frequency + 0.5) / (frequency + 0.5))
    return scores


def bm25(
    counts: TermCounts, statistics: TermStatistics, settings: BM25Settings, *, headings: bool = True
) -> Floats:
    """Return scores (n,) of the n chunks counted, 0 where no term occurs. The columns of ``counts`` and the entries
    of ``statistics.document_frequency`` are the same terms in the same order. ``headings`` False counts texts only.
    """
    frequency = counts.text + counts.headings if headings else counts.text
    if statistics.mean_length <= 0:  # a store without any words: nothing matches
        return np.zeros(frequency.shape[0])
    terms = counts.text_length + counts.headings_length if headings else counts.text_length
    length = terms / statistics.mean_length
    saturation = settings.k1 * (1 - settings.b + settings.b * length)[:, np.newaxis]
    # Skip absent terms: with k1 = 0 they would give 0 / 0.
    weight = np.divide(
        frequency * (settings.k1 + 1),
        frequency + saturation,
        out=np.zeros_like(frequency),
        where=frequency > 0,
    )
    return dots(weight, idf(statistics))


def tfidf(counts: TermCounts, statistics: TermStatistics) -> Floats:
    """Return scores (n,) of the n chunks counted, 0 where no term occurs. The columns of ``counts`` and the entries
    of ``statistics.document_frequency`` are the same terms in the same order.

    >>> counts = TermCounts(np.array([[4.0]]), np.array([[0.0]]), np.array([16.0]), np.array([0.0]), np.empty((0, 3)))
    >>> tfidf(counts, TermStatistics(chunks=2, mean_length=16.0, document_frequency=np.array([1.0]))).tolist()
    [0.5]
    """
    length = counts.text_length + counts.headings_length
    frequency = np.sqrt(counts.text + counts.headings)
    weight = np.divide(
        frequency,
        np.sqrt(length)[:, np.newaxis],
        out=np.zeros_like(frequency),
        where=length[:, np.newaxis] > 0,
    )
    return dots(weight, np.square(smooth_idf(statistics.chunks, statistics.document_frequency)))


def smooth_idf(chunks: int, document_frequency: Floats) -> Floats:
    """Return the inverse document frequencies (t,) of terms that occur in ``document_frequency`` of all ``chunks``.
    Positive except in tiny corpora.
    """
    inverse: Floats = 1 + np.log(max(chunks, 1) / (document_frequency + 1))
    return inverse


@dataclass(frozen=True, slots=True)
class LexicalSettings:
    """``chunks``: number of results when no depth is given. ``candidates``: number of chunks proposed by the store's
    keyword index. Its scores are not used, so that all stores rank alike.
    """

    chunks: int = 10
    candidates: int = field(default=64, metadata=CONSTANT)
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
