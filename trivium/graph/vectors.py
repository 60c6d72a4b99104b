"""What every store asks of vectors, and the key that ties a vector to its text."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from trivium.errors import StoreError
from trivium.graph.store import Vectors

UNIT_TOLERANCE = 1e-3
"""How far from 1 the length of a vector may be: half-precision models end up within 5e-4."""


def text_hash(text: str) -> str:
    """The key of an embedded text: 128 bits of BLAKE2b, in hexadecimal.

    >>> text_hash("Phobos")
    'a765a8387881851e3a301818493cb448'
    """
    return blake2b(text.encode(), digest_size=16).hexdigest()


def check_vectors(vectors: Vectors, count: int, dimension: int) -> None:
    """Raise StoreError unless these are ``count`` finite unit vectors of ``dimension`` numbers."""
    if vectors.shape != (count, dimension):
        raise StoreError(
            f"expected vectors of shape ({count}, {dimension}), one row a text, got {vectors.shape}"
        )
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    wrong = np.flatnonzero(~(np.abs(lengths - 1.0) <= UNIT_TOLERANCE))
    if len(wrong):
        raise StoreError(
            f"expected vectors of unit length, got one of length {lengths[wrong[0]]:.6g} in row {wrong[0]}"
            f" ({len(wrong)} of {count} rows are off); normalise them, and look for NaN or infinity"
        )


def check_query(vector: Vectors, dimension: int) -> None:
    """Raise StoreError unless this is a finite vector of ``dimension`` numbers."""
    if vector.shape != (dimension,):
        raise StoreError(f"expected a question vector of shape ({dimension},), got {vector.shape}")
    if not np.isfinite(vector).all():
        raise StoreError("expected a question vector of finite numbers, got NaN or infinity in it")
