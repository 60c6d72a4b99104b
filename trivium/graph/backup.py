"""A store in a folder as one file, and back: a zip archive with the database and a manifest that holds its checksum.

SQLite copies the database within one read transaction, so concurrent writes are not included.
"""

from __future__ import annotations

import sqlite3
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from trivium.common.progress import Progress
from trivium.common.safe_files import replacing, scratch_folder, writing_new_file
from trivium.errors import InputError, StoreError, StoreFormatError
from trivium.graph.open_store import is_address
from trivium.graph.schema import SCHEMA_VERSION
from trivium.graph.sqlite.connection import DATABASE, Connection
from trivium.graph.sqlite.open_database import check_new_folder, open_database, schema_version
from trivium.graph.sqlite.store_state import current_state

FORMAT = 1
"""Raised when the meaning of the archive changes. Archives of other formats are rejected."""
_MANIFEST = "manifest.json"
_MANIFEST_BYTES = 1 << 16
_PAGES_A_STEP = 2_000
_BLOCK = 1 << 20
_LEVEL = 1
"""Compression level: the fastest."""


class Manifest(BaseModel):
    """The manifest of an archive. ``state`` is the name of the committed state, ``size`` the size of the database in
    bytes, ``digest`` its 256-bit BLAKE2b hash.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: int
    schema_version: int
    state: str
    size: int = Field(ge=0)
    digest: str


@dataclass(frozen=True, slots=True)
class BackupReport:
    """A backup that was written or restored: its file, the state of the store it holds, and the sizes of the database
    and the file in bytes.
    """

    file: Path
    state: str
    database_bytes: int
    file_bytes: int


def back_up(store: str | Path, file: str | Path, progress: Progress | None = None) -> BackupReport:
    """Write the store in a folder, as it is committed now, to one file, which is there whole or not at all; an earlier
    one is replaced. Others may read and write the store meanwhile. Derived files are left out: they are made again.

    ``progress`` counts bytes. Raises InputError for the address of a server, and where the file cannot be written;
    StoreNotFoundError, and StoreFormatError for a damaged store.
    """
    _refuse_address(store)
    file = Path(file)
    with (
        closing(open_database(Path(store), read_only=True)) as database,
        _writing_errors(file),
        scratch_folder(file) as scratch,
    ):
        copy = scratch / DATABASE
        with database.reading_one_state() as connection:
            state, version = current_state(connection), schema_version(connection)
            _copy_database(connection, copy, progress)
        with replacing(file) as archive:
            manifest = _pack(copy, archive, state, version, progress)
    return BackupReport(file, state, manifest.size, file.stat().st_size)


def restore(file: str | Path, store: str | Path, progress: Progress | None = None) -> BackupReport:
    """Make a store in a new or empty folder of what :func:`back_up` wrote. It is there whole or not at all.

    Raises InputError for a file that is no backup or is damaged, StoreError where there is something in the folder.
    """
    _refuse_address(store)
    file, folder = Path(file), Path(store)
    with _reading_errors(file), zipfile.ZipFile(file) as archive:
        manifest = _read_manifest(archive, file)
        check_new_folder(folder)
        is_new = not folder.exists()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with _writing_errors(folder), writing_new_file(folder / DATABASE) as target:
                _unpack(archive, target, manifest, file, progress)
        except FileExistsError as error:
            raise StoreError(f"another process has just made a store at {folder}") from error
        except BaseException:
            if is_new:
                with suppress(OSError):
                    folder.rmdir()
            raise
    return BackupReport(file, manifest.state, manifest.size, file.stat().st_size)


def _refuse_address(store: str | Path) -> None:
    if is_address(store):
        raise InputError(
            f"expected a folder, got {store}: a database of Neo4j is backed up with the server's own"
            "  neo4j-admin database dump  (and  load),  or as files for another one with  trivium export FOLDER"
            f" --store {store}"
        )


def _copy_database(connection: Connection, copy: Path, progress: Progress | None) -> None:
    def step(_status: int, remaining: int, total: int) -> None:
        if progress is not None:
            progress(total - remaining, 2 * total)

    with closing(sqlite3.connect(copy)) as target:
        # No durability needed: after an interruption the copy is made from scratch.
        target.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
        try:
            connection.backup(target, pages=_PAGES_A_STEP, progress=step)
        except sqlite3.OperationalError as error:
            raise OSError(f"the database cannot be copied to {copy.parent}: {error}") from error


def _pack(copy: Path, archive: BinaryIO, state: str, version: int, progress: Progress | None) -> Manifest:
    digest, size = blake2b(digest_size=32), copy.stat().st_size
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as packed:
        with copy.open("rb") as source, packed.open(DATABASE, "w", force_zip64=True) as member:
            while block := source.read(_BLOCK):
                digest.update(block)
                member.write(block)
                if progress is not None:
                    progress(size + source.tell(), 2 * size)
        manifest = Manifest(
            format=FORMAT, schema_version=version, state=state, size=size, digest=digest.hexdigest()
        )
        packed.writestr(_MANIFEST, manifest.model_dump_json(indent=1))
    return manifest


def _read_manifest(archive: zipfile.ZipFile, file: Path) -> Manifest:
    names = sorted(archive.namelist())
    if names != sorted([DATABASE, _MANIFEST]):
        raise InputError(
            f"{file}: expected a backup of a store, with {DATABASE} and {_MANIFEST} in it and nothing else, got an"
            f" archive of {len(names)} files"
        )
    try:
        with archive.open(_MANIFEST) as member:
            manifest = Manifest.model_validate_json(member.read(_MANIFEST_BYTES))
    except ValidationError as error:
        raise _damaged(file, f"its {_MANIFEST} is not what was written") from error
    if manifest.format != FORMAT or manifest.schema_version != SCHEMA_VERSION:
        raise StoreFormatError(
            f"{file} is a backup of format {manifest.format} with a store of schema version {manifest.schema_version};"
            f" this program reads format {FORMAT} and version {SCHEMA_VERSION}: use the program that made it"
        )
    return manifest


def _unpack(
    archive: zipfile.ZipFile, target: BinaryIO, manifest: Manifest, file: Path, progress: Progress | None
) -> None:
    digest, size = blake2b(digest_size=32), 0
    with archive.open(DATABASE) as member:
        while block := member.read(_BLOCK):
            digest.update(block)
            size += len(block)
            if size > manifest.size:
                break
            target.write(block)
            if progress is not None:
                progress(size, manifest.size)
    if (size, digest.hexdigest()) != (manifest.size, manifest.digest):
        raise _damaged(file, "the database in it is not the one that was written")


def _damaged(file: Path, problem: str) -> InputError:
    return InputError(f"{file} is no backup of a store, or a damaged one: {problem}; use another backup")


@contextmanager
def _reading_errors(file: Path) -> Iterator[None]:
    try:
        yield
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
        struct.error,
    ) as error:
        raise _damaged(file, str(error)) from error
    except OSError as error:
        raise InputError(f"{file}: expected a readable backup, got {error.strerror or error}") from error


@contextmanager
def _writing_errors(place: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        raise InputError(f"{place} cannot be written: {error.strerror or error}") from error
