"""What one question knows of chunks, fetched once for each: counts of its terms, and similarity to its vector.

Similarity is a chunk's own cosine averaged with that of its closest sentence: the vector of a paragraph blurs what a
single sentence says. The mean of both ranks better than either (experiments/fusion, "What made the difference").
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from trivium.common.arrays import expand_ranges
from trivium.graph.protocols import TextSearch, VectorReader
from trivium.graph.records import Floats, SentenceVectors, TermCounts, Vectors
from trivium.native.loops import loops


class KnownCounts:
    """Counts of the terms of one question, cached per chunk because lists of candidates overlap. Thread-safe."""

    def __init__(self, store: TextSearch, terms: Sequence[str]) -> None:
        self._store = store
        self._terms = terms
        self._lock = threading.Lock()
        self._rows: dict[str, int] = {}
        self._counts: TermCounts | None = None

    def of(self, chunks: Sequence[str]) -> TermCounts:
        """Return the counts of these chunks, in their order."""
        with self._lock:
            new = [uri for uri in dict.fromkeys(chunks) if uri not in self._rows]
            if new or self._counts is None:
                found = self._store.term_counts(new, self._terms)
                self._counts = found if self._counts is None else joined(self._counts, found)
                self._rows.update(zip(new, range(len(self._rows), len(self._rows) + len(new)), strict=True))
            return taken(self._counts, [self._rows[uri] for uri in chunks])


def joined(first: TermCounts, second: TermCounts) -> TermCounts:
    """Concatenate the counts of two groups of chunks."""
    later = second.places.copy()
    later[:, 0] += len(first.text)
    return TermCounts(
        text=np.concatenate([first.text, second.text]),
        headings=np.concatenate([first.headings, second.headings]),
        text_length=np.concatenate([first.text_length, second.text_length]),
        headings_length=np.concatenate([first.headings_length, second.headings_length]),
        places=np.concatenate([first.places, later]),
    )


def taken(counts: TermCounts, rows: Sequence[int]) -> TermCounts:
    """Select the counts of some chunks, in the order of ``rows``."""
    own = np.array(rows, dtype=np.int64)
    owners = counts.places[:, 0]
    starts = owners.searchsorted(own)
    numbers, chosen = expand_ranges(starts, owners.searchsorted(own, side="right") - starts)
    places = counts.places[chosen]
    places[:, 0] = numbers
    return TermCounts(
        counts.text[own],
        counts.headings[own],
        counts.text_length[own],
        counts.headings_length[own],
        places,
    )


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
    best = np.full(len(sentences.starts) - 1, np.nan)
    loops.best_codes(sentences.codes, sentences.starts, vector.astype(np.float64), best)
    return np.clip(best, -1.0, 1.0, out=best)


def closeness(chunk: Floats, sentence: Floats) -> Floats:
    """Return the mean of the cosines of chunks (n,) and of their best sentences (n,). Falls back to the chunk's
    cosine where sentences are unknown; NaN where the chunk's cosine is NaN.

    >>> closeness(np.array([0.5, 0.5, np.nan]), np.array([0.7, np.nan, 0.7])).tolist()
    [0.6, 0.5, nan]
    """
    return np.where(np.isnan(sentence), chunk, (chunk + sentence) / 2)
