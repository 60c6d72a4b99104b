"""A store that is held in memory, for one state of the database: the index (:mod:`trivium.graph.arrays`), and what else
the answers need. A question then asks the server only for its current state. And when a store is read into memory, and
when what is held there may be used.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager

from trivium.errors import TriviumError
from trivium.graph.arrays.filtered_search import ArrayWithin
from trivium.graph.arrays.in_memory_store import HeldReads, HeldStore, made_index, updated
from trivium.graph.arrays.rows_by_uri import KeyedRows, Touched
from trivium.graph.filter_conditions import Condition
from trivium.graph.neo4j.change_log import Touched as Names
from trivium.graph.neo4j.change_log import read_log, touched_since
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher import reading
from trivium.graph.neo4j.in_memory_rows import A_VECTOR, OF_OBJECTS, Budget, RowReader, TooLargeError
from trivium.graph.neo4j.store_cache import StoreCache, StoreState
from trivium.graph.protocols import SearchStore
from trivium.graph.store_view import StoreView
from trivium.types import EmbedderIdentity

Held = HeldStore[StoreState]

MOST_PAGES = 200
"""Of a change to more pages than this, the whole store is read again: in batches."""
MOST_CHANGED = 20_000
"""Rows changed since the whole store was read up to which changes are followed, in any store."""
MOST_CHANGED_SHARE = 0.06
"""The same as a share of all nodes, in large stores."""
_NEVER = 1 << 40
"""All vectors are compared, so that the nearest are found for certain."""


# -- reading it from the database --------------------------------------------------------------------------------


def load(
    connection: Connection,
    cache: StoreCache,
    limit: int,
    going: Callable[[], bool],
    earlier: Held | None = None,
) -> Held | None:
    """Read the current store if it takes at most ``limit`` bytes; of a store that has been read ``earlier`` only what was
    touched since, if the database says what. Returns None if it was written to meanwhile, has no vectors, or ``going``
    returns false. Raises TooLargeError.
    """
    state = cache.state(connection, now=True)
    if not state.dimension:
        return None
    if earlier is not None and earlier.state.key == state.key:
        return earlier
    _check_size(connection, state.dimension, limit)
    reader = RowReader(connection, Budget(limit), state.dimension, going)
    touched = None if earlier is None else _touched(connection, earlier, state)
    nodes, facts = reader.all() if touched is None else reader.touched(touched)
    if not going() or cache.state(connection, now=True).key != state.key:
        return None
    if earlier is None or touched is None:
        rows = KeyedRows(nodes, state.dimension)
        held = HeldStore(state, made_index(rows, str(state.version), _NEVER), facts)
    else:
        changed = Touched(touched.pages, touched.chunks, touched.entities | touched.pages, nodes)
        held = updated(
            earlier, state, str(state.version), changed, facts, aliases=touched.aliases, types=touched.types
        )
    _ = held.names, held.relations  # before the first question needs them
    return held


def _check_size(connection: Connection, dimension: int, limit: int) -> None:
    """Raise TooLargeError if the vectors and objects of all nodes alone exceed the limit. The server knows the numbers
    of nodes, so nothing of a store that is too large is read, whenever it changes.
    """
    ((entities, _, sections, chunks, _),) = connection.read(reading.NODE_COUNTS)
    Budget(limit).take((entities + sections + chunks) * (A_VECTOR * dimension + OF_OBJECTS))


def _touched(connection: Connection, earlier: Held, state: StoreState) -> Names | None:
    """Return what was touched since an earlier state; None if that is not known, or better read in batches."""
    base, index = earlier.state, earlier.index
    if base.uuid is None or base.embedder != state.embedder:
        return None
    if index.base.changes > max(MOST_CHANGED, MOST_CHANGED_SHARE * index.size):
        return None
    touched = touched_since(read_log(connection), base.uuid, state.version, base=base.version)
    return None if touched is None or len(touched.pages) > MOST_PAGES else touched


# -- a question's view -------------------------------------------------------------------------------------------


class LateView(StoreView):
    """A store that turns out at the first read to be held in memory or not."""

    allowed = None
    remote = False
    """True in nearly all cases. Only a question right after a write finds what is held outdated; its reads are then
    sequential.
    """

    def __init__(self, find: Callable[[], SearchStore]) -> None:
        self._find = find
        self._lock = threading.Lock()
        self._found: SearchStore | None = None

    @property
    def _store(self) -> SearchStore:  # type: ignore[override]  # an attribute of other views
        with self._lock:
            if self._found is None:
                self._found = self._find()
            return self._found

    def within(self, condition: Condition) -> SearchStore:
        return self._store.within(condition)

    @contextmanager
    def pinned(self) -> Iterator[SearchStore]:
        yield self


class HeldView(HeldReads, StoreView):
    """Reads from memory, and from the store what is not held there (pictures, whole pages)."""

    allowed = None
    remote = False

    def __init__(self, store: SearchStore, held: Held) -> None:
        super().__init__(store)
        self._known = held

    def _held(self) -> Held:
        return self._known

    @property
    def embedder(self) -> EmbedderIdentity | None:
        return self._known.state.embedder

    @property
    def languages(self) -> str | None:
        return self._known.state.languages

    @property
    def entities(self) -> str | None:
        return self._known.state.entities

    def within(self, condition: Condition) -> SearchStore:
        return ArrayWithin(self, condition, self._current, self._known.chunk_facts)

    @contextmanager
    def pinned(self) -> Iterator[SearchStore]:
        yield self

    def cited(self, chunks: Sequence[str]) -> dict[str, list[str]]:
        return self._store.cited(chunks)  # which knows their order of appearance


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
