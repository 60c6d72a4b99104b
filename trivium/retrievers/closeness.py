"""How close a chunk is to a question: as a whole, and by the sentence of it that is closest.

One vector for a paragraph blurs what a single sentence of it says. The mean of both cosines ranks better than either
(experiments/fusion, "What made the difference").
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from trivium.graph.protocols import VectorReader
from trivium.graph.records import Floats, SentenceVectors, Vectors


class KnownSentences:
    """Cosines of one question with the sentences of chunks. Lists of candidates overlap, and the store is asked about new
    chunks only. Any number of threads may use it."""

    def __init__(self, store: VectorReader, vector: Vectors) -> None:
        self._store = store
        self._vector = vector
        self._lock = threading.Lock()
        self._best: dict[str, float] = {}

    def best(self, chunks: Sequence[str]) -> Floats:
        """The highest of each chunk (n,), NaN where it has no sentence vectors."""
        with self._lock:
            new = [uri for uri in dict.fromkeys(chunks) if uri not in self._best]
            if new:
                found = best_sentence(self._store.sentence_vectors(new), self._vector)
                self._best.update(zip(new, found.tolist(), strict=True))
            return np.array([self._best[uri] for uri in chunks], dtype=np.float64)


def best_sentence(sentences: SentenceVectors, vector: Vectors) -> Floats:
    """The highest cosine of a unit vector (d,) with the sentences of each chunk (n,), NaN without any. In double
    precision, like the cosine of the chunk that it is averaged with."""
    from trivium.common.row_sums import best_codes  # loads numba, see trivium.common.compiled

    best = np.full(len(sentences.starts) - 1, np.nan)
    best_codes(sentences.codes, sentences.starts, vector.astype(np.float64), best)
    return np.clip(best, -1.0, 1.0, out=best)


def closeness(chunk: Floats, sentence: Floats) -> Floats:
    """The mean of the cosines of chunks (n,) and of their best sentences (n,); that of the chunk alone where its
    sentences are unknown, NaN where its own is.

    >>> closeness(np.array([0.5, 0.5, np.nan]), np.array([0.7, np.nan, 0.7])).tolist()
    [0.6, 0.5, nan]
    """
    return np.where(np.isnan(sentence), chunk, (chunk + sentence) / 2)
