"""Connections to the database of a store: pooling, and translation of errors."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trivium.errors import StoreBusyError, StoreError, StoreFormatError, StoreNotFoundError
from trivium.graph.arrays.array_files import Rows, cannot_change, check_open_files, is_full

DATABASE = "graph.db"
BUSY_SECONDS = 5.0
"""How long a write waits for the transaction of another process."""
_SIGNALS_MILLISECONDS = 100
"""How long SQLite itself waits when a write begins. No signal reaches Python meanwhile."""
READ_CACHE_KIB = 65_536
"""Page cache of a read connection."""
WRITE_CACHE_KIB = 98_304
"""Page cache of the write connection. A larger one did not speed up a load of 2,000 pages, and servers have 1 GB in
all.
"""
_OF_DAMAGE = ("SQLITE_ERROR", "SQLITE_CORRUPT", "SQLITE_NOTADB")
"""SQLite error names that indicate damage. SQLITE_ERROR normally means an invalid statement; since those of this
package are valid, the schema must be damaged.
"""
_UNREADABLE_TEXT = "Could not decode to UTF-8"

Connection = sqlite3.Connection


def as_json(values: Iterable[int | str]) -> str:
    """Encode values as one parameter for ``json_each(?)``, so that one prepared statement serves any number of
    values.
    """
    return json.dumps(list(values))


def is_busy(error: sqlite3.OperationalError) -> bool:
    """Whether another connection holds the lock."""
    # Errors raised by the sqlite3 module itself have no error name.
    return (getattr(error, "sqlite_errorname", None) or "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def damaged(folder: Path, error: BaseException) -> StoreFormatError:
    """Return the error for a damaged database."""
    return StoreFormatError(
        f"the database of the store at {folder} is damaged or no database ({error});  trivium check {folder} --repair"
        "  repairs what it can; otherwise restore a backup (trivium restore) or build the store again"
    )


def is_damaged(folder: Path) -> bool:
    """Whether SQLite reports the database as damaged. Reads the whole database."""
    try:
        with closing(
            sqlite3.connect(f"{(folder / DATABASE).resolve().as_uri()}?mode=ro", uri=True)
        ) as database:
            return [row[0] for row in database.execute("PRAGMA integrity_check(1)")] != ["ok"]
    except (
        sqlite3.DatabaseError,
        UnicodeDecodeError,
    ):  # the latter when a message quotes a damaged name
        return True


@contextmanager
def translated(folder: Path) -> Iterator[None]:
    """Translate errors of SQLite, and errors caused by a damaged database, to those of this package."""
    try:
        yield
    except sqlite3.OperationalError as error:
        check_open_files(error)
        name = getattr(error, "sqlite_errorname", "") or ""
        if str(error).startswith("no such module: fts5"):
            raise StoreError(
                "the embedded store needs SQLite with FTS5, which this Python was built without: use another build of"
                " Python, such as that of uv"
            ) from error
        if name in _OF_DAMAGE or str(error).startswith(_UNREADABLE_TEXT):
            raise damaged(folder, error) from error
        if is_busy(error):
            raise StoreBusyError(
                f"another process is writing to the store at {folder}; waited {BUSY_SECONDS:g} s, "
                "nothing was changed; try again when it has finished"
            ) from error
        if name.startswith("SQLITE_READONLY"):
            raise StoreError(
                f"the store at {folder} cannot be written: it was opened for reading only, or its folder is not "
                "writable (SQLite needs to write beside the database even to read it); make a writable copy"
            ) from error
        if name.startswith(("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_CANTOPEN")) and is_full(folder):
            raise StoreError(
                f"the disk of the store at {folder} is full ({error}); what was committed is safe: free space there and"
                " try again"
            ) from error
        raise StoreError(f"the database of the store at {folder} failed: {error}") from error
    except sqlite3.IntegrityError as error:
        raise StoreError(
            f"the pages do not make one graph ({error}); every section, chunk and page needs a uri of its "
            "own and values of the types of trivium.graph.page_graph; nothing was changed"
        ) from error
    except sqlite3.DatabaseError as error:
        raise damaged(folder, error) from error
    except UnicodeEncodeError as error:
        raise StoreError(
            f"expected valid Unicode, got a text with a lone surrogate: {error.object[:60]!r}"
        ) from error
    except (TypeError, ValueError, KeyError, IndexError) as error:
        check_open_files(error)
        # A damaged row may contain values of types that its table does not allow.
        if not is_damaged(folder):
            raise
        raise damaged(folder, error) from error


class Database:
    """The SQLite database of a store. Reads borrow a connection from a pool, so any number of threads can read
    concurrently. Writes use one separate connection with a larger cache, one thread at a time.
    """

    fixed: ClassVar[bool] = False
    """Whether all reads see the same state."""

    def __init__(self, folder: Path, *, read_only: bool) -> None:
        self.folder = folder
        self._immutable = cannot_change(folder)
        if self._immutable:
            _check_whole(folder)
        self.read_only = read_only or self._immutable
        self._idle: list[Connection] = []
        self._writer: Connection | None = None
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._closed = False

    def reading(self) -> AbstractContextManager[Connection]:
        """Borrow a connection on which each statement sees the latest committed state."""
        return self._borrowed()

    @contextmanager
    def _borrowed(self) -> Iterator[Connection]:
        with translated(self.folder):
            connection = self.borrow()
            try:
                yield connection
            finally:
                self.take_back(connection)

    @contextmanager
    def reading_one_state(self) -> Iterator[Connection]:
        """Borrow a connection on which all statements see the same committed state."""
        with self.reading() as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Run one transaction: committed at the end of the block, rolled back if it raises."""
        if self._immutable:
            raise StoreError(f"the store at {self.folder} is on a read-only file system: change a copy of it")
        if self.read_only:
            raise StoreError(
                f"the store at {self.folder} was opened for reading only; open it without read_only"
            )
        with self._writing, translated(self.folder), self._write_connection() as connection:
            _begin_writing(connection)
            try:
                if not (self.folder / DATABASE).exists():
                    raise StoreNotFoundError(f"the store at {self.folder} has been removed meanwhile")
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def _write_connection(self) -> Iterator[Connection]:
        """Borrow the write connection. It is kept between writes for its large cache and never lent to readers."""
        with self._lock:
            self._check_open()
            connection, self._writer = self._writer, None
        if connection is None:
            connection = self._connect()
            connection.execute(f"PRAGMA cache_size = -{WRITE_CACHE_KIB}")
            connection.execute(f"PRAGMA busy_timeout = {_SIGNALS_MILLISECONDS}")
        try:
            yield connection
        finally:
            with self._lock:
                if self._closed:
                    connection.close()
                else:
                    self._writer = connection

    def release_write_cache(self) -> None:
        """Free the memory of the write connection until the next write."""
        with self._lock:
            if self._writer is not None:
                self._writer.execute("PRAGMA shrink_memory")

    def close(self) -> None:
        """Close every idle connection. Borrowed ones are closed when returned."""
        with self._lock:
            self._closed = True
            for connection in self._idle:
                connection.close()
            self._idle.clear()
            if self._writer is not None:
                self._writer.close()
                self._writer = None

    def borrow(self) -> Connection:
        """Take a connection from the pool, or open one. Return it with :meth:`take_back`."""
        with self._lock:
            self._check_open()
            if self._idle:
                return self._idle.pop()
        return self._connect()

    def take_back(self, connection: Connection) -> None:
        """Return a borrowed connection, which must not be in a transaction, to the pool."""
        with self._lock:
            if self._closed:
                connection.close()
            else:
                self._idle.append(connection)

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"the store at {self.folder} is closed")

    def _connect(self) -> Connection:
        # Without "immutable" SQLite needs to write beside the database even to read it.
        mode = "ro&immutable=1" if self._immutable else "ro" if self.read_only else "rw"
        connection = sqlite3.connect(
            f"{(self.folder / DATABASE).resolve().as_uri()}?mode={mode}",
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.executescript(
            f"PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -{READ_CACHE_KIB};"
            "PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 8000;"
        )
        return connection


def _begin_writing(connection: Connection) -> None:
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("BEGIN IMMEDIATE")
            return
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() >= deadline:
                raise


def _check_whole(folder: Path) -> None:
    """Raise StoreError if committed data is still in the write-ahead log, because a process was killed. On a
    read-only file system it cannot be moved into the database file.
    """
    log = folder / f"{DATABASE}-wal"
    if log.exists() and log.stat().st_size:
        raise StoreError(
            f"the store at {folder} is on a read-only file system, and what was written to it last is still in"
            f" {DATABASE}-wal: open it once where it can be written (trivium stats), or a copy of it"
        )


def read_integers(connection: Connection, query: str, columns: int) -> Rows:
    """Return a query's rows as an array (n, columns). They are fetched in blocks to limit the number of Python
    integers in memory.
    """
    cursor = connection.execute(query)
    blocks: list[NDArray[Any]] = [np.empty((0, columns), dtype=np.int64)]
    while rows := cursor.fetchmany(50_000):
        blocks.append(np.array(rows, dtype=np.int64))
    return np.concatenate(blocks)
