"""Where the strings of one sorted table belong in another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trivium.common.compiled import compiled
from trivium.graph.arrays import Rows
from trivium.graph.string_table import StringTable

Places = NDArray[np.int32]


def places_between(one: StringTable, other: StringTable) -> tuple[Places, Places]:
    """Return for each string of ``one`` (n,) how many of ``other`` come before it, and the other way round (m,).

    >>> one, other = StringTable.of(["a", "c", "d"]), StringTable.of(["b", "c"])
    >>> [before.tolist() for before in places_between(one, other)]
    [[0, 1, 2], [1, 1]]
    """
    before_one = np.empty(len(one), dtype=np.int32)
    before_other = np.empty(len(other), dtype=np.int32)
    _compare_all(*one.parts, *other.parts, before_one, before_other)
    return before_one, before_other


@compiled
def _compare_all(
    blob_a: NDArray[np.uint8],
    later_a: NDArray[np.uint8],
    starts_a: Rows,
    ends_a: Rows,
    blob_b: NDArray[np.uint8],
    later_b: NDArray[np.uint8],
    starts_b: Rows,
    ends_b: Rows,
    before_a: Places,
    before_b: Places,
) -> None:
    a = b = 0
    while a < len(starts_a) and b < len(starts_b):
        start_a, start_b = starts_a[a], starts_b[b]
        length_a, length_b = ends_a[a] - start_a, ends_b[b] - start_b
        text_a, text_b = blob_a, blob_b
        if start_a >= len(blob_a):
            text_a = later_a
            start_a -= len(blob_a)
        if start_b >= len(blob_b):
            text_b = later_b
            start_b -= len(blob_b)
        order = length_a - length_b
        for place in range(min(length_a, length_b)):
            if text_a[start_a + place] != text_b[start_b + place]:
                order = 1 if text_a[start_a + place] > text_b[start_b + place] else -1
                break
        if order <= 0:
            before_a[a] = b
        if order >= 0:
            before_b[b] = a
        if order <= 0:
            a += 1
        if order >= 0:
            b += 1
    before_a[a:] = len(starts_b)
    before_b[b:] = len(starts_a)
