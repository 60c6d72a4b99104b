"""Where the strings of one sorted table belong in another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trivium.common.compiled import compiled
from trivium.graph.arrays import Rows
from trivium.graph.string_loops import order_of, place_of
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
        text_a, begin_a = place_of(blob_a, later_a, starts_a[a])
        text_b, begin_b = place_of(blob_b, later_b, starts_b[b])
        order = order_of(text_a, begin_a, ends_a[a] - starts_a[a], text_b, begin_b, ends_b[b] - starts_b[b])
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
