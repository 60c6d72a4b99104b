"""TF-IDF as in classic full-text engines, for comparison with BM25.

    score = sum over the question's distinct terms of  sqrt(tf) * idf^2 / sqrt(length)
    idf   = 1 + ln(N / (df + 1))

Headings and text count as one field: ``tf`` adds both counts and ``length`` both lengths. This is Lucene's
ClassicSimilarity. Unlike BM25 it does not saturate, and it penalises long chunks more.
"""

from __future__ import annotations

import numpy as np

from trivium.common.dots import dots
from trivium.graph.records import Floats, TermCounts, TermStatistics


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
