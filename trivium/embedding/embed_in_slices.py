"""Embeds a whole store in slices, each of which is saved before the next one starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import TypeVar

from trivium.common.iteration import batched
from trivium.embedding.embedder import Embedder, Int8Vectors, Vectors, quantize_int8
from trivium.errors import EmbeddingError, InputError

Whole = TypeVar("Whole")

SLICE = 128
"""Default texts per slice; an embedder may ask for another number by an attribute ``texts_at_once``."""
_PARTS = 4
"""Assumed number of parts of a whole."""


def fill(
    texts: Iterable[str],
    embedder: Embedder,
    put: Callable[[Sequence[str], Vectors], None],
    progress: Callable[[int, int], None] | None = None,
    slice_size: int | None = None,
    *,
    total: int | None = None,
) -> int:
    """Embed the distinct texts in order and pass each slice with its vectors (n, d) to ``put``.

    ``slice_size`` is the number of texts per slice, by default what the embedder asks for. ``total`` is the number of
    texts. If given, the texts must be distinct and are consumed one slice at a time, so they need not fit in memory.

    An interrupt or error loses at most the current slice; call again with the texts that still have no vector to
    resume. ``progress`` is called with (texts embedded, total). Returns the number of texts saved. Raises
    EmbeddingError.
    """
    slice_size = _texts_at_once(embedder) if slice_size is None else _checked(slice_size)
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
    slice_size: int | None = None,
    *,
    total: int | None = None,
) -> int:
    """Embed the parts of each whole in order, and pass each slice of wholes with the quantised vectors of their parts
    (m, d), where m may be 0, to ``put``. Interrupts and ``total`` are handled as in :func:`fill`. ``progress`` is
    called with (wholes done, total). Returns the number of parts embedded. Raises EmbeddingError.
    """
    slice_size = max(1, _texts_at_once(embedder) // _PARTS) if slice_size is None else _checked(slice_size)
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


def _texts_at_once(embedder: Embedder) -> int:
    return int(getattr(embedder, "texts_at_once", SLICE))


def _checked(slice_size: int) -> int:
    if slice_size < 1:
        raise InputError(f"slice_size must be at least 1, got {slice_size}")
    return slice_size


def _embedded(
    embedder: Embedder, texts: Sequence[str], progress: Callable[[int], None] | None = None
) -> Vectors:
    """Embed texts and check the shape of the result."""
    vectors = embedder.embed(texts, progress)
    expected = (len(texts), embedder.identity.dimension)
    if vectors.shape != expected:
        raise EmbeddingError(
            f"{embedder.identity.name}: expected vectors of shape {expected}, got {vectors.shape}"
        )
    return vectors
