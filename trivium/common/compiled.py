"""Loops as machine code, made by numba on first use.

To compile takes a second or two, so the code is kept on disk and later processes load it in milliseconds:
beside the source, else in the user's cache folder (``NUMBA_CACHE_DIR`` overrides). Where neither is writable
the loop is compiled anew in each process. To import numba takes a third of a second, which is why modules
with compiled loops are imported by the first question that needs them and not before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from numba import njit

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """The function as machine code that does not hold the interpreter lock. Bounds are not checked inside."""
    return _compiled(function, fastmath=False)


def compiled_sums(function: Callable[P, R]) -> Callable[P, R]:
    """The same for loops that add up long rows. They may add in another order than is written down, several numbers at a
    time: six times as fast. The order is settled when the code is made, so the same numbers give the same sum at every
    call."""
    return _compiled(function, fastmath={"reassoc"})


def _compiled(function: Callable[P, R], fastmath: bool | set[str]) -> Callable[P, R]:
    try:
        return cast(Callable[P, R], njit(cache=True, nogil=True, fastmath=fastmath)(function))
    except RuntimeError:  # numba finds no folder it may write its cache to
        return cast(Callable[P, R], njit(nogil=True, fastmath=fastmath)(function))
