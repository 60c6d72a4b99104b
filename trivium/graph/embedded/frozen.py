"""A store held at one committed state: until it is closed, or for the length of a question.

A reading transaction of SQLite sees what was committed when it began, whatever is written meanwhile. So connections in
such transactions, together with the indexes of the same state, make a store that never changes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue

from trivium.errors import StoreBusyError, StoreError
from trivium.graph.embedded.connection import Connection, Database, translated
from trivium.graph.embedded.snapshot import IndexSnapshot
from trivium.graph.embedded.states import current_state

_ATTEMPTS = 20
"""How often to try again when the indexes turn out to be older than the connections, because of a write between the
two."""


class FrozenDatabase(Database):
    """The SQLite file of a store as it was committed at one moment, read by connections of its own."""

    fixed = True

    def __init__(self, source: Database, readers: int, key: str) -> None:
        """Raises LookupError where the committed state is not ``key`` any more."""
        super().__init__(source.folder, read_only=True)
        self._free: SimpleQueue[Connection] = SimpleQueue()
        self._all: list[Connection] = []
        try:
            with translated(self.folder):
                for _ in range(readers):
                    connection = self._connect()
                    self._all.append(connection)
                    connection.execute("BEGIN")
                    # The first read of a transaction is what it begins with.
                    if current_state(connection) != key:
                        raise LookupError(key)
                    self._free.put(connection)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that sees the state; waits for one where all are in use."""
        if self._closed:
            raise StoreError(f"this view of the store at {self.folder} is closed")
        with translated(self.folder):
            connection = self._free.get()
            try:
                yield connection
            finally:
                self._free.put(connection)

    @contextmanager
    def reading_one_state(self) -> Iterator[Connection]:
        """The same: every statement sees one state anyway."""
        with self.reading() as connection:
            yield connection

    def close(self) -> None:
        """Close every connection; nobody may be reading."""
        self._closed = True
        for connection in self._all:
            connection.close()
        self._all.clear()


class PinnedDatabase(Database):
    """The SQLite file of a store as it is committed now, read by one connection borrowed from ``source``. Several threads
    may read, one after another."""

    fixed = True

    def __init__(self, source: Database) -> None:
        super().__init__(source.folder, read_only=True)
        self._source = source
        self._reading = threading.RLock()
        with translated(self.folder):
            self._connection = source.borrow()
            self._connection.execute("BEGIN")
            self.key = current_state(self._connection)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """The connection, as soon as no other thread reads from it."""
        with translated(self.folder), self._reading:
            if self._closed:
                raise StoreError(f"this view of the store at {self.folder} is closed")
            yield self._connection

    @contextmanager
    def reading_one_state(self) -> Iterator[Connection]:
        """The same: every statement sees one state anyway."""
        with self.reading() as connection:
            yield connection

    def close(self) -> None:
        """Give the connection back."""
        with self._reading:
            if not self._closed:
                self._closed = True
                self._connection.execute("ROLLBACK")
                self._source.take_back(self._connection)


@contextmanager
def pin(
    current: Callable[[], IndexSnapshot], database: Database
) -> Iterator[tuple[IndexSnapshot, PinnedDatabase]]:
    """Indexes and a connection of the state committed now. Takes microseconds where the indexes are up to date.
    Raises StoreBusyError as :func:`freeze` does."""
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
    """Indexes and connections of the state committed now. Raises StoreBusyError where the state changes faster than its
    indexes can be built."""
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
