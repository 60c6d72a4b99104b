"""Which vectors the similarities of chunks compare, and the best of what each chunk cites. Loads numba, see
:mod:`trivium.common.compiled`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats
from trivium.common.compiled import compiled
from trivium.graph.arrays.columns import Rows

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
