"""Compiled loops over terms and vectors of a store. Imports numba, see :mod:`trivium.common.compiled`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats, Integers
from trivium.common.compiled import compiled
from trivium.common.compiled_loops import expand
from trivium.graph.arrays.columns import Rows


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


Numbers = NDArray[np.integer[Any]]


@compiled
def rows_to_compare(
    chunks: Rows,
    page: Numbers,
    section: Numbers,
    cites_indptr: Rows,
    cites_indices: Numbers,
    of_chunk: Rows,
    of_page: Rows,
    of_section: Rows,
    of_entity: Rows,
) -> tuple[Rows, Rows]:
    """Return rows of the matrix, -1 for no vector: those of the chunks (n,), of the section or page directly above each
    (n,), of its page (n,), and of all that they cite (m,), one after the other; and where in the last part what each
    chunk cites begins (n + 1,). A chunk -1 is unknown.

    ``page`` and ``section`` are those of all chunks of the store, section -1 for the lead; the entities that chunk c
    cites are ``cites_indices[cites_indptr[c] : cites_indptr[c + 1]]``. ``of_chunk`` and so on are the rows of the matrix
    of all nodes of a label.
    """
    count = len(chunks)
    starts = np.zeros(count + 1, dtype=np.int64)
    for number in range(count):
        chunk = chunks[number]
        cited = cites_indptr[chunk + 1] - cites_indptr[chunk] if chunk >= 0 else 0
        starts[number + 1] = starts[number] + cited
    rows = np.full(3 * count + starts[count], -1, dtype=np.int64)
    for number in range(count):
        chunk = chunks[number]
        if chunk < 0:
            continue
        above = section[chunk]
        rows[number] = of_chunk[chunk]
        rows[2 * count + number] = of_page[page[chunk]]
        rows[count + number] = of_section[above] if above >= 0 else of_page[page[chunk]]
        place = 3 * count + starts[number]
        for entity in cites_indices[cites_indptr[chunk] : cites_indptr[chunk + 1]]:
            rows[place] = of_entity[entity]
            place += 1
    return rows, starts


@compiled
def highest(scores: Floats, starts: Rows) -> Floats:
    """Return the highest of the scores in each range ``starts[i]:starts[i + 1]`` (n,), without NaN where there are
    others; NaN for an empty one.
    """
    best = np.full(len(starts) - 1, np.nan)
    for number in range(len(best)):
        for score in scores[starts[number] : starts[number + 1]]:
            if score > best[number] or np.isnan(best[number]):
                best[number] = score
    return best
