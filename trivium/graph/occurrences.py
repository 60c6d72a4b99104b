"""Where the terms of a question occur in chunks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Integers
from trivium.graph.records import TermCounts


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
    return count_numbers(
        np.fromiter(map(numbers.get, words, repeat(-1)), dtype=np.int64, count=len(words)),
        np.repeat(np.arange(len(texts)), lengths.sum(axis=1)),
        lengths,
        np.array([numbers[term] for term in terms], dtype=np.int64),
        len(numbers),
    )


def count_numbers(
    words: NDArray[np.integer], chunk: Integers, lengths: Integers, terms: Integers, known: int
) -> TermCounts:
    """How often and where terms (t,) occur, known by their numbers below ``known``; -1 is a term that occurs nowhere.

    ``words`` (w,) are the terms of the chunks (n) one after the other, of each first the headings', then the text's;
    ``chunk`` (w,) is which chunk each is of, ``lengths`` (n x 2) are how many text and headings have."""
    column = np.full(known + 1, -1, dtype=np.int64)
    column[terms[::-1]] = np.arange(len(terms))[::-1]  # of a term given twice, the first
    column[-1] = -1
    term = column[words]
    found = np.flatnonzero(term >= 0)
    term, row = term[found], chunk[found]
    sizes = lengths.sum(axis=1)
    position = found - (np.cumsum(sizes) - sizes + lengths[:, 1])[row]
    in_text = position >= 0
    columns = column[terms]
    return TermCounts(
        text=_counted(row[in_text], term[in_text], len(lengths), columns),
        headings=_counted(row[~in_text], term[~in_text], len(lengths), columns),
        text_length=lengths[:, 0].astype(np.float64),
        headings_length=lengths[:, 1].astype(np.float64),
        places=np.stack([row[in_text], term[in_text], position[in_text]], axis=1),
    )


def _length(terms: str) -> int:
    return terms.count(" ") + 1 if terms else 0


def _counted(rows: Integers, terms: Integers, chunks: int, columns: Integers) -> NDArray[np.float64]:
    """Number of occurrences (row, term) as a matrix (chunks x columns); none in column -1."""
    width = len(columns) + 1
    counts = np.bincount(rows * width + terms, minlength=chunks * width).astype(np.float64)
    return counts.reshape(chunks, width)[:, columns]
