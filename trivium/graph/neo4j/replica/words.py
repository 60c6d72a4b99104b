"""Search terms of all chunks, in memory: counts, corpus statistics, and the candidates of a keyword search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trivium.graph.arrays import Rows
from trivium.graph.nearness import best
from trivium.graph.neo4j.keywords import MAX_CLAUSES
from trivium.graph.occurrences import count_numbers
from trivium.graph.records import Floats, TermCounts

_K1, _B = 1.2, 0.75
"""Of the server's BM25."""
_EXACT_LENGTHS = 24
"""The server keeps lengths below this as they are, and of longer ones four digits of what exceeds it."""
_DIGITS = 4


class Vocabulary(dict[str, int]):
    """Terms by number. One that is looked up for the first time gets the next."""

    def __missing__(self, term: str) -> int:
        self[term] = number = len(self)
        return number

    def number(self, terms: str) -> NDArray[np.int32]:
        """The numbers of terms separated by white space."""
        return np.array([*map(self.__getitem__, terms.split())], dtype=np.int32)


@dataclass(frozen=True, slots=True)
class Words:
    """``numbers`` are the terms of one chunk after another, by number in ``vocabulary``: first the headings', then the
    text's. Those of chunk i begin at ``starts[i]``; ``lengths`` (n x 2) are how many text and headings have. The chunks
    that have term t are ``chunks[first[t]:first[t + 1]]``, rising, as often as ``often`` says; ``held_back`` (n,) is how
    much the length of each chunk holds it back in the server's BM25."""

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
        """From the terms of each chunk, by number, and how many of them, at the beginning, are of its headings."""
        numbers = np.concatenate([np.empty(0, dtype=np.int32), *(own for own, _ in chunks)])
        lengths = [(len(own) - headings, headings) for own, headings in chunks]
        sizes = np.array(lengths, dtype=np.int64).reshape(-1, 2)
        totals = sizes.sum(axis=1)
        count = max(1, len(sizes))
        # A pair of term and chunk as one number: these are sorted many times as fast as pairs.
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
        """How often and where terms occur in chunks by their rows (n,); nothing occurs in -1."""
        starts, lengths = np.zeros(len(rows), dtype=np.int64), np.zeros((len(rows), 2), dtype=np.int64)
        known = rows >= 0
        starts[known], lengths[known] = self.starts[rows[known]], self.lengths[rows[known]]
        return count_numbers(self.numbers, starts, lengths, self._numbered(terms))

    def frequencies(self, terms: Sequence[str]) -> Rows:
        """In how many chunks each term (t,) occurs."""
        numbers = self._numbered(terms)
        return np.where(numbers < 0, 0, self.first[numbers + 1] - self.first[numbers])

    def search(self, terms: Sequence[str], k: int) -> Rows:
        """Rows of the k best chunks that have some of the terms, best first, by the BM25 of the server's index."""
        asked = [term for term in dict.fromkeys(terms) if term.split() == [term]][:MAX_CLAUSES]
        scores = np.zeros(len(self.starts))
        if not asked or k <= 0 or not len(self.numbers):
            return np.empty(0, dtype=np.int64)
        for number, frequency in zip(
            self._numbered(asked).tolist(), self.frequencies(asked).tolist(), strict=True
        ):
            if frequency:
                place = slice(self.first[number], self.first[number + 1])
                chunks, often = self.chunks[place], self.often[place]
                rarity = np.log1p((len(self.starts) - frequency + 0.5) / (frequency + 0.5))
                scores[chunks] += rarity * often / (often + self.held_back[chunks])
        found = np.flatnonzero(scores)
        return best(found, scores[found], k)[0]

    def _numbered(self, terms: Sequence[str]) -> Rows:
        return np.array([self.vocabulary.get(term, -1) for term in terms], dtype=np.int64)


def rounded_lengths(lengths: Rows) -> Rows:
    """Lengths as the server's index remembers them, in a byte.

    >>> rounded_lengths(np.array([7, 24, 39, 40, 41, 100, 1000])).tolist()
    [7, 24, 39, 40, 40, 96, 984]
    """
    more = np.maximum(lengths - _EXACT_LENGTHS, 0)
    digits = np.frexp(more.astype(np.float64))[1]  # of its binary form
    shift = np.maximum(digits - _DIGITS, 0)
    return np.where(lengths < _EXACT_LENGTHS, lengths, _EXACT_LENGTHS + ((more >> shift) << shift))
