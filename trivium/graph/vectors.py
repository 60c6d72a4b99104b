"""What every store asks of vectors, and the key that ties a vector to its text."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from trivium.errors import StoreError
from trivium.graph.records import Codes, SentenceVectors, Vectors

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


def check_codes(codes: Sequence[Codes], count: int, dimension: int) -> None:
    """Raise StoreError unless there are ``count`` matrices of 8-bit directions of ``dimension`` numbers."""
    if len(codes) != count:
        raise StoreError(f"expected sentence vectors of {count} passages, got those of {len(codes)}")
    for row, matrix in enumerate(codes):
        if matrix.dtype != np.int8 or matrix.ndim != 2 or matrix.shape[1] != dimension:
            raise StoreError(
                f"expected sentence vectors of shape (m, {dimension}) and type int8, got {matrix.shape} of {matrix.dtype}"
                f" in place {row}"
            )
        if not matrix.any(axis=1).all():
            raise StoreError(f"expected sentence vectors with a direction, got one of zeros in place {row}")


def join_codes(data: Sequence[bytes], dimension: int) -> SentenceVectors:
    """Sentence vectors from what was kept of each chunk: numbers of a byte, ``dimension`` of them a sentence."""
    codes = np.frombuffer(b"".join(data), dtype=np.int8).reshape(-1, max(1, dimension))
    counts = [len(chunk_data) // max(1, dimension) for chunk_data in data]
    return SentenceVectors(codes, np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64))


def check_query(vector: Vectors, dimension: int) -> None:
    """Raise StoreError unless this is a finite vector of ``dimension`` numbers."""
    if vector.shape != (dimension,):
        raise StoreError(f"expected a question vector of shape ({dimension},), got {vector.shape}")
    if not np.isfinite(vector).all():
        raise StoreError("expected a question vector of finite numbers, got NaN or infinity in it")
