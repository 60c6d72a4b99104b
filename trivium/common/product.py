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
    """``out += rows @ matrix``, summed from the first to the last of the k numbers.

    Four rows by four numbers at a time: what is read of the matrix serves four rows, and sums stay in registers
    meanwhile. Along a row of the matrix nothing is summed, so the processor may work on several columns at once.
    """
    count, inner = rows.shape
    width = matrix.shape[1]
    fours = count // 4 * 4
    whole = inner // 4 * 4
    for row in range(0, fours, 4):
        for k in range(0, whole, 4):
            a0, a1, a2, a3 = rows[row, k], rows[row, k + 1], rows[row, k + 2], rows[row, k + 3]
            b0, b1, b2, b3 = (
                rows[row + 1, k],
                rows[row + 1, k + 1],
                rows[row + 1, k + 2],
                rows[row + 1, k + 3],
            )
            c0, c1, c2, c3 = (
                rows[row + 2, k],
                rows[row + 2, k + 1],
                rows[row + 2, k + 2],
                rows[row + 2, k + 3],
            )
            d0, d1, d2, d3 = (
                rows[row + 3, k],
                rows[row + 3, k + 1],
                rows[row + 3, k + 2],
                rows[row + 3, k + 3],
            )
            for column in range(width):
                m0, m1 = matrix[k, column], matrix[k + 1, column]
                m2, m3 = matrix[k + 2, column], matrix[k + 3, column]
                out[row, column] = (((out[row, column] + a0 * m0) + a1 * m1) + a2 * m2) + a3 * m3
                out[row + 1, column] = (((out[row + 1, column] + b0 * m0) + b1 * m1) + b2 * m2) + b3 * m3
                out[row + 2, column] = (((out[row + 2, column] + c0 * m0) + c1 * m1) + c2 * m2) + c3 * m3
                out[row + 3, column] = (((out[row + 3, column] + d0 * m0) + d1 * m1) + d2 * m2) + d3 * m3
        for k in range(whole, inner):
            for some in range(row, row + 4):
                for column in range(width):
                    out[some, column] += rows[some, k] * matrix[k, column]
    for row in range(fours, count):
        for k in range(inner):
            for column in range(width):
                out[row, column] += rows[row, k] * matrix[k, column]
