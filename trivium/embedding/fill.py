"""Embedding a whole store: in slices, each saved before the next begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trivium.embedding.base import Embedder, Vectors
from trivium.errors import EmbeddingError, InputError


def fill(
    texts: Sequence[str],
    embedder: Embedder,
    put: Callable[[Sequence[str], Vectors], None],
    progress: Callable[[int, int], None] | None = None,
    slice_size: int = 128,
) -> int:
    """Embed the distinct texts in order and hand each slice with its vectors (n x d) to ``put``.

    An interrupt or an error loses at most the slice under way: whoever calls again with the texts that are
    still without a vector goes on from there. ``progress`` is called with (texts embedded, texts in all).
    Returns the number of texts saved. Raises EmbeddingError."""
    if slice_size < 1:
        raise InputError(f"slice_size must be at least 1, got {slice_size}")
    todo = list(dict.fromkeys(texts))
    embedded = 0

    def advance(count: int) -> None:
        nonlocal embedded
        embedded += count
        if progress is not None:
            progress(embedded, len(todo))

    for start in range(0, len(todo), slice_size):
        part = todo[start : start + slice_size]
        vectors = embedder.embed(part, advance)
        expected = (len(part), embedder.identity.dimension)
        if vectors.shape != expected:
            raise EmbeddingError(
                f"{embedder.identity.name}: expected vectors of shape {expected}, got {vectors.shape}"
            )
        put(part, vectors)
    return len(todo)
