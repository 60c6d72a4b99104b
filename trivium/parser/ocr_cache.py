"""Caches the text of pictures, so that rebuilding a folder does not read them again."""

from __future__ import annotations

import hashlib
import threading
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trivium.common.safe_files import replacing
from trivium.settings.settings import load_settings

if TYPE_CHECKING:
    from PIL.Image import Image

_VERSION = 2
"""Increase this when the results for a picture change."""
_MOST = 1 << 20
"""Maximum size of a text in bytes."""

_off = threading.Event()


def keep_nothing() -> None:
    """Disable the cache in this process, for uploads, of which nothing may remain after they are removed."""
    _off.set()


def key_of(picture: bytes | Image | NDArray[np.uint8]) -> str | None:
    """Return the key of a picture: a digest of the file or of its pixels; None if it is not cached."""
    if _off.is_set():
        return None
    digest = hashlib.sha256(_reader_version())
    if isinstance(picture, bytes):
        digest.update(picture)
    elif isinstance(picture, np.ndarray):
        digest.update(repr(picture.shape).encode())
        digest.update(np.ascontiguousarray(picture).data)
    else:
        return None  # a part of a larger file
    return digest.hexdigest()


def get(key: str) -> str | None:
    """Return the cached text; None if it is not cached."""
    with suppress(OSError, UnicodeDecodeError):
        path = _path(key)
        if path.stat().st_size <= _MOST:
            return path.read_text("utf-8")
    return None


def put(key: str, text: str) -> None:
    """Cache a text. If the folder cannot be written, the next build reads the picture again."""
    data = text.encode("utf-8", "replace")
    if len(data) > _MOST:
        return
    with suppress(OSError):
        path = _path(key)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(data)


def _path(key: str) -> Path:
    return load_settings().home / "pictures" / f"{key}.txt"


@lru_cache(maxsize=1)
def _reader_version() -> bytes:
    try:
        return f"{_VERSION} {version('rapidocr')} ".encode()
    except PackageNotFoundError:
        return b""
