"""Batching for devices that need many texts per call: texts of similar length together, padded to the longest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.embedding.base import Vectors

BATCH_TOKENS = 16_384
"""Tokens per call, including padding: about 1 GB of activations in a model with 384 dimensions."""

BATCHED_SLICE = 4096
"""Texts that are sorted by length together: some hundred thousand tokens, which is many batches."""

Ids = NDArray[np.int64]


def batches(lengths: Sequence[int], tokens: int = BATCH_TOKENS) -> Iterator[list[int]]:
    """Group texts of these lengths, longest first, so that a padded group has at most ``tokens`` tokens (a longer
    text forms its own group). Yields indices.

    >>> list(batches([3, 9, 8, 2], tokens=18))
    [[1, 2], [0, 3]]
    """
    group: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        if group and (len(group) + 1) * lengths[group[0]] > tokens:
            yield group
            group = []
        group.append(place)
    if group:
        yield group


def padded(rows: Sequence[Sequence[int]]) -> tuple[Ids, Ids]:
    """Return tokens as a padded matrix (n, longest), and its mask."""
    ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, tokens in enumerate(rows):
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    return ids, mask


def embed_batches(
    embed: Callable[[Ids, Ids], Vectors],
    rows: Sequence[Sequence[int]],
    dimension: int,
    progress: Callable[[int], None] | None = None,
) -> Vectors:
    """Embed tokenised texts and return vectors (n, d) in their order. ``embed`` maps the tokens of a batch and their
    mask to vectors. ``progress`` is called with the number of texts just completed.
    """
    result = np.empty((len(rows), dimension), dtype=np.float32)
    for group in batches([len(row) for row in rows]):
        result[group] = embed(*padded([rows[place] for place in group]))
        if progress is not None:
            progress(len(group))
    return result
