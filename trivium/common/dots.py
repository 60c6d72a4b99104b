"""Scalar products of many rows with one vector, the same to the last bit at every call."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def dots(rows: NDArray[Any], vector: NDArray[Any]) -> NDArray[np.float64]:
    """The scalar product of each row (n, d) with a vector (d,), computed in double precision.

    A row's product depends on that row and the vector only. A BLAS (``@``, ``np.vecdot``) does not promise that: the
    order in which it adds may change with the number of rows, of threads and the place in memory. Its threads also
    spend milliseconds waiting for each other, to save microseconds of these products.

    >>> dots(np.array([[1, 2], [3, 4]]), np.array([10.0, 1.0])).tolist()
    [12.0, 34.0]
    """
    numbers = np.ascontiguousarray(rows, dtype=np.float64)
    # Without ``optimize`` einsum never calls the BLAS: it adds along each row in one fixed order.
    products: NDArray[np.float64] = np.einsum(
        "ij,j->i", numbers, np.ascontiguousarray(vector, dtype=np.float64), optimize=False
    )
    return products
