"""The states of a store: each write transaction creates a new one. Facts about the store as a whole, each with a
checksum; and a store pinned to one committed state, until it is closed or for the duration of a question.

A read transaction of SQLite sees what was committed when it began, regardless of concurrent writes. Connections in
such transactions, together with the indexes of the same state, form an immutable store.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from types import TracebackType
from zlib import crc32

from trivium.errors import StoreBusyError, StoreError, StoreFormatError
from trivium.graph.arrays.snapshot import IndexSnapshot
from trivium.graph.sqlite.connection import Connection, Database, translated

_SUM = ".crc"
"""Suffix of the key that holds a fact's checksum."""


def read_meta(connection: Connection, key: str) -> str | None:
    """Return a fact, or None if there is none. Raises StoreFormatError if it does not match its checksum."""
    found = dict(connection.execute("SELECT key, value FROM meta WHERE key IN (?, ?)", [key, key + _SUM]))
    value = found.get(key)
    wanted = found.get(key + _SUM)
    if wanted is not None and (value is None or wanted != _sum(value)):
        raise StoreFormatError(
            f"what the store knows of its {key} is damaged: expected a text with the CRC {wanted}, got {value!r};"
            " restore a backup, or build the store again"
        )
    return value


def write_meta(connection: Connection, key: str, value: str | None) -> None:
    """Replace or remove a fact."""
    connection.execute("DELETE FROM meta WHERE key IN (?, ?)", [key, key + _SUM])
    if value is not None:
        connection.executemany(
            "INSERT INTO meta (key, value) VALUES (?, ?)", [(key, value), (key + _SUM, _sum(value))]
        )


def _sum(value: str) -> str:
    return str(crc32(value.encode()))


CHANGES_KEPT = 2_000
"""Number of states for which the changes are logged (table change)."""


def current_state(connection: Connection) -> str:
    """Return the name of the committed state: the number of write transactions, and a random token."""
    number, token = connection.execute(
        "SELECT number, token FROM generation ORDER BY number DESC LIMIT 1"
    ).fetchone()
    return f"{number}-{token}"


def state_number(key: str) -> int:
    """Return the number in a state's name. It increases with every state of a store."""
    return int(key.partition("-")[0])


def was_state(connection: Connection, key: str) -> bool:
    """Whether this is the committed state or an earlier one of this store. False for states of other stores, and for
    states committed after the backup that this store was restored from.
    """
    number, _, token = key.partition("-")
    found = connection.execute("SELECT 1 FROM generation WHERE number = ? AND token = ?", [number, token])
    return found.fetchone() is not None


def begin_state(connection: Connection) -> None:
    """Name the state that this transaction creates. Indexes of earlier states become stale."""
    connection.execute("INSERT INTO generation (token) VALUES (lower(hex(randomblob(8))))")
    connection.execute(
        "DELETE FROM change WHERE number < (SELECT max(number) FROM generation) - ?", [CHANGES_KEPT]
    )


_ATTEMPTS = 20
"""How often to retry when a write between opening the connections and the indexes makes them disagree."""


