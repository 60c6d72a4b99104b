"""Many texts a call, for a device that is only fast so: texts of like length together, padded to the longest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.embedding.base import Vectors

BATCH_TOKENS = 16_384
"""Tokens of a call, padding included: about 1 GB of intermediate results in a model of 384 dimensions."""

Ids = NDArray[np.int64]


def batches(lengths: Sequence[int], tokens: int = BATCH_TOKENS) -> Iterator[list[int]]:
    """Places of texts of these lengths, the longest first, in groups of at most so many ``tokens`` when padded (a longer
    text is a group by itself).

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
    """Tokens of texts as a matrix (n x longest), and 1 where it has a token."""
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
    """Vectors (n x d) of texts given as tokens, in their order. ``embed`` makes those of a batch of tokens and its
    mask. ``progress`` is called with the number of texts just done."""
    result = np.empty((len(rows), dimension), dtype=np.float32)
    for group in batches([len(row) for row in rows]):
        result[group] = embed(*padded([rows[place] for place in group]))
        if progress is not None:
            progress(len(group))
    return result
