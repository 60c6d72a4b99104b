"""Iterate in batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Items in lists of ``size``, the last as long as it comes; each is taken from ``items`` when its turn is.
    Raises ValueError when ``size`` is not at least 1. (From Python 3.12 on this is ``itertools.batched``.)

    >>> list(batched("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    if size < 1:
        raise ValueError(f"batched must have at least 1 item, got size {size}")
    rest = iter(items)
    while part := list(islice(rest, size)):
        yield part
