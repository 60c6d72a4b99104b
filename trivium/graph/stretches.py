"""Stretches of neighbouring places, as arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]


def stretches(starts: Places, lengths: Places) -> tuple[Places, Places]:
    """One after another the places of stretches that begin at ``starts`` and go up by one: which stretch each is of, and
    the places.

    >>> of, places = stretches(np.array([5, 0]), np.array([2, 3]))
    >>> of.tolist(), places.tolist()
    ([0, 0, 1, 1, 1], [5, 6, 0, 1, 2])
    """
    of = np.repeat(np.arange(len(starts)), lengths)
    before = np.cumsum(lengths) - lengths
    return of, np.arange(len(of)) + (starts - before)[of]
