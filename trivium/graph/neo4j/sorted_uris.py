"""Sorted lists of uris, and lists beside them, after some are removed and others added."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from trivium.graph.arrays import Rows
from trivium.graph.moves import Moves

T = TypeVar("T")


def settle(old: Sequence[str], gone: Rows, new: Sequence[str]) -> tuple[list[str], Moves]:
    """Return sorted uris without the rows ``gone``, ascending, and with ``new`` ones, sorted; and where the rows are now.

    >>> uris, moves = settle(["a", "b", "d"], np.array([1]), ["b", "c"])
    >>> uris, moves.follow(np.arange(3)).tolist(), moves.added.tolist()
    (['a', 'b', 'c', 'd'], [0, -1, 3], [1, 2])
    """
    places = np.array([bisect_left(old, uri) for uri in new], dtype=np.int64)
    moves = Moves.of(len(old), gone, places)
    return carry_list(old, moves, new), moves


def carry_list(old: Sequence[T], moves: Moves, new: Sequence[T]) -> list[T]:
    """Return a list of old rows as one of all rows, where those added have the values ``new``."""
    carried: list[T] = []
    following = iter(new)
    for _, begin, end in moves.pieces():
        carried += [next(following)] if begin < 0 else old[begin:end]
    return carried
