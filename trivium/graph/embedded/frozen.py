"""A store held at one committed state: for as long as somebody likes, or for the length of a question.

An SQLite transaction that reads goes on seeing what was committed when it began. So a set of connections, each in such a
transaction, and the derived files of the same state make a store that never changes, however long somebody reads in it
and whatever is written meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue

from trivium.errors import StoreBusyError, StoreError
from trivium.graph.embedded.connection import Connection, Database, translated
from trivium.graph.embedded.generation import Generation, current_key

_ATTEMPTS = 20
"""How often the indexes may turn out to be older than the connections, because somebody writes without a pause."""


class FrozenDatabase(Database):
    """The SQLite file of a store, as it was committed at one moment."""

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
                    if current_key(connection) != key:
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
    def snapshot(self) -> Iterator[Connection]:
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
            self.key = current_key(self._connection)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """The connection, as soon as no other thread reads from it."""
        with translated(self.folder), self._reading:
            if self._closed:
                raise StoreError(f"this view of the store at {self.folder} is closed")
            yield self._connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
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
def pin(current: Callable[[], Generation], database: Database) -> Iterator[tuple[Generation, PinnedDatabase]]:
    """Derived files and a connection of the state committed now. Takes microseconds where the files are up to date.
    Raises StoreBusyError as :func:`freeze` does."""
    for _ in range(_ATTEMPTS):
        generation = current()
        pinned = PinnedDatabase(database)
        try:
            if pinned.key == generation.key:
                yield generation, pinned
                return
        finally:
            pinned.close()
    raise _busy(database)


def freeze(
    current: Callable[[], Generation], database: Database, readers: int
) -> tuple[Generation, FrozenDatabase]:
    """Derived files and connections of one state, the one committed now. Raises StoreBusyError where it changes faster
    than its indexes can be made."""
    for _ in range(_ATTEMPTS):
        generation = current()
        try:
            return generation, FrozenDatabase(database, readers, generation.key)
        except LookupError:
            continue
    raise _busy(database)


def _busy(database: Database) -> StoreBusyError:
    return StoreBusyError(
        f"the store at {database.folder} is written to without a pause: try again when that has finished"
    )
