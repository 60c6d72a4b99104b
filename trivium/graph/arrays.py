"""Arrays in files, and lists of rows per row as compressed sparse rows."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.common.ragged import expand_ranges

Rows = NDArray[np.int64]
Arrays = dict[str, NDArray[Any]]
"""Arrays by name."""


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
