"""Where the terms of a question occur in chunks, and the scores by which keyword indexes propose passages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Integers
from trivium.graph.records import Floats, TermCounts, TermStatistics
from trivium.native.loops import loops


def count_terms(texts: Sequence[str], headings: Sequence[str], terms: Sequence[str]) -> TermCounts:
    """How often and where terms occur in chunks, given as the terms of their texts and of their headings with one
    space between two.

    >>> counts = count_terms(["red red planet", "moon"], ["planet", "red"], ["moon", "red"])
    >>> counts.text.tolist(), counts.headings.tolist(), counts.places.tolist()
    ([[0.0, 2.0], [1.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]], [[0, 1, 0], [0, 1, 1], [1, 0, 0]])
    """
    numbers = {term: number for number, term in enumerate(dict.fromkeys(terms))}
    words = " ".join(chain.from_iterable(zip(headings, texts, strict=True))).split()
    lengths = np.array(
        [(_length(text), _length(above)) for text, above in zip(texts, headings, strict=True)], dtype=np.int64
    ).reshape(-1, 2)
    sizes = lengths.sum(axis=1)
    return count_numbers(
        np.fromiter(map(numbers.get, words, repeat(-1)), dtype=np.int32, count=len(words)),
        np.cumsum(sizes) - sizes,
        lengths,
        np.array([numbers[term] for term in terms], dtype=np.int64),
    )


def count_numbers(
    words: NDArray[np.int32], starts: Integers, lengths: Integers, terms: Integers
) -> TermCounts:
    """How often and where terms (t,) occur, known by their numbers; a number below 0 is a term that occurs nowhere.

    ``words[starts[i]:]`` are the terms of chunk i (n), first the headings', then the text's; ``lengths`` (n x 2) are how
    many text and headings have. Raises IndexError where there are not so many."""
    # Words may be unknown, too, and are not for that the same.
    asked = np.where(terms < 0, np.iinfo(np.int64).min, terms.astype(np.int64))
    text, headings = (np.zeros((len(starts), len(terms))) for _ in range(2))
    words, starts = np.ascontiguousarray(words), np.ascontiguousarray(starts, np.int64)
    lengths = np.ascontiguousarray(lengths, np.int64)
    found = loops.count_terms(words, starts, lengths, asked, text, headings)
    if found < 0:
        raise IndexError(f"expected the {int(lengths.sum()):,} terms of {len(starts):,} chunks")
    places = np.empty((found, 3), dtype=np.int64)
    loops.locate_terms(words, starts, lengths, asked, places)
    return TermCounts(
        text=text,
        headings=headings,
        text_length=lengths[:, 0].astype(np.float64),
        headings_length=lengths[:, 1].astype(np.float64),
        places=places,
    )


def _length(terms: str) -> int:
    return terms.count(" ") + 1 if terms else 0


_K1, _B = 1.2, 0.75
"""The constants of tantivy's BM25."""


def keyword_scores(counts: TermCounts, statistics: TermStatistics) -> Floats:
    """Return the scores of chunks (n,), 0 where no term occurs. The columns of ``counts`` are the terms of
    ``statistics.document_frequency``, distinct.
    """
    in_chunks = statistics.document_frequency
    idf = np.log1p((statistics.chunks - in_chunks + 0.5) / (in_chunks + 0.5))
    often = counts.text + counts.headings
    norm = 1 - _B + _B * (counts.text_length + counts.headings_length) / max(statistics.mean_length, 1e-9)
    scores: Floats = (idf * often * (_K1 + 1) / (often + _K1 * norm[:, None])).sum(axis=1)
    return scores