class FrozenDatabase(Database):
    """The database as committed at one moment, read through connections borrowed from ``source``, where those of
    earlier states are: opening them, which reads the schema, and preparing their statements takes longer than following
    a small change.
    """

    fixed = True

    def __init__(self, source: Database, readers: int, key: str) -> None:
        """Raises LookupError if ``key`` is no longer the committed state."""
        super().__init__(source.folder, read_only=True)
        self._source = source
        self._free: list[Connection] = []
        self._returned = threading.Condition()
        self._all: list[Connection] = []
        try:
            with translated(self.folder):
                for _ in range(readers):
                    connection = source.borrow()
                    self._all.append(connection)
                    connection.execute("BEGIN")
                    # The first read of a transaction determines its state.
                    if current_state(connection) != key:
                        raise LookupError(key)
                    self._free.append(connection)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Borrow a connection to this state, waiting while all are in use."""
        if self._closed:
            raise StoreError(f"this view of the store at {self.folder} is closed")
        with translated(self.folder):
            connection = self._take()
            try:
                yield connection
            finally:
                with self._returned:
                    self._free.append(connection)
                    self._returned.notify()

    def _take(self) -> Connection:
        """Take the connection that was used last, because each has a cache of its own."""
        with suppress(IndexError):
            return self._free.pop()
        with self._returned:
            while True:
                with suppress(IndexError):
                    return self._free.pop()
                self._returned.wait()

    @contextmanager
    def reading_one_state(self) -> Iterator[Connection]:
        """Same as :meth:`reading`, since every statement sees the same state."""
        with self.reading() as connection:
            yield connection

    def close(self) -> None:
        """Return every connection. There must be no readers: a connection that somebody reads from is closed."""
        self._closed = True
        while self._all:
            connection = self._all.pop()
            if connection not in self._free:
                connection.close()  # given back, it would show this state to others
                continue
            connection.execute("ROLLBACK")
            connection.execute("PRAGMA shrink_memory")  # what it has cached is of this state only
            self._source.take_back(connection)
        self._free.clear()
        super().close()


class PinnedDatabase(Database):
    """The database as committed now, read through one connection borrowed from ``source``. Threads take turns."""

    fixed = True

    def __init__(self, source: Database) -> None:
        super().__init__(source.folder, read_only=True)
        self._source = source
        self._reading = threading.RLock()
        with translated(self.folder):
            self._connection = source.borrow()
            self._connection.execute("BEGIN")
            self.key = current_state(self._connection)

    def reading(self) -> AbstractContextManager[Connection]:
        """Borrow the connection once no other thread is using it."""
        return _Turn(self)

    @contextmanager
    def reading_one_state(self) -> Iterator[Connection]:
        """Same as :meth:`reading`, since every statement sees the same state."""
        with self.reading() as connection:
            yield connection

    def close(self) -> None:
        """Return the connection."""
        with self._reading:
            if not self._closed:
                self._closed = True
                self._connection.execute("ROLLBACK")
                self._source.take_back(self._connection)


class _Turn:
    """Context manager around one use of a pinned connection. A class rather than a generator, since a search reads a
    dozen times.
    """

    __slots__ = ("_database",)

    def __init__(self, database: PinnedDatabase) -> None:
        self._database = database

    def __enter__(self) -> Connection:
        database = self._database
        database._reading.acquire()
        if database._closed:
            database._reading.release()
            raise StoreError(f"this view of the store at {database.folder} is closed")
        return database._connection

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database._reading.release()
        if error is not None:
            with translated(self._database.folder):
                raise error


@contextmanager
def pin(
    current: Callable[[], IndexSnapshot], database: Database
) -> Iterator[tuple[IndexSnapshot, PinnedDatabase]]:
    """Return indexes and a connection of the committed state. Takes microseconds if the indexes are up to date.
    Raises StoreBusyError like :func:`freeze`.
    """
    for _ in range(_ATTEMPTS):
        indexes = current()
        pinned = PinnedDatabase(database)
        try:
            if pinned.key == indexes.key:
                yield indexes, pinned
                return
        finally:
            pinned.close()
    raise _busy(database)


def freeze(
    current: Callable[[], IndexSnapshot], database: Database, readers: int
) -> tuple[IndexSnapshot, FrozenDatabase]:
    """Return indexes and connections of the committed state. Raises StoreBusyError if the state changes faster than
    its indexes can be built.
    """
    for _ in range(_ATTEMPTS):
        indexes = current()
        try:
            return indexes, FrozenDatabase(database, readers, indexes.key)
        except LookupError:
            continue
    raise _busy(database)


def _busy(database: Database) -> StoreBusyError:
    return StoreBusyError(
        f"the store at {database.folder} is written to without a pause: try again when that has finished"
    )
