"""Loops compiled to machine code by numba on first use.

Compiling takes a second or two, so the code is cached on disk and loaded in milliseconds by later processes: next to
the source, else in the user's cache folder (``NUMBA_CACHE_DIR`` overrides this). If neither is writable, each process
compiles it again. The files are pickled, as numba makes them: whoever can write to that folder can run code. Each begins
with its checksum, so that one that is damaged is compiled again instead of executed. Importing numba takes a third of a
second, so modules with compiled loops are imported only when a question needs them.
"""

from __future__ import annotations

import logging
import pickle
import uuid
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
from numba import njit
from numba.core import event
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

P = ParamSpec("P")
R = TypeVar("R")

_DIGEST_BYTES = 32

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


class _CheckedFiles:
    """Cached code, one file for each signature: a checksum, then the source's stamp and the code, pickled. Has the
    methods of numba's ``IndexDataCacheFile``.
    """

    def __init__(self, folder: str, name: str, stamp: Any) -> None:
        self._start = str(Path(folder) / f"{name}-{numba.__version__}")
        self._stamp = stamp

    def load(self, key: Any) -> Any:
        """Return the code, None if there is none. Raises ValueError if the file is damaged."""
        try:
            data = self._file(key).read_bytes()
        except FileNotFoundError:
            return None
        content = data[_DIGEST_BYTES:]
        if data[:_DIGEST_BYTES] != sha256(content).digest():
            raise ValueError("it is damaged")
        stamp, code = pickle.loads(content)  # noqa: S301 (see above)
        return code if stamp == self._stamp else None

    def save(self, key: Any, code: Any) -> None:
        """Write the code."""
        content = dumps((self._stamp, code))  # type: ignore[no-untyped-call]
        file = self._file(key)
        unfinished = file.with_name(f"{file.name}.{uuid.uuid4().hex[:16]}")
        try:
            unfinished.write_bytes(sha256(content).digest() + content)
            unfinished.replace(file)
        finally:
            unfinished.unlink(missing_ok=True)

    def flush(self) -> None:
        """Do nothing: code of another source is not loaded."""

    def _file(self, key: Any) -> Path:
        return Path(f"{self._start}.{sha256(repr(key).encode()).hexdigest()[:16]}.nbc")


class _Cache(FunctionCache):
    """numba's cache, of which no failure is more than a warning."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        locator = self._impl.locator
        self._cache_file: Any = _CheckedFiles(
            locator.get_cache_path(), self._impl.filename_base, locator.get_source_stamp()
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception as error:
            _warn(f"the cache of compiled code in {self.cache_path} cannot be read: {error}")
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        except OSError as error:
            _warn(f"the cache of compiled code in {self.cache_path} cannot be written: {error.strerror}")


_warned: list[str] = []


def _warn(problem: str) -> None:
    if not _warned:
        _log.warning("%s; it is compiled again, which takes some seconds", problem)
    _warned.append(problem)


def _compiled(function: Callable[P, R], fastmath: bool | set[str]) -> Callable[P, R]:
    dispatcher: Any = njit(nogil=True, fastmath=fastmath)(function)
    try:
        dispatcher._cache = _Cache(function)
    except RuntimeError:  # numba finds no writable cache folder
        _warn("no folder for compiled code can be written (NUMBA_CACHE_DIR names one)")
    return cast(Callable[P, R], dispatcher)
