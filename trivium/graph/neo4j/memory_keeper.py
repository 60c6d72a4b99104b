"""Decides when a store is read into memory, and when what is held there may be used."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Hashable

from trivium.errors import TriviumError
from trivium.graph.neo4j.cache import StoreCache, StoreState
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.memory import Held, load
from trivium.graph.neo4j.memory_rows import TooLargeError

QUESTIONS = 3
"""Number of questions about the same state before it is read: a program that asks only one needs nothing in memory."""
SETTLED_SECONDS = 1.0
"""How long a state must have lasted: during writes what is read would be outdated immediately."""

_log = logging.getLogger(__name__)


class MemoryKeeper:
    """What is held in memory of one open store. Thread-safe. It is read in a background thread. ``limit`` is the memory
    limit in bytes; 0 disables it.
    """

    def __init__(self, connection: Connection, cache: StoreCache, limit: int) -> None:
        self._connection = connection
        self._cache = cache
        self._limit = limit
        self._lock = threading.Lock()
        self._held: Held | None = None
        self._earlier: Held | None = None
        self._seen: Hashable = None
        self._since = 0.0
        self._questions = 0
        self._refused: Hashable = None
        self._thread: threading.Thread | None = None
        self._closed = False

    @property
    def there(self) -> bool:
        """Whether something is held, of any state."""
        return self._held is not None

    def find(self, state: StoreState) -> Held | None:
        """Return the store in this state for a question; None if it is not held yet."""
        with self._lock:
            if self._held is not None:
                if self._held.state == state:
                    return self._held
                # Its state will not return, but most of it is the next one's.
                self._earlier, self._held = self._held, None
            self._count(state)
            return None

    def load(self) -> bool:
        """Read the store now unless already done. Returns whether the current state is held."""
        self._read()
        with self._lock:
            return self._held is not None and self._held.state == self._cache.state(self._connection)

    def close(self) -> None:
        """Drop what is held and stop reading."""
        with self._lock:
            self._closed = True
            self._held = self._earlier = None

    def join(self) -> None:
        """Wait until no read is in progress."""
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
            self._thread = threading.Thread(target=self._read_in_background, name="memory", daemon=True)
            self._thread.start()

    def _read_in_background(self) -> None:
        try:
            self._read()
        except (
            TriviumError
        ) as error:  # the server is unreachable, or the store is being closed: the next question reports it
            _log.debug("the store at %s is not read into memory: %s", self._connection.address, error)
        finally:
            with self._lock:
                self._thread = None

    def _read(self) -> None:
        state = self._cache.state(self._connection, now=True)
        with self._lock:
            earlier = self._held or self._earlier
        try:
            held = load(self._connection, self._cache, self._limit, lambda: not self._closed, earlier)
        except TooLargeError:
            _log.info(
                "the store at %s takes more than %d MB of memory: the server answers every question",
                self._connection.address,
                self._limit >> 20,
            )
            with self._lock:
                self._refused = state.key
                self._held = self._earlier = None
            return
        with self._lock:
            if not self._closed and held is not None:
                self._held, self._earlier = held, None
