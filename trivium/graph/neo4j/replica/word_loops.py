"""Compiled loops over the chunks that contain a term, used by :mod:`trivium.graph.neo4j.replica.words`. Loads numba, see
:mod:`trivium.common.compiled`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trivium.common.compiled import compiled
from trivium.graph.arrays.columns import Rows
from trivium.graph.records import Floats

BLOCK = 64
"""Chunks of which the highest score is told: a few cache lines."""


@compiled
def score_chunks(
    terms: Rows,
    rarity: Floats,
    first: Rows,
    chunks: NDArray[np.int32],
    often: NDArray[np.int32],
    held_back: Floats,
    scores: Floats,
    highest: Floats,
) -> None:
    """Add to ``scores`` (n,) the BM25 of terms (t,) of this ``rarity`` (t,), term after term, and fill ``highest``
    (blocks,) with the highest score of each :data:`BLOCK` chunks. The other arrays are those of
    :class:`~trivium.graph.neo4j.replica.words.Words`.
    """
    for number in range(len(terms)):
        term = terms[number]
        for place in range(first[term], first[term + 1]):
            chunk, count = chunks[place], np.float64(often[place])
            scores[chunk] += rarity[number] * count / (count + held_back[chunk])
    for block in range(len(highest)):
        most = 0.0
        for chunk in range(block * BLOCK, min(len(scores), (block + 1) * BLOCK)):
            most = max(most, scores[chunk])
        highest[block] = most


@compiled
def chunks_reaching(scores: Floats, highest: Floats, least: float) -> Rows:
    """Return the chunks whose score is at least ``least``, ascending."""
    count = 0
    found = np.empty(int(np.sum(highest >= least)) * BLOCK, dtype=np.int64)
    for block in range(len(highest)):
        if highest[block] >= least:
            for chunk in range(block * BLOCK, min(len(scores), (block + 1) * BLOCK)):
                if scores[chunk] >= least:
                    found[count] = chunk
                    count += 1
    return found[:count]
