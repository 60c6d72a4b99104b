"""TF-IDF, as classic full-text engines score: beside BM25, for comparison.

    score = sum over the question's distinct terms of  sqrt(tf) * idf^2 / sqrt(length)
    idf   = 1 + ln(N / (df + 1))

over the fields headings + text taken together: ``tf`` adds both counts and ``length`` both lengths. It is what Lucene
calls its classic similarity. Unlike BM25, repeats never stop counting, and long chunks are held back more.
"""

from __future__ import annotations

import numpy as np

from trivium.common.dots import dots
from trivium.graph.records import Floats, TermCounts, TermStatistics


def tfidf(counts: TermCounts, statistics: TermStatistics) -> Floats:
    """Scores (n,), 0 where no term occurs, of the n chunks counted. The columns of ``counts`` and the entries of
    ``statistics.document_frequency`` are the same terms in the same order.

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
    """Inverse document frequency of terms (t,) that occur in so many of all ``chunks``, > 0 but in tiny corpora."""
    inverse: Floats = 1 + np.log(max(chunks, 1) / (document_frequency + 1))
    return inverse
