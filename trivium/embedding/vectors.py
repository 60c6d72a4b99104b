"""What every adapter does with texts and vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trivium.embedding.base import Vectors
from trivium.errors import EmbeddingError

Int8Vectors = NDArray[np.int8]
"""Directions as whole numbers from -127 to 127: a quarter of the bytes, the same cosines to three digits."""

_MAX_CHARACTERS = 100_000
"""Far beyond what a model reads of a text; cutting there bounds the work of its tokeniser."""


def to_valid_text(text: str) -> str:
    """The text as a tokeniser takes it: not boundless, and a lone surrogate (from careless JSON), which is no
    character and has no UTF-8, as a question mark."""
    return text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode()


def deduplicate(texts: Sequence[str]) -> tuple[list[str], list[int]]:
    """The distinct texts in order of appearance, and for each given text its place among them.

    >>> deduplicate(["a", "b", "a"])
    (['a', 'b'], [0, 1, 0])
    """
    places: dict[str, int] = {}
    indices = [places.setdefault(text, len(places)) for text in texts]
    return list(places), indices


def l2_normalize(vectors: ArrayLike, count: int, dimension: int | None = None) -> Vectors:
    """Rows scaled to length one (count x d, float32). Raises EmbeddingError unless there are ``count`` finite
    rows of ``dimension`` numbers, none of them zero throughout.

    The length is computed in float64, row by row: a vector does not depend on those beside it.
    """
    try:
        rows = np.asarray(vectors, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise EmbeddingError(f"expected {count} vectors of one length, got something else") from error
    wanted = (count, rows.shape[-1] if dimension is None and rows.ndim > 0 else dimension)
    if rows.shape != wanted or rows.shape[-1] == 0:
        width = "d" if dimension is None else dimension
        raise EmbeddingError(f"expected vectors of shape ({count}, {width}), got {rows.shape}")
    with np.errstate(over="ignore"):
        lengths = np.sqrt(np.add.reduce(np.square(rows), axis=1))
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        raise EmbeddingError("expected finite vectors that are not zero, got one that is")
    result: Vectors = (rows / lengths[:, None]).astype(np.float32)
    return result


def quantize_int8(vectors: Vectors) -> Int8Vectors:
    """Each row (n x d) scaled until its largest number is 127 or -127, and rounded.

    >>> quantize_int8(np.array([[0.6, -0.8]], dtype=np.float32)).tolist()
    [[95, -127]]
    """
    if vectors.size == 0:
        return np.zeros(vectors.shape, dtype=np.int8)
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    rounded: Int8Vectors = np.rint(vectors / largest * np.float32(127)).astype(np.int8)
    return rounded
