"""Lists beside sorted uris, after some are removed and others added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from trivium.graph.moves import Moves

T = TypeVar("T")


def carry_list(old: Sequence[T], moves: Moves, new: Sequence[T]) -> list[T]:
    """Return a list of old rows as one of all rows, where those added have the values ``new``."""
    carried: list[T] = []
    following = iter(new)
    for _, begin, end in moves.pieces():
        carried += [next(following)] if begin < 0 else old[begin:end]
    return carried
