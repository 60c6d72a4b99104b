"""Compiled loops over tables of strings: what a Python loop would take a microsecond a string for. Loads numba, see
:mod:`trivium.common.compiled`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trivium.common.compiled import compiled
from trivium.graph.arrays.columns import Rows
from trivium.graph.string_table import StringTable

Bytes = NDArray[np.uint8]


def rows_before(table: StringTable, mark: str, other: StringTable) -> Rows:
    """Return the row in ``other`` of what comes before the first ``mark`` in each string (n,), -1 where it is not
    there. Of a string without the mark that is all of it.

    >>> uris, pages = StringTable.of(["A#b#1", "A#c#1", "D"]), StringTable.of(["A", "A#b", "D"])
    >>> rows_before(uris, "#", pages).tolist()
    [0, 0, 2]
    """
    rows = np.empty(len(table), dtype=np.int64)
    _rows_before(*table.parts, np.frombuffer(mark.encode(), dtype=np.uint8), *other.parts, rows)
    return rows


@compiled
def place_of(blob: Bytes, later: Bytes, start: int) -> tuple[Bytes, int]:
    """The bytes that hold a string, and where it begins in them."""
    if start < len(blob):
        return blob, start
    return later, start - len(blob)


@compiled
def order_of(text_a: Bytes, begin_a: int, length_a: int, text_b: Bytes, begin_b: int, length_b: int) -> int:
    """Below 0 if the first of two strings comes before the second, 0 if they are equal, else above."""
    for place in range(min(length_a, length_b)):
        if text_a[begin_a + place] != text_b[begin_b + place]:
            return 1 if text_a[begin_a + place] > text_b[begin_b + place] else -1
    return int(length_a - length_b)


@compiled
def _rows_before(
    blob: Bytes,
    later: Bytes,
    starts: Rows,
    ends: Rows,
    mark: Bytes,
    blob_of: Bytes,
    later_of: Bytes,
    starts_of: Rows,
    ends_of: Rows,
    out: Rows,
) -> None:
    before, before_begin, before_length = blob, 0, -1
    for row in range(len(starts)):
        text, begin = place_of(blob, later, starts[row])
        length = _marked(text, begin, ends[row] - starts[row], mark)
        if (
            row
            and length == before_length
            and not order_of(text, begin, length, before, before_begin, length)
        ):
            out[row] = out[row - 1]  # neighbours mostly have one page
            continue
        before, before_begin, before_length = text, begin, length
        low, high, found = 0, len(starts_of), -1
        while low < high:
            middle = (low + high) // 2
            other, begin_other = place_of(blob_of, later_of, starts_of[middle])
            length_other = ends_of[middle] - starts_of[middle]
            order = order_of(text, begin, length, other, begin_other, length_other)
            if order == 0:
                found = middle
                break
            if order > 0:
                low = middle + 1
            else:
                high = middle
        out[row] = found


@compiled
def _marked(text: Bytes, begin: int, length: int, mark: Bytes) -> int:
    """How many bytes of a string come before the mark."""
    for place in range(length - len(mark) + 1):
        same = True
        for k in range(len(mark)):
            if text[begin + place + k] != mark[k]:
                same = False
                break
        if same:
            return place
    return length
