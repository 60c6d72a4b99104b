"""Creates and opens the database of a store. One of another version is refused, not upgraded."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

from trivium.common.safe_files import TEMPORARY, is_full_disk, write_new_file
from trivium.errors import StoreError, StoreFormatError, StoreNotFoundError
from trivium.graph.schema import SCHEMA_VERSION
from trivium.graph.sqlite.connection import DATABASE, Database, translated

APPLICATION_ID = 0x54524956
"""Marks an SQLite file as a Trivium store ("TRIV")."""
OLDEST_SQLITE = (3, 37, 0)
"""The first version with STRICT tables."""


def schema_script() -> str:
    """Return the script that creates an empty database of this version."""
    return files(__package__).joinpath("schema.sql").read_text("utf-8")


def schema_version(connection: sqlite3.Connection) -> int:
    """Return the schema version that a database was created with."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def create_database(folder: Path) -> Database:
    """Create an empty store in a new or empty folder. The database appears atomically, even if the process is killed.
    Raises StoreError if the folder is not empty.
    """
    _check_sqlite()
    with translated(folder):
        empty = _empty_database()
    was_there = folder.exists()
    try:
        check_new_folder(folder)
        folder.mkdir(parents=True, exist_ok=True)
        write_new_file(folder / DATABASE, empty)
    except OSError as error:
        # A process that has just created a store here leaves a file in the way, or has removed a temporary one.
        if isinstance(error, FileExistsError | FileNotFoundError) and folder.exists():
            raise _taken(folder) from error
        if not was_there:
            with suppress(OSError):
                folder.rmdir()
        way_out = ": free space there and try again" if is_full_disk(error) else ""
        raise StoreError(f"a store cannot be made at {folder}: {error.strerror or error}{way_out}") from error
    return open_database(folder, read_only=False)


def check_new_folder(folder: Path) -> None:
    """Raise StoreError unless a store can be created in the folder: it must not exist or be empty."""
    if folder.exists() and (not folder.is_dir() or any(not _left_behind(path) for path in folder.iterdir())):
        raise _taken(folder)


def _taken(folder: Path) -> StoreError:
    if not folder.is_dir():
        return StoreError(
            f"expected a new or empty folder for the store, got the file {folder}: name another"
        )
    what = "which has a store" if (folder / DATABASE).exists() else "with other files in it"
    return StoreError(f"expected a new or empty folder for the store, got {folder}, {what}: name another")


def _left_behind(path: Path) -> bool:
    """Whether a file is a temporary empty database, perhaps left by a killed process."""
    return path.name.startswith(f".{DATABASE}.") and path.name.endswith(TEMPORARY)


def _empty_database() -> bytes:
    """Return the bytes of a database without rows, in SQLite's WAL mode."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.executescript(
            f"PRAGMA page_size = 8192; BEGIN; {schema_script()}"
            f"PRAGMA user_version = {SCHEMA_VERSION}; PRAGMA application_id = {APPLICATION_ID}; COMMIT;"
        )
        content = bytearray(connection.serialize())
    finally:
        connection.close()
    # File format versions for writing and reading; 2 means WAL (https://sqlite.org/fileformat.html, 1.3.4).
    content[18:20] = b"\x02\x02"
    return bytes(content)


def open_database(folder: Path, *, read_only: bool) -> Database:
    """Open the database of an existing store. Raises StoreNotFoundError and StoreFormatError, the latter
    also for one of another version.
    """
    _check_sqlite()
    if not folder.exists():
        raise StoreNotFoundError(
            f"there is no store at {folder}; create one with  trivium build SOURCE --store {folder}"
        )
    if not folder.is_dir():
        raise StoreFormatError(f"expected the folder of a store, got a file: {folder}")
    if not (folder / DATABASE).is_file():
        raise StoreNotFoundError(f"there is no store at {folder}: the folder holds no {DATABASE}")
    if not read_only:
        for path in filter(_left_behind, list(folder.iterdir())):
            with suppress(OSError):
                path.unlink()
    database = Database(folder, read_only=read_only)
    try:
        with database.reading() as connection:
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            version = schema_version(connection)
            if application != APPLICATION_ID:
                raise StoreFormatError(
                    f"{folder / DATABASE} is an SQLite database, but not of a Trivium store"
                )
            if version != SCHEMA_VERSION:
                raise StoreFormatError(
                    f"the store at {folder} has schema version {version}, this program reads version {SCHEMA_VERSION}:"
                    " use the program that made it, or build the store again"
                )
            connection.execute("SELECT count(*) FROM generation").fetchone()
    except BaseException:
        database.close()
        raise
    return database


def _check_sqlite() -> None:
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        wanted = ".".join(map(str, OLDEST_SQLITE))
        raise StoreError(
            f"the embedded store needs SQLite {wanted}, this Python has {sqlite3.sqlite_version}"
        )
