"""How well each step away from a node matches a question: the inner loop of :mod:`trivium.retrievers.subgraph`."""

from __future__ import annotations

import numpy as np

from trivium.common.arrays import Floats, Integers
from trivium.common.compiled import compiled_sums
from trivium.graph.records import Vectors


@compiled_sums
def mean_cosines(
    nodes: Vectors, types: Vectors, type_of: Integers, walked: Floats, question: Floats, out: Floats
) -> None:
    """Fill ``out`` (s,) with the cosines of a unit vector ``question`` (d,) with the mean vector of each step.

    The mean of a step is taken over the vector of its node, ``nodes`` (s, d), of its relation, ``types[type_of]`` (t,
    d), and of the relations walked before, whose sum is ``walked`` (d,). Relations without a vector (NaN) are
    skipped. The result is NaN for a node without a vector and 0 for a mean of length 0.
    """
    for step in range(len(out)):
        if np.isnan(nodes[step, 0]):
            out[step] = np.nan
            continue
        relation = type_of[step]
        counts = not np.isnan(types[relation, 0])
        along = length = 0.0
        for k in range(len(question)):
            # The sum has the same cosine as the mean.
            number = nodes[step, k] + walked[k] + (np.float64(types[relation, k]) if counts else 0.0)
            along += number * question[k]
            length += number * number
        out[step] = along / np.sqrt(length) if length > 0 else 0.0
