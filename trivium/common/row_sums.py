"""Compiled loops over rows of vectors, used by :mod:`trivium.common.dots` and others. Imports numba, see
:mod:`trivium.common.compiled`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats, Integers
from trivium.common.compiled import compiled_sums
from trivium.common.prefetch import CACHE_LINE, prefetch

_AHEAD = 4
"""So many rows before its turn a row is fetched. Rows of a large matrix are far apart and rarely in the processor's
caches: waiting for each in turn takes five times as long.
"""


@compiled_sums
def add_dots(matrix: NDArray[Any], places: Integers, vector: Floats, limit: float, out: Floats) -> bool:
    """Fill ``out`` (p,) with the dot products of ``vector`` (d,) and the rows of ``matrix`` (n, d) at ``places`` (p,),
    NaN where a place is -1, and at most ``limit`` from 0. Returns False for a row that does not exist.
    """
    numbers, width = matrix.reshape(-1), matrix.shape[1]
    step = CACHE_LINE // matrix.itemsize
    for number in range(len(places)):
        if number + _AHEAD < len(places):
            begin = places[number + _AHEAD] * width
            for place in range(begin, begin + width, step):
                prefetch(numbers, place)
        row = places[number]
        if row < -1 or row >= len(matrix):
            return False
        if row < 0:
            out[number] = np.nan
            continue
        total = 0.0
        for k in range(len(vector)):
            total += matrix[row, k] * vector[k]
        if abs(total) > limit:
            total = limit if total > 0 else -limit
        out[number] = total
    return True


@compiled_sums
def best_codes(codes: NDArray[np.int8], starts: Integers, vector: Floats, out: Floats) -> None:
    """Fill ``out`` (n,) with the highest cosine of ``vector`` (d,) and the rows ``starts[i]:starts[i + 1]`` of
    ``codes`` (s, d), leaving it unchanged for empty ranges.
    """
    for number in range(len(out)):
        for row in range(starts[number], starts[number + 1]):
            total = 0.0
            length = np.int32(0)
            for k in range(len(vector)):
                total += codes[row, k] * vector[k]
            for k in range(len(vector)):
                length += np.int32(codes[row, k]) * np.int32(codes[row, k])
            cosine = total / np.sqrt(length)
            if row == starts[number] or cosine > out[number]:
                out[number] = cosine
