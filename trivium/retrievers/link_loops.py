"""The loop of :mod:`trivium.retrievers.signals_of_links`. Loads numba, see :mod:`trivium.common.compiled`."""

from __future__ import annotations

import numpy as np

from trivium.common.arrays import Floats, Integers
from trivium.common.compiled import compiled


@compiled
def best_of_pairs(
    citing: Integers, there: Integers, values: Floats, together: Floats
) -> tuple[Floats, Floats]:
    """Return, for each of n candidates, the best values of those it forms a pair with, NaN where there are none, and
    the number of its pairs with others (n,).

    Pair p consists of the candidates ``citing[p]`` and ``there[p]`` and has the value ``together[p]``; ``values``
    (n, v) are those of single candidates. The result (2 v + 3, n) has two rows for each value, from those that cite a
    candidate and from those that it cites, and the best of ``together`` among the former, the latter, and all.
    """
    n, count = values.shape
    best = np.full((2 * count + 3, n), -np.inf)
    links = np.zeros(n)
    for pair in range(len(citing)):
        source, target = citing[pair], there[pair]
        for value in range(count):
            best[2 * value, target] = max(best[2 * value, target], values[source, value])
            best[2 * value + 1, source] = max(best[2 * value + 1, source], values[target, value])
        both = together[pair]
        best[2 * count, target] = max(best[2 * count, target], both)
        best[2 * count + 1, source] = max(best[2 * count + 1, source], both)
        best[2 * count + 2, target] = max(best[2 * count + 2, target], both)
        best[2 * count + 2, source] = max(best[2 * count + 2, source], both)
        if source != target:
            links[source] += 1
            links[target] += 1
    for row in range(2 * count + 3):
        for candidate in range(n):
            if best[row, candidate] == -np.inf:
                best[row, candidate] = np.nan
    return best, links
