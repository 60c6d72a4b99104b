"""When a store is read into memory, and when what was read is used."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Hashable

from trivium.errors import TriviumError
from trivium.graph.neo4j.cache import StoreCache, StoreState
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.replica.loading import TooLargeError, load
from trivium.graph.neo4j.replica.replica import Replica

QUESTIONS = 3
"""So many questions are asked of a state before it is read: a program that asks one needs no copy."""
SETTLED_SECONDS = 1.0
"""So long a state has lasted: while somebody writes, what is read would be of the past at once."""

_log = logging.getLogger(__name__)


class ReplicaKeeper:
    """The replica of one opened store. Any number of threads may ask for it; it is read in a thread of its own, while the
    server answers. ``limit`` is how many bytes it may take; 0 means that there is none."""

    def __init__(self, connection: Connection, cache: StoreCache, limit: int) -> None:
        self._connection = connection
        self._cache = cache
        self._limit = limit
        self._lock = threading.Lock()
        self._replica: Replica | None = None
        self._seen: Hashable = None
        self._since = 0.0
        self._questions = 0
        self._refused: Hashable = None
        self._thread: threading.Thread | None = None
        self._closed = False

    @property
    def there(self) -> bool:
        """Whether there is a replica, of whatever state."""
        return self._replica is not None

    def find(self, state: StoreState) -> Replica | None:
        """The replica of this state, which a question is about to be asked of; None where there is none yet."""
        with self._lock:
            if self._replica is not None:
                if self._replica.state == state:
                    return self._replica
                self._replica = None  # its state does not come back
            self._count(state)
            return None

    def load(self) -> bool:
        """Read the store now, if it has not been; whether there is a replica of it as it is."""
        self._read()
        with self._lock:
            return self._replica is not None and self._replica.state == self._cache.state(self._connection)

    def close(self) -> None:
        """Drop the replica, and read no more."""
        with self._lock:
            self._closed = True
            self._replica = None

    def join(self) -> None:
        """Wait until nothing is read any more."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _count(self, state: StoreState) -> None:
        now = time.monotonic()
        if state.key != self._seen:
            self._seen, self._since, self._questions = state.key, now, 0
        self._questions += 1
        if (
            self._limit > 0
            and self._questions >= QUESTIONS
            and now - self._since >= SETTLED_SECONDS
            and self._refused != state.key
            and not self._closed
            and self._thread is None
        ):
            self._thread = threading.Thread(target=self._read_in_background, name="replica", daemon=True)
            self._thread.start()

    def _read_in_background(self) -> None:
        try:
            self._read()
        except (
            TriviumError
        ) as error:  # the server is away, or this store is being closed: the next question says so
            _log.debug("the store at %s is not read into memory: %s", self._connection.address, error)
        finally:
            with self._lock:
                self._thread = None

    def _read(self) -> None:
        state = self._cache.state(self._connection, now=True)
        try:
            replica = load(self._connection, self._cache, self._limit, lambda: not self._closed)
        except TooLargeError:
            _log.info(
                "the store at %s takes more than %d MB of memory: the server answers every question",
                self._connection.address,
                self._limit >> 20,
            )
            with self._lock:
                self._refused = state.key
            return
        with self._lock:
            if not self._closed:
                self._replica = replica
