"""Product of two small matrices, reproducible to the last bit for any number of rows and processors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats
from trivium.common.compiled import compiled


def product(rows: NDArray[Any], matrix: NDArray[Any]) -> Floats:
    """Return ``rows`` (n, k) times ``matrix`` (k, m) as (n, m) in double precision.

    A row of the result depends only on that row and the matrix, for the reasons given in :mod:`trivium.common.dots`. At
    the sizes of a search (a few hundred rows and columns) this is about as fast as a single-threaded BLAS.
    """
    out = np.zeros((rows.shape[0], matrix.shape[1]))
    _add_product(
        np.ascontiguousarray(rows, dtype=np.float64), np.ascontiguousarray(matrix, dtype=np.float64), out
    )
    return out


@compiled
def _add_product(rows: Floats, matrix: Floats, out: Floats) -> None:
    """Compute ``out += rows @ matrix``, summed from the first to the last of the k numbers.

    Processes blocks of four rows by four numbers: each value read from the matrix is used for four rows, and sums stay
    in registers. Nothing is summed along a row of the matrix, so several columns can be vectorised.
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
