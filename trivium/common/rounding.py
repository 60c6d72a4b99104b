"""Rounds many numbers to significant digits. Imports numba, see :mod:`trivium.common.compiled`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats
from trivium.common.compiled import compiled

DIGITS = 6


@compiled
def round_digits(numbers: Floats, out: Floats, unsure: NDArray[np.bool_]) -> bool:
    """Fill ``out`` (n,) with the numbers (n,) rounded to six significant digits, as formatting and parsing them would.
    Set ``unsure`` (n,) where that is not certain: close to halfway between two results, close to a power of ten, or of
    unusual magnitude. Returns whether any is unsure.
    """
    some = False
    for place in range(len(numbers)):
        number = numbers[place]
        size = abs(number)
        if number == 0 or np.isnan(number):
            out[place] = number
            unsure[place] = False
            continue
        unsure[place] = not 1e-12 < size < 1e6
        if unsure[place]:
            out[place] = number
            some = True
            continue
        unit = 10.0 ** (DIGITS - 1 - np.floor(np.log10(size)))
        scaled = number * unit
        whole = np.rint(scaled)
        out[place] = whole / unit
        unsure[place] = abs(abs(scaled - whole) - 0.5) < 1e-6 or not 100_000 < abs(whole) < 999_999
        some = some or unsure[place]
    return some
