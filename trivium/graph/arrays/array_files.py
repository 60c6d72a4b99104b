"""Arrays in files, and lists of rows per row as compressed sparse rows; the folder of such files: hard links, read-only
detection, and manifests with checksums.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import expand_ranges
from trivium.errors import StoreError
from trivium.graph.arrays.row_moves import Moves, are_short

Rows = NDArray[np.int64]
Arrays = dict[str, NDArray[Any]]
"""Arrays by name."""


def find_sorted(numbers: Rows, wanted: Rows) -> Rows:
    """Places of numbers among ascending ones, -1 where they are not there."""
    if not len(numbers):
        return np.full(len(wanted), -1, dtype=np.int64)
    places = np.minimum(np.searchsorted(numbers, wanted), len(numbers) - 1)
    found: Rows = np.where(numbers[places] == wanted, places, -1)
    return found


def distinct(rows: NDArray[np.integer[Any]], count: int) -> Rows:
    """Return the distinct ones among row numbers (n,) of a table of ``count`` rows, ascending, without -1. Of many rows
    ``np.unique`` takes several times as long.
    """
    there = np.zeros(count + 1, dtype=bool)
    there[rows] = True
    found: Rows = np.flatnonzero(there[:-1])
    return found


def save_arrays(folder: Path, name: str, arrays: Arrays) -> None:
    """Write arrays as ``name``.npz."""
    # numpy's stub takes the arrays for its own flag
    np.savez(folder / f"{name}.npz", **arrays)  # type: ignore[arg-type]


def load_arrays(folder: Path, name: str) -> Arrays:
    """Read what :func:`save_arrays` wrote."""
    with np.load(folder / f"{name}.npz", allow_pickle=False) as archive:
        return dict(archive)


def save_array(folder: Path, name: str, array: NDArray[Any]) -> None:
    """Write an array as ``name``.npy."""
    np.save(folder / f"{name}.npy", array, allow_pickle=False)


def new_array(
    folder: Path, name: str, shape: tuple[int, ...], dtype: type[np.generic]
) -> np.memmap[Any, Any]:
    """A file ``name``.npy mapped into memory, to be filled. Its space is taken at once: a process that writes to a mapped
    file for which there is no room is ended by the system. Raises OSError where the disk is full."""
    path = folder / f"{name}.npy"
    array: np.memmap[Any, Any] = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    return array


def load_array(folder: Path, name: str) -> NDArray[Any]:
    """Map an array written by :func:`save_array` into memory."""
    path = folder / f"{name}.npy"
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return array.view(np.ndarray)


@dataclass(frozen=True, slots=True)
class Stacked:
    """Two arrays one above the other as if they were one: the ``upper`` may be a file that is mapped into memory, and is
    not copied when rows are added."""

    upper: NDArray[Any]
    lower: NDArray[Any]

    @classmethod
    def of(cls, array: NDArray[Any]) -> Stacked:
        """One array alone."""
        return cls(array, array[:0])

    def __len__(self) -> int:
        return len(self.upper) + len(self.lower)

    def grown(self, more: NDArray[Any]) -> Stacked:
        """With more rows below."""
        return Stacked(self.upper, np.concatenate([self.lower, more.astype(self.lower.dtype, copy=False)]))

    def take(self, rows: Rows) -> NDArray[Any]:
        """The rows at these places (n,), in this order."""
        if self.are_above(rows):
            taken: NDArray[Any] = self.upper[rows]
            return taken
        taken = np.empty((len(rows), *self.lower.shape[1:]), dtype=self.lower.dtype)
        for chosen, array, places in self.split(rows):
            taken[chosen] = array[places]
        return taken

    def are_above(self, rows: Rows) -> bool:
        """Whether all these rows (n,) are in the upper array, as nearly all are."""
        return len(self.lower) == 0 or not (rows >= len(self.upper)).any()

    def split(self, rows: Rows) -> Iterator[tuple[NDArray[np.bool_], NDArray[Any], Rows]]:
        """For each of the two arrays that some of the rows (n,) are in: which of them (n,), the array, and their places
        in it. Row -1 goes with the upper one, as it is."""
        below = rows >= len(self.upper)
        if not below.all():
            yield ~below, self.upper, rows[~below]
        if below.any():
            yield below, self.lower, rows[below] - len(self.upper)


@dataclass(frozen=True, slots=True)
class Csr:
    """``indices[indptr[i]:indptr[i + 1]]`` are the entries of row i, in a meaningful order."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]

    def row(self, row: int) -> NDArray[np.int32]:
        """Entries of one row."""
        return self.indices[self.indptr[row] : self.indptr[row + 1]]

    def rows(self, rows: Rows) -> tuple[NDArray[np.int32], Rows]:
        """Entries of several rows one after the other, and how many each has."""
        counts = self.indptr[rows + 1] - self.indptr[rows]
        _, places = expand_ranges(self.indptr[rows], counts)
        return self.indices[places], counts

    def patched(self, owners: Moves, entries: Moves, replaced: Mapping[int, NDArray[np.integer[Any]]]) -> Csr:
        """Return the lists after changes: those of the rows that ``owners`` says, in the same order, without the
        entries that ``entries`` removes. Rows ``replaced`` (by their new number) have other lists, and added rows that
        are not among them empty ones. Lists between two changes are copied together.
        """
        lists = {**dict.fromkeys(owners.added.tolist(), self.indices[:0]), **replaced}
        losing = np.unique(np.searchsorted(self.indptr, entries.removed_in(self.indices), side="right") - 1)
        for old, new in zip(losing.tolist(), owners.follow(losing).tolist(), strict=True):
            if new >= 0 and new not in lists:
                left = entries.follow(self.row(old))
                lists[new] = left[left >= 0]
        if not lists and owners.unchanged and entries.stays:
            return self

        kept = owners.replacing(np.array(sorted(lists), dtype=np.int64))
        first, last = self.indptr[kept.begins], self.indptr[kept.ends]
        together = are_short(len(first), len(self.indices), followed=True)
        followed = entries.follow(self.indices) if together else None
        indices = np.empty(int((last - first).sum()) + sum(map(len, lists.values())), dtype=np.int32)
        indptr = np.zeros(owners.after + 1, dtype=np.int64)
        filled = 0
        for row, begin, end in kept.pieces():
            if begin < 0:
                indices[filled : filled + len(lists[row])] = lists[row]
                filled += len(lists[row])
                indptr[row + 1] = filled
                continue
            start, stop = int(self.indptr[begin]), int(self.indptr[end])
            np.add(
                self.indptr[begin + 1 : end + 1], filled - start, out=indptr[row + 1 : row + 1 + end - begin]
            )
            own = indices[filled : filled + stop - start]
            if followed is None:
                entries.follow(self.indices[start:stop], own)
            else:
                own[:] = followed[start:stop]
            filled += stop - start
        return Csr(indptr, indices)


def group(owners: Rows, entries: Rows, count: int) -> Csr:
    """Entries by owner (0..count-1), in the order given within each owner."""
    order = np.argsort(owners, kind="stable")
    indptr = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(owners, minlength=count), out=indptr[1:])
    return Csr(indptr, entries[order].astype(np.int32))


def pack_csr(name: str, csr: Csr) -> Arrays:
    """Both arrays under their names, to save."""
    return {f"{name}.indptr": csr.indptr, f"{name}.indices": csr.indices}


def unpack_csr(name: str, arrays: Arrays) -> Csr:
    """What :func:`pack_csr` made arrays of."""
    return Csr(arrays[f"{name}.indptr"], arrays[f"{name}.indices"])


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
