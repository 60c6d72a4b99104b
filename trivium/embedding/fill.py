"""Embedding a whole store: in slices, each saved before the next begins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import TypeVar

from trivium.common.iteration import batched
from trivium.embedding.base import Embedder, Vectors
from trivium.embedding.vectors import Int8Vectors, quantize_int8
from trivium.errors import EmbeddingError, InputError

Whole = TypeVar("Whole")


def fill(
    texts: Iterable[str],
    embedder: Embedder,
    put: Callable[[Sequence[str], Vectors], None],
    progress: Callable[[int, int], None] | None = None,
    slice_size: int = 128,
    *,
    total: int | None = None,
) -> int:
    """Embed the distinct texts in order and hand each slice with its vectors (n x d) to ``put``.

    ``total`` is how many there are, for texts that are distinct and too many to hold in memory: they are then taken a
    slice at a time.

    An interrupt or an error loses at most the slice under way: whoever calls again with the texts that are
    still without a vector goes on from there. ``progress`` is called with (texts embedded, texts in all).
    Returns the number of texts saved. Raises EmbeddingError."""
    if slice_size < 1:
        raise InputError(f"slice_size must be at least 1, got {slice_size}")
    if total is None:
        texts = list(dict.fromkeys(texts))
        total = len(texts)
    embedded = saved = 0

    def advance(count: int) -> None:
        nonlocal embedded
        embedded += count
        if progress is not None:
            progress(embedded, total)

    for part in batched(texts, slice_size):
        put(part, _embedded(embedder, part, advance))
        saved += len(part)
    return saved


def fill_parts(
    wholes: Iterable[Whole],
    parts_of: Callable[[Whole], Sequence[str]],
    embedder: Embedder,
    put: Callable[[Sequence[Whole], Sequence[Int8Vectors]], None],
    progress: Callable[[int, int], None] | None = None,
    slice_size: int = 32,
    *,
    total: int | None = None,
) -> int:
    """Embed the parts of each whole in order, and hand each slice of wholes with the quantised vectors of their parts
    (m x d, m may be 0) to ``put``. As safe to interrupt as :func:`fill`, and ``total`` means the same. ``progress`` is
    called with (wholes done, wholes in all). Returns the number of parts embedded. Raises EmbeddingError."""
    if slice_size < 1:
        raise InputError(f"slice_size must be at least 1, got {slice_size}")
    if total is None:
        wholes = list(wholes)
        total = len(wholes)
    embedded = done = 0
    for some in batched(wholes, slice_size):
        parts = [parts_of(whole) for whole in some]
        texts = [text for own in parts for text in own]
        rows = quantize_int8(_embedded(embedder, texts))
        bounds = pairwise(accumulate(map(len, parts), initial=0))
        put(some, [rows[first:last] for first, last in bounds])
        embedded += len(texts)
        done += len(some)
        if progress is not None:
            progress(done, total)
    return embedded


def _embedded(
    embedder: Embedder, texts: Sequence[str], progress: Callable[[int], None] | None = None
) -> Vectors:
    """Vectors of texts, of the shape that was promised."""
    vectors = embedder.embed(texts, progress)
    expected = (len(texts), embedder.identity.dimension)
    if vectors.shape != expected:
        raise EmbeddingError(
            f"{embedder.identity.name}: expected vectors of shape {expected}, got {vectors.shape}"
        )
    return vectors
