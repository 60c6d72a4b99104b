"""Connections to the database of a store, and what SQLite's errors mean to its user."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import ClassVar

from trivium.errors import StoreBusyError, StoreError, StoreFormatError, StoreNotFoundError
from trivium.graph.embedded.upgrade import schema_version, stand_in, upgrade
from trivium.graph.schema import SCHEMA_VERSION

DATABASE = "graph.db"
APPLICATION_ID = 0x54524956
"""Marks an SQLite file as Trivium's ("TRIV")."""
BUSY_SECONDS = 5.0
"""How long a write waits for another process to finish its transaction."""
WRITE_CACHE_KIB = 262_144
"""Page cache of a connection that writes: the indexes of a large load fit in it. Readers have a quarter."""
OLDEST_SQLITE = (3, 37, 0)
"""STRICT tables came with this version."""

Connection = sqlite3.Connection


def as_json(values: Iterable[int | str]) -> str:
    """Values as one parameter of ``json_each(?)``: any number of them, one prepared statement."""
    return json.dumps(list(values))


@contextmanager
def translated(folder: Path) -> Iterator[None]:
    """Turn what SQLite raises into errors of this package."""
    try:
        yield
    except sqlite3.OperationalError as error:
        name = getattr(error, "sqlite_errorname", "") or ""
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            raise StoreBusyError(
                f"another process is writing to the store at {folder}; waited {BUSY_SECONDS:g} s, "
                "nothing was changed; try again when it has finished"
            ) from error
        if name.startswith("SQLITE_READONLY"):
            raise StoreError(
                f"the store at {folder} cannot be written: it was opened for reading only, or its folder is not "
                "writable (SQLite needs to write beside the database even to read it); make a writable copy"
            ) from error
        raise StoreError(f"the database of the store at {folder} failed: {error}") from error
    except sqlite3.IntegrityError as error:
        raise StoreError(
            f"the pages do not make one graph ({error}); every section, chunk and page needs a uri of its "
            "own and values of the types of trivium.graph.model; nothing was changed"
        ) from error
    except sqlite3.DatabaseError as error:
        raise StoreFormatError(
            f"the database of the store at {folder} is damaged or no database: {error}; build the store again"
        ) from error
    except UnicodeEncodeError as error:
        raise StoreError(
            f"expected valid Unicode, got a text with a lone surrogate: {error.object[:60]!r}"
        ) from error


class Database:
    """The SQLite file of a store. Reads borrow a connection from a pool, so that any number of threads may
    read at once; one connection writes at a time."""

    fixed: ClassVar[bool] = False
    """Whether all its reads see one state."""

    def __init__(self, folder: Path, *, read_only: bool) -> None:
        self.folder = folder
        self.read_only = read_only
        self._idle: list[Connection] = []
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._closed = False

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection whose statements each see the last committed state."""
        with translated(self.folder):
            connection = self.borrow()
            try:
                yield connection
            finally:
                self.take_back(connection)

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A connection whose statements all see one committed state."""
        with self.reading() as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction: committed when the block ends, rolled back when it raises."""
        if self.read_only:
            raise StoreError(
                f"the store at {self.folder} was opened for reading only; open it without read_only"
            )
        with self._writing, self.reading() as connection:
            connection.execute(f"PRAGMA cache_size = -{WRITE_CACHE_KIB}")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close every idle connection; borrowed ones close when they come back."""
        with self._lock:
            self._closed = True
            for connection in self._idle:
                connection.close()
            self._idle.clear()

    def borrow(self) -> Connection:
        """A connection out of the pool, or a new one; for :meth:`take_back`."""
        with self._lock:
            if self._closed:
                raise StoreError(f"the store at {self.folder} is closed")
            if self._idle:
                return self._idle.pop()
        return self._connect()

    def take_back(self, connection: Connection) -> None:
        """Put a borrowed connection into the pool; it must not be in a transaction."""
        with self._lock:
            if self._closed:
                connection.close()
            else:
                self._idle.append(connection)

    def _connect(self) -> Connection:
        mode = "ro" if self.read_only else "rw"
        connection = sqlite3.connect(
            f"{(self.folder / DATABASE).resolve().as_uri()}?mode={mode}",
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.executescript(
            "PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536;"
            "PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 8000;"
        )
        if self.read_only:
            stand_in(connection)
        return connection


def create_database(folder: Path) -> Database:
    """An empty store in a new or empty folder. Raises StoreError where there is something already."""
    _check_sqlite()
    try:
        occupied = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
        if not occupied:
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"a store cannot be made at {folder}: {error.strerror or error}") from error
    if occupied:
        raise StoreError(
            f"expected a new or empty folder for the store, got {folder}; open it, or name another"
        )
    with translated(folder):
        connection = sqlite3.connect(folder / DATABASE, isolation_level=None)
        try:
            connection.executescript("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL;")
            connection.executescript(
                f"BEGIN; {files(__package__).joinpath('schema.sql').read_text('utf-8')}"
                f"PRAGMA user_version = {SCHEMA_VERSION}; PRAGMA application_id = {APPLICATION_ID}; COMMIT;"
            )
        finally:
            connection.close()
    return Database(folder, read_only=False)


def open_database(folder: Path, *, read_only: bool) -> Database:
    """The database of an existing store; one of an earlier version is upgraded unless it is opened for reading
    only. Raises StoreNotFoundError and StoreFormatError."""
    _check_sqlite()
    if not folder.exists():
        raise StoreNotFoundError(
            f"there is no store at {folder}; create one with  trivium build --store {folder}"
        )
    if not folder.is_dir():
        raise StoreFormatError(f"expected the folder of a store, got a file: {folder}")
    if not (folder / DATABASE).is_file():
        raise StoreNotFoundError(f"there is no store at {folder}: the folder holds no {DATABASE}")
    database = Database(folder, read_only=read_only)
    try:
        with database.reading() as connection:
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            version = schema_version(connection)
            if application != APPLICATION_ID:
                raise StoreFormatError(
                    f"{folder / DATABASE} is an SQLite database, but not of a Trivium store"
                )
            if not 1 <= version <= SCHEMA_VERSION:
                raise StoreFormatError(
                    f"the store at {folder} has schema version {version}, this program reads versions 1 to "
                    f"{SCHEMA_VERSION}; use a newer program, or build the store again"
                )
            connection.execute("SELECT count(*) FROM generation").fetchone()
        if version < SCHEMA_VERSION and not read_only:
            with database.writing() as connection:
                upgrade(connection)
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
