"""Counting the terms of a question in chunks. Loads numba, see :mod:`trivium.common.compiled`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats, Integers
from trivium.common.compiled import compiled
from trivium.common.ragged_loops import expand


@compiled
def count(
    words: NDArray[np.int32],
    starts: Integers,
    lengths: Integers,
    terms: Integers,
    text: Floats,
    headings: Floats,
) -> int:
    """Add to ``text`` and ``headings`` (n x t) how often ``terms`` (t,) occur in n chunks. ``words[starts[i]:]`` are the
    terms of chunk i, first those of its headings, then those of its text; ``lengths`` (n x 2) are how many text and
    headings have. Returns how many words of texts are one of the terms, -1 where there are not so many words."""
    found = 0
    for chunk in range(len(starts)):
        in_text, in_headings = lengths[chunk]
        if starts[chunk] < 0 or starts[chunk] + in_headings + in_text > len(words):
            return -1
        for place in range(in_headings + in_text):
            word = words[starts[chunk] + place]
            is_term = False
            for column in range(len(terms)):
                if terms[column] == word:
                    if place < in_headings:
                        headings[chunk, column] += 1
                    else:
                        text[chunk, column] += 1
                        is_term = True
            found += is_term
    return found


@compiled
def locate(
    words: NDArray[np.int32], starts: Integers, lengths: Integers, terms: Integers, places: Integers
) -> None:
    """Fill ``places`` (o x 3) with every occurrence in a text: chunk, term (the first of equal ones), and how many words
    stand before it. The arguments are those of :func:`count`; there must be room for all."""
    found = 0
    for chunk in range(len(starts)):
        in_text, in_headings = lengths[chunk]
        for place in range(in_text):
            word = words[starts[chunk] + in_headings + place]
            for column in range(len(terms)):
                if terms[column] == word:
                    places[found, 0] = chunk
                    places[found, 1] = column
                    places[found, 2] = place
                    found += 1
                    break


@compiled
def places_of(places: Integers, chunks: Integers) -> Integers:
    """Return the rows of ``places`` (o x 3), which are sorted by chunk, that belong to ``chunks`` (n,), in the order of
    these and numbered by it."""
    owners = places[:, 0]
    starts = np.searchsorted(owners, chunks)
    numbers, rows = expand(starts, np.searchsorted(owners, chunks, side="right") - starts)
    taken: Integers = places[rows]
    taken[:, 0] = numbers
    return taken


@compiled
def count_chunks(words: NDArray[np.int32], starts: Integers, sizes: Integers, found: Integers) -> None:
    """Add to ``found`` (terms,) in how many of n chunks each term occurs. ``words[starts[i]:]`` are the terms of chunk i,
    ``sizes`` (n,) how many it has."""
    last = np.full(len(found), -1, dtype=np.int64)
    for chunk in range(len(starts)):
        for place in range(starts[chunk], starts[chunk] + sizes[chunk]):
            term = words[place]
            if last[term] != chunk:
                last[term] = chunk
                found[term] += 1
