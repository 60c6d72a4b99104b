"""Scalar products of many rows with one vector, the same to the last bit at every call."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats, Integers


def dots(rows: NDArray[Any], vector: NDArray[Any], places: Integers | None = None) -> Floats:
    """The scalar product of each row (n, d) with a vector (d,), computed in double precision; with ``places`` (p,) of the
    rows at these places only, NaN for -1. Raises IndexError for a place where no row is.

    A row's product depends on that row and the vector only. A BLAS (``@``, ``np.vecdot``) does not promise that: the
    order in which it adds may change with the number of rows, of threads and the place in memory. Its threads also
    spend milliseconds waiting for each other, to save microseconds of these products.

    >>> dots(np.array([[1, 2], [3, 4]]), np.array([10.0, 1.0])).tolist()
    [12.0, 34.0]
    """
    from trivium.common.row_sums import add_dots  # loads numba, see trivium.common.compiled

    if places is None:
        places = np.arange(len(rows))
    numbers = rows if rows.dtype == np.float32 else rows.astype(np.float64, copy=False)
    products = np.full(len(places), np.nan)
    if not add_dots(
        np.ascontiguousarray(numbers), places, np.ascontiguousarray(vector, np.float64), products
    ):
        raise IndexError(f"places must be rows 0..{len(rows) - 1} or -1, got {places.min()}..{places.max()}")
    return products
