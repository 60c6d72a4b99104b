"""The folder of an export: one file a table, and ``import.json``, without which nothing is imported.

That file is deleted first and written last, so nothing imports half of an export.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from io import BufferedWriter
from itertools import islice
from pathlib import Path

from trivium.common.safe_files import TEMPORARY, is_full_disk, replacing
from trivium.errors import StoreError
from trivium.graph.neo4j_import.tables import NODES, RELATIONSHIPS, headers

IMPORT = "import.json"
"""What ``tools/neo4j/server import`` reads: the arguments of neo4j-admin."""
HEADERS = "headers"
"""The folder with one header a table, and one more where a table is read backwards."""
SUFFIX = ".csv"
LINES_A_WRITE = 20_000
_TABLES = frozenset(f"{table.name}{SUFFIX}" for table in (*NODES, *RELATIONSHIPS))


@dataclass(slots=True)
class File:
    """A file: how many lines and bytes it has, and how many characters its longest line."""

    lines: int = 0
    bytes: int = 0
    longest: int = 0


class Files:
    """An export that is being written. ``files`` are by name of the table, each there from its first line on."""

    def __init__(self, folder: Path) -> None:
        self.files: dict[str, File] = {}
        self._folder = folder
        self._open: dict[str, BufferedWriter] = {}
        self._hash = blake2b(digest_size=16)

    @property
    def digest(self) -> bytes:
        """Identifies everything written so far."""
        return self._hash.digest()

    def write(self, table: str, lines: Iterable[str]) -> Iterator[int]:
        """Add lines to the file of a table, and yield how many were added, some at a time."""
        rest = iter(lines)
        while some := list(islice(rest, LINES_A_WRITE)):
            if table not in self._open:
                self._open[table] = (self._folder / f"{table}{SUFFIX}").open("wb")
            data = "".join(some).encode()
            self._open[table].write(data)
            self._hash.update(data)
            file = self.files.setdefault(table, File())
            file.lines += len(some)
            file.bytes += len(data)
            file.longest = max(file.longest, max(map(len, some)))
            yield len(some)

    def begin(self) -> None:
        """Write the headers, by which the folder is known to be an export."""
        _clear(self._folder)
        (self._folder / HEADERS).mkdir()
        for name, line in headers():
            (self._folder / HEADERS / f"{name}{SUFFIX}").write_text(line, "utf-8")

    def finish(self, arguments: list[str]) -> None:
        """Flush everything to the disk, and write the file that says how it is imported."""
        for file in self._open.values():
            file.flush()
            os.fsync(file.fileno())
            file.close()
        with replacing(self._folder / IMPORT) as target:
            target.write(f"{json.dumps({'arguments': arguments}, indent=1)}\n".encode())

    def abandon(self) -> None:
        """Remove what was written, without writing what is still in memory: there may be no room for it."""
        for file in self._open.values():
            file.raw.close()
        _clear(self._folder)


@contextmanager
def new_files(folder: Path) -> Iterator[Files]:
    """The files of an export in a new or empty folder, or in that of an earlier export, which goes. If the block raises,
    no file is left. Raises StoreError for a folder with something else, and where there is no room.
    """
    try:
        _check(folder)
        folder.mkdir(parents=True, exist_ok=True)
        files = Files(folder)
        try:
            files.begin()
            yield files
        except BaseException:
            files.abandon()
            raise
    except OSError as error:
        if is_full_disk(error):
            raise StoreError(
                f"there is no space left for the bulk files in {folder}: make room and repeat the command"
            ) from error
        raise StoreError(
            f"the bulk files in {folder} cannot be written: {error.strerror or error}"
        ) from error


def _check(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise StoreError(f"expected a folder for the bulk files, got a file: {folder}")
    there = list(folder.iterdir()) if folder.exists() else []
    ours = (folder / HEADERS).is_dir() and all(_is_ours(path) for path in there)
    if there and not ours:
        raise StoreError(
            f"expected a new or empty folder for the bulk files, got {folder} with other files in it"
        )


def _is_ours(path: Path) -> bool:
    left = path.name.startswith(f".{IMPORT}.") and path.name.endswith(
        TEMPORARY
    )  # of a process that was killed
    return left or path.name in (IMPORT, HEADERS, *_TABLES)


def _clear(folder: Path) -> None:
    """Remove the files of an export, first that without which it cannot be imported, last that by which it is known."""
    (folder / IMPORT).unlink(missing_ok=True)
    for path in folder.iterdir():
        if path.name != HEADERS and _is_ours(path):
            path.unlink()
    shutil.rmtree(folder / HEADERS, ignore_errors=True)
