"""Loops compiled to machine code by numba on first use.

Compiling takes a second or two, so the code is cached on disk and loaded in milliseconds by later processes: next to
the source, else in the user's cache folder (``NUMBA_CACHE_DIR`` overrides this). If neither is writable, each process
compiles it again. Importing numba takes a third of a second, so modules with compiled loops are imported only when a
question needs them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

from numba import njit
from numba.core import event

P = ParamSpec("P")
R = TypeVar("R")

_log = logging.getLogger(__name__)


class _Announcer(event.Listener):
    """Logs once that something is compiled, which it is not if the cache has it."""

    def __init__(self) -> None:
        self._done = False

    def on_start(self, _event: Any) -> None:
        if not self._done:
            self._done = True
            _log.info("compiling for this processor, once: about ten seconds")

    def on_end(self, _event: Any) -> None:
        """Do nothing."""


event.register("numba:compile", _Announcer())  # type: ignore[no-untyped-call]


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
