"""Loops compiled to machine code by numba on first use.

Compiling takes a second or two, so the code is cached on disk and loaded in milliseconds by later processes: next to
the source, else in the user's cache folder (``NUMBA_CACHE_DIR`` overrides this). If neither is writable, each process
compiles it again. Importing numba takes a third of a second, so modules with compiled loops are imported only when a
question needs them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from numba import njit

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function to machine code that releases the interpreter lock. Array bounds are not checked."""
    return _compiled(function, fastmath=False)


def compiled_sums(function: Callable[P, R]) -> Callable[P, R]:
    """Like :func:`compiled`, for loops that sum long rows. Additions may be reordered and vectorised, which is six
    times as fast. The order is fixed at compile time, so the same numbers always give the same sum.
    """
    return _compiled(function, fastmath={"reassoc"})


def _compiled(function: Callable[P, R], fastmath: bool | set[str]) -> Callable[P, R]:
    try:
        return cast(Callable[P, R], njit(cache=True, nogil=True, fastmath=fastmath)(function))
    except RuntimeError:  # numba finds no writable cache folder
        return cast(Callable[P, R], njit(nogil=True, fastmath=fastmath)(function))
