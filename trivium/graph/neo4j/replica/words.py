"""In-memory search terms of all chunks: counts, corpus statistics, and candidates of a keyword search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trivium.graph.arrays.columns import Rows
from trivium.graph.nearness import below, best
from trivium.graph.neo4j.keywords import MAX_CLAUSES
from trivium.graph.occurrences import count_numbers
from trivium.graph.records import Floats, TermCounts

_K1, _B = 1.2, 0.75
"""The constants of the server's BM25."""
_EXACT_LENGTHS = 24
"""The server stores lengths below this exactly, and four binary digits of the excess of longer ones."""
_DIGITS = 4


class Vocabulary(dict[str, int]):
    """Maps terms to numbers. Unknown terms get the next number."""

    def __missing__(self, term: str) -> int:
        self[term] = number = len(self)
        return number

    def number(self, terms: str) -> NDArray[np.int32]:
        """Return the numbers of terms separated by white space."""
        return np.array([*map(self.__getitem__, terms.split())], dtype=np.int32)


@dataclass(frozen=True, slots=True)
class Words:
    """The terms of all chunks. ``numbers`` lists their numbers in ``vocabulary`` chunk by chunk: first those of the
    headings, then those of the text. Those of chunk i begin at ``starts[i]``; ``lengths`` (n, 2) are the numbers of
    terms of text and headings. The chunks that contain term t are ``chunks[first[t]:first[t + 1]]``, ascending, with
    frequencies ``often``; ``held_back`` (n,) is the length normalisation of each chunk in the server's BM25.
    """

    vocabulary: Vocabulary
    numbers: NDArray[np.int32]
    starts: Rows
    lengths: Rows
    first: Rows
    chunks: NDArray[np.int32]
    often: NDArray[np.int32]
    held_back: Floats

    @classmethod
    def of(cls, vocabulary: Vocabulary, chunks: Sequence[tuple[NDArray[np.int32], int]]) -> Words:
        """Build it from the term numbers of each chunk, and how many of them, at the beginning, belong to its
        headings.
        """
        numbers = np.concatenate([np.empty(0, dtype=np.int32), *(own for own, _ in chunks)])
        lengths = [(len(own) - headings, headings) for own, headings in chunks]
        return cls.of_numbers(vocabulary, numbers, np.array(lengths, dtype=np.int64).reshape(-1, 2))

    @classmethod
    def of_numbers(cls, vocabulary: Vocabulary, numbers: NDArray[np.int32], sizes: Rows) -> Words:
        """Build it from the term numbers of all chunks, one chunk after the other, and their ``lengths``."""
        totals = sizes.sum(axis=1)
        count = max(1, len(sizes))
        # Encode (term, chunk) as one number: sorting these is many times faster than sorting pairs.
        pairs, often = np.unique(
            numbers.astype(np.int64) * count + np.repeat(np.arange(len(sizes)), totals), return_counts=True
        )
        term, chunk = np.divmod(pairs, count)
        mean = max(1.0, len(numbers) / count)
        held_back: Floats = _K1 * (1 - _B + _B * rounded_lengths(totals).astype(np.float64) / mean)
        first = np.searchsorted(term, np.arange(len(vocabulary) + 1))
        return cls(
            vocabulary,
            numbers,
            np.cumsum(totals) - totals,
            sizes,
            first,
            chunk.astype(np.int32),
            often.astype(np.int32),
            held_back,
        )

    def counts(self, rows: Rows, terms: Sequence[str]) -> TermCounts:
        """Return how often and where terms occur in chunks by row (n,); counts of row -1 are 0."""
        starts, lengths = np.zeros(len(rows), dtype=np.int64), np.zeros((len(rows), 2), dtype=np.int64)
        known = rows >= 0
        starts[known], lengths[known] = self.starts[rows[known]], self.lengths[rows[known]]
        return count_numbers(self.numbers, starts, lengths, self._numbered(terms))

    def frequencies(self, terms: Sequence[str]) -> Rows:
        """Return the document frequency of each term (t,)."""
        numbers = self._numbered(terms)
        return np.where(numbers < 0, 0, self.first[numbers + 1] - self.first[numbers])

    def search(self, terms: Sequence[str], k: int) -> Rows:
        """Return the rows of the k best chunks that contain some of the terms, best first, by the BM25 of the
        server's index.
        """
        asked = [term for term in dict.fromkeys(terms) if term.split() == [term]][:MAX_CLAUSES]
        frequencies = self.frequencies(asked)
        known = frequencies > 0
        if k <= 0 or not known.any():
            return np.empty(0, dtype=np.int64)
        from trivium.graph.neo4j.replica.word_loops import BLOCK, chunks_reaching, score_chunks  # loads numba

        frequency = frequencies[known]
        rarity = np.log1p((len(self.starts) - frequency + 0.5) / (frequency + 0.5))
        scores, highest = np.zeros(len(self.starts)), np.empty(-(-len(self.starts) // BLOCK))
        numbers = self._numbered(asked)[known]
        score_chunks(numbers, rarity, self.first, self.chunks, self.often, self.held_back, scores, highest)
        # The k highest of all are not below the k highest of blocks.
        least = float(np.finfo(np.float64).tiny)
        if k < len(highest):
            least = max(least, below(float(np.partition(highest, len(highest) - k)[len(highest) - k])))
        found = chunks_reaching(scores, highest, least)
        return best(found, scores[found], k)[0]

    def _numbered(self, terms: Sequence[str]) -> Rows:
        return np.array([self.vocabulary.get(term, -1) for term in terms], dtype=np.int64)


def rounded_lengths(lengths: Rows) -> Rows:
    """Round lengths as the server's index does when encoding them in a byte.

    >>> rounded_lengths(np.array([7, 24, 39, 40, 41, 100, 1000])).tolist()
    [7, 24, 39, 40, 40, 96, 984]
    """
    more = np.maximum(lengths - _EXACT_LENGTHS, 0)
    digits = np.frexp(more.astype(np.float64))[1]  # binary digits
    shift = np.maximum(digits - _DIGITS, 0)
    return np.where(lengths < _EXACT_LENGTHS, lengths, _EXACT_LENGTHS + ((more >> shift) << shift))
