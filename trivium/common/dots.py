"""Dot products of many rows with one vector, reproducible to the last bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats, Integers


def dots(
    rows: NDArray[Any], vector: NDArray[Any], places: Integers | None = None, limit: float = math.inf
) -> Floats:
    """Compute the dot product of each row (n, d) with a vector (d,) in double precision. With ``places`` (p,) only for
    the rows with these numbers, NaN for -1. Products are clipped to ``limit`` from 0, such as 1 for cosines. Raises
    IndexError for a row that does not exist, and ValueError unless rows, if any, are as long as the vector.

    A result depends only on its row and the vector. BLAS (``@``, ``np.vecdot``) does not guarantee that: the order of
    its additions may depend on the number of rows and threads and on memory alignment. Its threads also spend
    milliseconds on synchronisation, to save microseconds of these products.

    >>> dots(np.array([[1, 2], [3, 4]]), np.array([10.0, 1.0])).tolist()
    [12.0, 34.0]
    """
    from trivium.common.row_sums import add_dots  # loads numba, see trivium.common.compiled

    if len(rows) and rows.shape[1:] != vector.shape:
        raise ValueError(f"expected rows (n, d) and a vector (d,), got {rows.shape} and {vector.shape}")
    if places is None:
        places = np.arange(len(rows))
    numbers = rows if rows.dtype == np.float32 else rows.astype(np.float64, copy=False)
    products = np.empty(len(places))
    if not add_dots(
        np.ascontiguousarray(numbers), places, np.ascontiguousarray(vector, np.float64), limit, products
    ):
        raise IndexError(f"places must be rows 0..{len(rows) - 1} or -1, got {places.min()}..{places.max()}")
    return products
