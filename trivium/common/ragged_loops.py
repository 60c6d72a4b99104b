"""The compiled loop of :mod:`trivium.common.ragged`. Loads numba, see :mod:`trivium.common.compiled`."""

from __future__ import annotations

import numpy as np

from trivium.common.arrays import Integers
from trivium.common.compiled import compiled


@compiled
def expand(starts: Integers, lengths: Integers) -> tuple[Integers, Integers]:
    """See :func:`trivium.common.ragged.expand_ranges`."""
    if len(starts) != len(lengths):
        raise ValueError("starts and lengths must be equally many")
    count = 0
    for length in lengths:
        if length < 0:
            raise ValueError("lengths must not be negative")
        count += length
    of, places = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    place = 0
    for number in range(len(lengths)):
        for step in range(lengths[number]):
            of[place] = number
            places[place] = starts[number] + step
            place += 1
    return of, places
