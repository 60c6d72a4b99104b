"""Iteration in batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items in lists of ``size``; the last may be shorter. Items are consumed lazily.

    Raises ValueError when ``size`` is less than 1. (Python 3.12 has ``itertools.batched``.)

    >>> list(batched("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    if size < 1:
        raise ValueError(f"batched must have at least 1 item, got size {size}")
    rest = iter(items)
    while part := list(islice(rest, size)):
        yield part
