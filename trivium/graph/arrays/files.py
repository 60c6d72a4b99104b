"""File operations of a store: hard links, read-only detection, and manifests with checksums."""

from __future__ import annotations

import errno
import json
import os
import shutil
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

from trivium.errors import StoreError

MANIFEST = "manifest.json"
_BLOCK = 1 << 22
_LITTLE_SPACE = 16 << 20
"""Free space in bytes below which the disk counts as full."""
_OPENED_BY_SQLITE = 4
"""The database, its log, the index of the log, and a temporary file."""


def cannot_change(folder: Path) -> bool:
    """Whether a folder is on a read-only file system."""
    return hasattr(os, "statvfs") and folder.exists() and bool(os.statvfs(folder).f_flag & os.ST_RDONLY)


def is_full(folder: Path) -> bool:
    """Whether so little space is left that an I/O error is attributed to a full disk."""
    try:
        return shutil.disk_usage(folder).free < _LITTLE_SPACE
    except OSError:
        return False


def check_open_files(error: BaseException) -> None:
    """Raise StoreError if an error means that this process may open no further file, which says nothing about the file.
    Libraries tell it only in their message, and SQLite not at all: then it is tried.
    """
    text = str(error).lower()
    told = getattr(error, "errno", None) in (errno.EMFILE, errno.ENFILE) or "too many open files" in text
    if told or ("unable to open" in text and not _can_open(_OPENED_BY_SQLITE)):
        raise StoreError(
            "too many open files: the limit of this process or of the machine is reached; allow more (ulimit -n 1024) or"
            " close some, and try again"
        ) from error


def _can_open(count: int) -> bool:
    """Whether as many files can be opened now."""
    opened: list[int] = []
    try:
        opened.extend(os.open(os.devnull, os.O_RDONLY) for _ in range(count))
    except OSError:
        return False
    finally:
        for number in opened:
            os.close(number)
    return True


def link_or_copy(source: Path, target: Path) -> None:
    """Create a hard link to a file that will not be written again, or a copy if the file system has no links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def write_manifest(folder: Path, facts: dict[str, Any]) -> None:
    """Write facts and the size, time and checksum of every file. All files are on disk when this returns."""
    entries = {}
    for path in _files(folder):
        with path.open("rb") as file:
            checksum = _checksum(path)
            os.fsync(file.fileno())
        status = path.stat()
        entries[path.relative_to(folder).as_posix()] = [status.st_size, status.st_mtime_ns, checksum]
    with (folder / MANIFEST).open("w", encoding="utf-8") as file:
        json.dump({**facts, "files": entries}, file, indent=1, sort_keys=True)
        file.flush()
        os.fsync(file.fileno())


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the facts of a folder, or None if a file is missing or was changed.

    A file whose size and time match is trusted. If only the time differs (a copied store), its checksum is compared
    and the recorded time restored, so that this happens only once.
    """
    try:
        facts: dict[str, Any] = json.loads((folder / MANIFEST).read_text("utf-8"))
        for name, (size, time, checksum) in facts["files"].items():
            path = folder / name
            status = path.stat()
            if status.st_size != size:
                return None
            if status.st_mtime_ns != time:
                if _checksum(path) != checksum:
                    return None
                with suppress(OSError):  # on a read-only file system it is compared every time
                    os.utime(path, ns=(time, time))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        check_open_files(error)
        return None
    return facts


def damaged_files(folder: Path) -> list[str]:
    """Return the names of files that are missing or differ from their checksums, or the manifest itself if it is
    unreadable. Times are ignored.
    """
    try:
        files = json.loads((folder / MANIFEST).read_text("utf-8"))["files"]
        return [name for name, (size, _, checksum) in files.items() if not _is(folder / name, size, checksum)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return [MANIFEST]


def _is(path: Path, size: int, checksum: int) -> bool:
    try:
        return path.stat().st_size == size and _checksum(path) == checksum
    except OSError:
        return False


def _files(folder: Path) -> list[Path]:
    """Return the files below a folder, without tantivy's lock files (hidden and empty)."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(".lock"))


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            checksum = zlib.crc32(block, checksum)
    return checksum
