"""Product of two small matrices, the same to the last bit whatever the number of rows and of processors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats
from trivium.common.compiled import compiled


def product(rows: NDArray[Any], matrix: NDArray[Any]) -> Floats:
    """``rows`` (n, k) times ``matrix`` (k, m), (n, m) in double precision.

    A row of the result depends on that row and the matrix only, for the reasons given in :mod:`trivium.common.dots`.
    For the sizes of a search (a few hundred rows and columns) it takes about as long as a BLAS on one thread.
    """
    out = np.zeros((rows.shape[0], matrix.shape[1]))
    _add_product(
        np.ascontiguousarray(rows, dtype=np.float64), np.ascontiguousarray(matrix, dtype=np.float64), out
    )
    return out


@compiled
def _add_product(rows: Floats, matrix: Floats, out: Floats) -> None:
    """``out += rows @ matrix``, summed from the first to the last of the k numbers."""
    count, inner = rows.shape
    width = matrix.shape[1]
    whole = inner // 4 * 4
    for row in range(count):
        # Along a row of the matrix nothing is summed, so the processor may work on several columns at once.
        for k in range(0, whole, 4):
            first, second, third, fourth = rows[row, k], rows[row, k + 1], rows[row, k + 2], rows[row, k + 3]
            for column in range(width):
                out[row, column] = (
                    ((out[row, column] + first * matrix[k, column]) + second * matrix[k + 1, column])
                    + third * matrix[k + 2, column]
                ) + fourth * matrix[k + 3, column]
        for k in range(whole, inner):
            factor = rows[row, k]
            for column in range(width):
                out[row, column] += factor * matrix[k, column]
