"""Vectors as directions of whole numbers: a quarter of the bytes, the same cosines to three digits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trivium.embedding.base import Vectors

Codes = NDArray[np.int8]


def codes(vectors: Vectors) -> Codes:
    """Each row (n x d) stretched until its largest number is 127 or -127, and rounded.

    >>> codes(np.array([[0.6, -0.8]], dtype=np.float32)).tolist()
    [[95, -127]]
    """
    if vectors.size == 0:
        return np.zeros(vectors.shape, dtype=np.int8)
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    rounded: Codes = np.rint(vectors / largest * np.float32(127)).astype(np.int8)
    return rounded
