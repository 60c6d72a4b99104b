"""How the loops in C are called: by :mod:`ctypes`, with NumPy's arrays as they are, and without Python's lock.

A loop takes contiguous arrays of the types that its C function names, and refuses others with a TypeError. It answers
with a whole number; what it makes is in arrays that it is given. What each does is said above its C function.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any, Final

from trivium.errors import ConfigurationError
from trivium.native.compile import FOLDER, LEVELS, compile_library, library_name

_ARRAY, _NUMBER, _REAL, _ADDRESS = ctypes.py_object, ctypes.c_int64, ctypes.c_double, ctypes.c_void_p
_REFUSED: Final = -(2**63)

_ARGUMENTS: Final[dict[str, tuple[Any, ...]]] = {
    # vectors.c
    "dots_of_singles": (_ARRAY, _ARRAY, _ARRAY, _REAL, _ARRAY),
    "dots_of_doubles": (_ARRAY, _ARRAY, _ARRAY, _REAL, _ARRAY),
    "best_codes": (_ARRAY,) * 4,
    "add_product": (_ARRAY,) * 3,
    "mean_cosines": (_ARRAY,) * 6,
    "round_digits": (_ARRAY,) * 3,
    "quantise": (_ARRAY,) * 5,
    "scan": (_ARRAY, _ARRAY, _ARRAY, _REAL, _ARRAY),
    "bounds": (*(_ARRAY,) * 5, _REAL, _REAL, _REAL, _ARRAY, _ARRAY),
    "bound": (_ARRAY, _ARRAY, _REAL, _REAL, _NUMBER, _ARRAY, _NUMBER, _ARRAY, _ARRAY),
    # words.c
    "count_terms": (_ARRAY,) * 6,
    "locate_terms": (_ARRAY,) * 5,
    "count_chunks": (_ARRAY,) * 4,
    "windows": (_ARRAY,) * 4,
    "phrases": (_ARRAY, _ARRAY, _ARRAY, _NUMBER, _ARRAY, _ARRAY),
    "best_of_pairs": (_ARRAY,) * 6,
    # walk.c
    "push": (*(_ARRAY,) * 10, _NUMBER, *(_REAL,) * 4),
    "transitions": (_ARRAY,) * 3,
    "iterate": (_ARRAY, _ARRAY, _REAL, _REAL),
    # pdf.c
    "gather_characters": (_ADDRESS, _NUMBER, *(_ADDRESS,) * 7, *(_ARRAY,) * 3),
    "find_objects": (_ADDRESS, _NUMBER, _NUMBER, _ADDRESS, _ADDRESS, _ARRAY),
}


class _Loops:
    """The loops by their names. The library is loaded, and a loop looked up in it, when it is first asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._library: ctypes.CDLL | None = None

    def __getattr__(self, name: str) -> Callable[..., int]:
        if name not in _ARGUMENTS:
            raise AttributeError(f"there is no loop {name}")
        with self._lock:
            if self._library is None:
                self._library = _load()
        loop: Any = getattr(self._library, name)
        loop.argtypes, loop.restype, loop.errcheck = _ARGUMENTS[name], _NUMBER, _accepted
        setattr(self, name, loop)
        return loop  # type: ignore[no-any-return]


loops = _Loops()


def _accepted(found: int, loop: Any, _: Any) -> int:
    if found == _REFUSED:
        raise TypeError(f"{loop.__name__} was given arrays of other types, shapes or ranges than it takes")
    return found


def _load() -> ctypes.CDLL:
    """The library for this processor."""
    library = _opened(LEVELS[0])
    level = int(library.level())
    best = max((each for each in LEVELS if each <= level), default=LEVELS[0])
    if best != LEVELS[0]:
        library = _opened(best)
    library.set_head(_NUMBER(object.__basicsize__))
    return library


def _opened(level: int) -> ctypes.CDLL:
    """The library for a level. It is compiled where there is none that can be loaded: in a checkout that was not built,
    or was changed."""
    name = library_name(level)
    for folder in _folders():
        if (file := folder / name).is_file():
            try:
                return ctypes.CDLL(str(file))
            except OSError:  # damaged, or made for another system
                continue
    said = ""
    for folder in (*_folders(), Path(tempfile.gettempdir()) / f"trivium-native-{uuid.uuid4().hex[:16]}"):
        try:
            return ctypes.CDLL(str(compile_library(folder, level)))
        except CalledProcessError as error:
            said = error.stderr
        except OSError as error:
            said = str(error)
    raise ConfigurationError(f"the loops in C cannot be compiled: {said}")


def _folders() -> Iterator[Path]:
    """Of the package, and of the user's cache."""
    yield FOLDER
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        cache = Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    except RuntimeError:  # there is no home
        return
    yield cache / "trivium" / "native"
