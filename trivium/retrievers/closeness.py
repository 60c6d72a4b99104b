"""Similarity of a chunk to a question: its own cosine averaged with that of its closest sentence.

The vector of a paragraph blurs what a single sentence says. The mean of both cosines ranks better than either
(experiments/fusion, "What made the difference").
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from trivium.graph.protocols import VectorReader
from trivium.graph.records import Floats, SentenceVectors, Vectors


class KnownSentences:
    """Cosines of one question with the sentences of chunks, cached per chunk because lists of candidates overlap.
    Thread-safe.
    """

    def __init__(self, store: VectorReader, vector: Vectors) -> None:
        self._store = store
        self._vector = vector
        self._lock = threading.Lock()
        self._best: dict[str, float] = {}

    def best(self, chunks: Sequence[str]) -> Floats:
        """Return the highest sentence cosine of each chunk (n,), NaN for chunks without sentence vectors."""
        with self._lock:
            new = [uri for uri in dict.fromkeys(chunks) if uri not in self._best]
            if new:
                found = best_sentence(self._store.sentence_vectors(new), self._vector)
                self._best.update(zip(new, found.tolist(), strict=True))
            return np.array([self._best[uri] for uri in chunks], dtype=np.float64)


def best_sentence(sentences: SentenceVectors, vector: Vectors) -> Floats:
    """Return the highest cosine of a unit vector (d,) with the sentences of each chunk (n,), NaN for chunks without
    sentences. Computed in double precision, like the chunk cosine it is averaged with.
    """
    from trivium.common.row_sums import best_codes  # loads numba, see trivium.common.compiled

    best = np.full(len(sentences.starts) - 1, np.nan)
    best_codes(sentences.codes, sentences.starts, vector.astype(np.float64), best)
    return np.clip(best, -1.0, 1.0, out=best)


def closeness(chunk: Floats, sentence: Floats) -> Floats:
    """Return the mean of the cosines of chunks (n,) and of their best sentences (n,). Falls back to the chunk's
    cosine where sentences are unknown; NaN where the chunk's cosine is NaN.

    >>> closeness(np.array([0.5, 0.5, np.nan]), np.array([0.7, np.nan, 0.7])).tolist()
    [0.6, 0.5, nan]
    """
    return np.where(np.isnan(sentence), chunk, (chunk + sentence) / 2)
