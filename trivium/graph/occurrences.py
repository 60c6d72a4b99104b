"""Where terms occur in texts that stores keep as their terms, one space between two."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from trivium.graph.store import TermCounts


def count_terms(texts: Sequence[str], headings: Sequence[str], terms: Sequence[str]) -> TermCounts:
    """How often and where terms occur in chunks, given as the terms of their texts and of their headings.

    >>> counts = count_terms(["red red planet", "moon"], ["planet", "red"], ["moon", "red"])
    >>> counts.text.tolist(), counts.headings.tolist(), counts.places.tolist()
    ([[0.0, 2.0], [1.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]], [[0, 1, 0], [0, 1, 1], [1, 0, 0]])
    """
    numbers: dict[str, int] = {}
    for number, term in enumerate(terms):
        numbers.setdefault(term, number)
    words = [text.split() for text in texts]
    places = _table(
        [
            (row, numbers[word], position)
            for row, own in enumerate(words)
            for position, word in enumerate(own)
            if word in numbers
        ],
        3,
    )

    @cache  # chunks of one section share their headings
    def of_headings(text: str) -> tuple[int, list[int]]:
        own = text.split()
        return len(own), [numbers[word] for word in own if word in numbers]

    above = [of_headings(text) for text in headings]
    return TermCounts(
        text=_counted(places[:, :2], len(texts), terms, numbers),
        headings=_counted(
            _table([(row, number) for row, (_, own) in enumerate(above) for number in own], 2),
            len(texts),
            terms,
            numbers,
        ),
        text_length=np.array([len(own) for own in words], dtype=np.float64),
        headings_length=np.array([length for length, _ in above], dtype=np.float64),
        places=places,
    )


def _table(rows: Sequence[tuple[int, ...]], width: int) -> NDArray[np.int64]:
    return np.array(rows, dtype=np.int64).reshape(len(rows), width)


def _counted(
    found: NDArray[np.int64], texts: int, terms: Sequence[str], numbers: dict[str, int]
) -> NDArray[np.float64]:
    """Number of occurrences (row, term) as a matrix (texts x terms), also of a term given twice."""
    width = len(terms)
    counts = np.bincount(found[:, 0] * width + found[:, 1], minlength=texts * width).astype(np.float64)
    return counts.reshape(texts, width)[:, [numbers[term] for term in terms]]
