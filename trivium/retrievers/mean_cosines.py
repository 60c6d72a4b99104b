"""How well each step away from a node fits a question: the loop of :mod:`trivium.retrievers.subgraph`."""

from __future__ import annotations

import numpy as np

from trivium.common.arrays import Floats, Integers
from trivium.common.compiled import compiled_sums
from trivium.graph.records import Vectors


@compiled_sums
def mean_cosines(
    nodes: Vectors, types: Vectors, type_of: Integers, walked: Floats, question: Floats, out: Floats
) -> None:
    """Fill ``out`` (s,) with the cosine of a unit vector ``question`` (d,) and the mean of the vector of a step's node,
    ``nodes`` (s, d), of its relation, ``types[type_of]`` (t, d), and of those walked before, of which ``walked`` (d,) is
    the sum. A relation without a vector (NaN) does not count; NaN for a node without, 0 for a mean of length 0."""
    for step in range(len(out)):
        if np.isnan(nodes[step, 0]):
            out[step] = np.nan
            continue
        relation = type_of[step]
        counts = not np.isnan(types[relation, 0])
        along = length = 0.0
        for k in range(len(question)):
            # A cosine is that of the sum as well.
            number = nodes[step, k] + walked[k] + (np.float64(types[relation, k]) if counts else 0.0)
            along += number * question[k]
            length += number * number
        out[step] = along / np.sqrt(length) if length > 0 else 0.0
