"""The folder of an export: its parts, and the manifest that lists them.

A part is a folder of its own, written under another name and renamed when it is complete. The manifest records what it
was made from, so that a repeated export writes only what is missing or has changed. ``import.json``, without which
nothing is imported, is deleted first and written last.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from io import BufferedWriter
from pathlib import Path
from typing import Any

from trivium.common.files import TEMPORARY, is_full_disk, replacing
from trivium.errors import StoreError

IMPORT = "import.json"
"""What ``tools/neo4j/server import`` reads: the arguments of neo4j-admin."""
MANIFEST = "export.json"
UNFINISHED = ".unfinished"
SUFFIX = ".csv"


@dataclass(frozen=True, slots=True)
class File:
    """A file of a part: how many lines and bytes it has, and how many characters its longest line."""

    lines: int
    bytes: int
    longest: int


@dataclass(frozen=True, slots=True)
class Finished:
    """A part that is done. ``digest`` is of everything it was made from; ``files`` are by name of the table."""

    digest: str
    files: Mapping[str, File]


class Part:
    """A part being written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, BufferedWriter] = {}
        self._lines: dict[str, int] = {}
        self._longest: dict[str, int] = {}

    def write(self, table: str, lines: Iterable[str]) -> None:
        """Add lines to the file of a table, which is there from the first line on."""
        listed = list(lines)
        if not listed:
            return
        if table not in self._files:
            self._files[table] = (self._folder / f"{table}{SUFFIX}").open("wb")
        self._files[table].write("".join(listed).encode())
        self._lines[table] = self._lines.get(table, 0) + len(listed)
        self._longest[table] = max(self._longest.get(table, 0), max(map(len, listed)))

    def finish(self) -> dict[str, File]:
        """Flush everything to the disk. Returns what the files are."""
        found = {}
        for table, file in self._files.items():
            file.flush()
            os.fsync(file.fileno())
            found[table] = File(self._lines[table], file.tell(), self._longest[table])
            file.close()
        return found

    def abandon(self) -> None:
        """Close the files without writing what they still hold, for which there may be no room."""
        for file in self._files.values():
            file.raw.close()


@dataclass(slots=True)
class Folder:
    """An export. ``parts`` are those that are done, of this export or of one before it."""

    path: Path
    parts: dict[str, Finished] = field(default_factory=dict)

    def begin(self) -> None:
        """Make sure that nothing imports the folder before :meth:`finish`."""
        (self.path / IMPORT).unlink(missing_ok=True)
        for left in (*self.path.glob(f"*{UNFINISHED}"), *self.path.glob(f".*{TEMPORARY}")):
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        self._save()

    def keeps(self, name: str, digest: str) -> bool:
        """Whether a part is there already, made from the same data."""
        part = self.parts.get(name)
        return part is not None and part.digest == digest and self._whole(name, part)

    @contextmanager
    def part(self, name: str, digest: str) -> Iterator[Part]:
        """A part to write. It exists once the block has ended; if the block raises, nothing is left of it."""
        unfinished = self.path / f"{name}{UNFINISHED}"
        self._remove(name)
        shutil.rmtree(unfinished, ignore_errors=True)  # of a process that was killed
        unfinished.mkdir()
        part = Part(unfinished)
        try:
            yield part
            files = part.finish()
        except BaseException:
            part.abandon()
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
        # In the manifest before it exists: an entry without files is noticed, files without an entry would stay for ever.
        self.parts[name] = Finished(digest, files)
        self._save()
        unfinished.rename(self.path / name)

    def keep(self, names: Iterable[str]) -> None:
        """Delete all other parts."""
        wanted = set(names)
        for name in [name for name in self.parts if name not in wanted]:
            self._remove(name)

    def finish(self, arguments: list[str]) -> None:
        """Write the file that says how the parts are imported."""
        _replace(self.path / IMPORT, {"arguments": arguments})

    def _remove(self, name: str) -> None:
        if name in self.parts:
            shutil.rmtree(self.path / name, ignore_errors=True)
            del self.parts[name]
            self._save()

    def _whole(self, name: str, part: Finished) -> bool:
        files = {self.path / name / f"{table}{SUFFIX}": file.bytes for table, file in part.files.items()}
        return all(path.is_file() and path.stat().st_size == size for path, size in files.items())

    def _save(self) -> None:
        _replace(
            self.path / MANIFEST, {"parts": {name: asdict(part) for name, part in sorted(self.parts.items())}}
        )


def open_folder(path: Path) -> Folder:
    """The export in a folder, or an empty one in a new or empty folder. Raises StoreError for anything else."""
    if path.exists() and not path.is_dir():
        raise StoreError(f"expected a folder for the bulk files, got a file: {path}")
    path.mkdir(parents=True, exist_ok=True)
    manifest = path / MANIFEST
    if not manifest.is_file():
        if any(not entry.name.startswith(f".{MANIFEST}.") for entry in path.iterdir()):
            raise StoreError(
                f"expected a new or empty folder for the bulk files, got {path} with other files in it"
            )
        return Folder(path)
    try:
        parts = json.loads(manifest.read_text("utf-8"))["parts"]
        return Folder(path, {name: _finished(part) for name, part in parts.items()})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(
            f"{manifest} is not the manifest of bulk files: delete the folder, or name another"
        ) from error


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise errors of this package for those of the file system."""
    try:
        yield
    except OSError as error:
        if is_full_disk(error):
            raise StoreError(
                f"there is no space left for the bulk files in {path}: make room and repeat the command, what is"
                " done stays"
            ) from error
        raise StoreError(f"the bulk files in {path} cannot be written: {error.strerror or error}") from error


def _finished(part: Mapping[str, Any]) -> Finished:
    return Finished(str(part["digest"]), {table: File(**file) for table, file in part["files"].items()})


def _replace(path: Path, content: object) -> None:
    """Replace a JSON file by a new one, or leave it as it was."""
    with replacing(path) as file:
        file.write(f"{json.dumps(content, indent=1)}\n".encode())
