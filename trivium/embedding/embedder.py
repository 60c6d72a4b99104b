"""The embedder protocol, and what all share. Adapters are in the other modules of this package, one per file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trivium.errors import EmbeddingError
from trivium.types import EmbedderIdentity

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into unit vectors. Results are bitwise reproducible on the CPU; on a GPU or from a service they
    agree within rounding errors.
    """

    @property
    def identity(self) -> EmbedderIdentity:
        """Name, version (changes with the weights) and dimension."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """Embed a question as a unit vector (d,), with the model's query prefix if it has one. An embedder that takes
        less time for several may also have ``embed_queries``(texts), with unit vectors (n, d); see
        :func:`embed_queries`.
        """
        ...

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        """Embed passages as unit vectors (n, d). ``progress`` is called with the number of texts just completed.
        Raises EmbeddingError.
        """
        ...

    def close(self) -> None:
        """Release workers and sessions."""
        ...


def embeds_together(embedder: Embedder) -> bool:
    """Whether the embedder, or the one that it wraps, takes several questions at once."""
    return callable(getattr(getattr(embedder, "inner", embedder), "embed_queries", None))


def embed_queries(embedder: Embedder, texts: Sequence[str]) -> list[Vectors]:
    """Return the vectors of questions (d,), embedded together if the embedder does that. Raises EmbeddingError."""
    if len(texts) > 1 and embeds_together(embedder):
        return list(embedder.embed_queries(texts))  # type: ignore[attr-defined]
    return [embedder.embed_query(text) for text in texts]


Int8Vectors = NDArray[np.int8]
"""Directions as integers from -127 to 127: a quarter of the bytes, cosines equal to three digits."""

_MAX_CHARACTERS = 100_000
"""Far more than any model reads; truncating here bounds the work of the tokeniser."""


def to_valid_text(text: str) -> str:
    """Return a text that tokenisers accept: of bounded length, with lone surrogates (from careless JSON), which have
    no UTF-8 encoding, replaced by question marks.
    """
    return text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode()


def deduplicate(texts: Sequence[str]) -> tuple[list[str], list[int]]:
    """Return the distinct texts in order of appearance, and the index of each given text among them.

    >>> deduplicate(["a", "b", "a"])
    (['a', 'b'], [0, 1, 0])
    """
    places: dict[str, int] = {}
    indices = [places.setdefault(text, len(places)) for text in texts]
    return list(places), indices


def l2_normalize(vectors: ArrayLike, count: int, dimension: int | None = None) -> Vectors:
    """Scale rows to unit length (count, d), float32. Raises EmbeddingError unless there are ``count`` finite,
    non-zero rows of ``dimension`` numbers.

    Lengths are computed in float64 row by row, so a vector does not depend on the others.
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
    """Scale each row (n, d) so that its largest component becomes 127 or -127, and round.

    >>> quantize_int8(np.array([[0.6, -0.8]], dtype=np.float32)).tolist()
    [[95, -127]]
    """
    if vectors.size == 0:
        return np.zeros(vectors.shape, dtype=np.int8)
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    rounded: Int8Vectors = np.rint(vectors / largest * np.float32(127)).astype(np.int8)
    return rounded
