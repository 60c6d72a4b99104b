"""In-memory cache of an open store. It is invalidated when the graph changes, by whichever process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache as memoized
from typing import Any, NamedTuple

from trivium.common.cache import LruCache
from trivium.errors import StoreNotFoundError
from trivium.graph.filter_conditions import Condition
from trivium.graph.filter_matching import Allowed, ChunkFacts
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher.reading import STORE_STATE
from trivium.graph.records import Adjacency, Vectors
from trivium.graph.stored_vectors import PictureVectors
from trivium.types import EmbedderIdentity

STATE_SECONDS = 0.05
"""How long a state that was read counts as current: less than a question takes."""
VECTORS = 50_000
"""Maximum number of cached vectors."""
CHUNK_TERMS = 20_000
"""Maximum number of chunks with cached search terms."""
SENTENCES = 20_000
"""Maximum number of chunks with cached sentence vectors."""
CONDITIONS = 16
"""Maximum number of conditions with cached chunks."""
FREQUENCIES = 100_000
"""Maximum number of terms with cached document frequency."""


@dataclass(frozen=True, slots=True)
class StoreState:
    """The state of a store. ``version`` counts its writes. ``uuid`` changes with each write of anything other than
    vectors and is unique across stores (even after an import into the same database); None before the first write.
    ``term_total`` is the total length of all chunks in terms.
    """

    version: int
    uuid: str | None
    embedder: EmbedderIdentity | None
    chunks: int
    term_total: int
    languages: str | None = None
    entities: str | None = None

    @property
    def content_key(self) -> Hashable:
        """Equal for equal graphs, whatever their vectors."""
        return (self.uuid, None if self.uuid else self.version)

    @property
    def key(self) -> Hashable:
        """Equal for equal graphs with equal vectors."""
        return (self.uuid, self.version)

    @property
    def dimension(self) -> int:
        """Dimension of the vectors; 0 if the store has no embedder yet."""
        return 0 if self.embedder is None else self.embedder.dimension


@dataclass(frozen=True, slots=True)
class ChunkTerms:
    """The search terms of a chunk's headings and of its text, separated by single spaces."""

    headings: str
    text: str


class Counts(NamedTuple):
    """Relationships by type, aliases, and distinct texts with a vector and in all."""

    relationships: list[int]
    aliases: int
    embedded: int
    texts: int


class StoreCache:
    """The cache of one open store. Thread-safe."""

    def __init__(self) -> None:
        self.vectors: LruCache[tuple[str, str], Vectors | None] = LruCache(VECTORS)
        self.sentences: LruCache[str, bytes] = LruCache(SENTENCES)
        self.terms: LruCache[str, ChunkTerms | None] = LruCache(CHUNK_TERMS)
        self.frequencies: LruCache[str, int] = LruCache(FREQUENCIES)
        self.adjacency: LruCache[str, Adjacency] = LruCache(1)
        self.indexed: LruCache[str, bool] = LruCache(1)
        self.facts: LruCache[str, ChunkFacts] = LruCache(1)
        self.conditions: LruCache[Condition, Allowed] = LruCache(CONDITIONS)
        self.pictures: LruCache[str, PictureVectors] = LruCache(1)
        self.counted: LruCache[str, Counts] = LruCache(1)
        self.cited: LruCache[Condition, frozenset[str]] = LruCache(CONDITIONS)
        self.projecting = threading.Lock()
        self.projected: tuple[str | None, Adjacency | None] = (None, None)
        """The latest adjacency, with the uuid of its state."""
        self._reading = threading.Lock()
        self._state: StoreState | None = None
        self._read_at = 0.0
        self._under_way = 0

    def state(self, connection: Connection, *, now: bool = False) -> StoreState:
        """Return the state of the store, at most :data:`STATE_SECONDS` old, or read it ``now``.

        Raises StoreNotFoundError if the database is no longer a store.
        """
        asked = time.monotonic()
        with self._reading:
            if self._state is None or self._read_at < (asked if now else asked - STATE_SECONDS):
                begun = time.monotonic()
                self._state = _read_state(connection)
                self._read_at = begun
            return self._state

    @contextmanager
    def reading(self, connection: Connection) -> Iterator[Callable[[], StoreState]]:
        """Start reading the state in the background. The yielded function waits for the result."""
        begun = time.monotonic()
        future = _threads().submit(_read_state, connection)
        with self._reading:
            self._under_way += 1

        def wait() -> StoreState:
            state = future.result()
            with self._reading:
                if self._read_at < begun:
                    self._state, self._read_at = state, begun
            return state

        try:
            yield wait
        finally:
            future.cancel()
            with self._reading:
                self._under_way -= 1

    def embedder(self, connection: Connection) -> EmbedderIdentity | None:
        """Return the embedder of :meth:`state`. While the state is being read for a question, the previous one is
        used.
        """
        with self._reading:
            known = None if self._state is None or not self._under_way else self._state.embedder
        return self.state(connection).embedder if known is None else known

    def latest_state(self) -> StoreState | None:
        """Return the state that was read last, without asking the server; None if this process has written since."""
        with self._reading:
            return self._state

    def forget_state(self) -> None:
        """Read the state again next time, after this process has written."""
        with self._reading:
            self._state = None

    def clear(self) -> None:
        """Drop all cached data."""
        self.forget_state()
        self.projected = (None, None)
        caches: tuple[LruCache[Any, Any], ...] = (
            self.vectors,
            self.sentences,
            self.terms,
            self.frequencies,
            self.adjacency,
            self.indexed,
            self.facts,
            self.conditions,
            self.pictures,
            self.cited,
        )
        for cache in caches:
            cache.clear()


@memoized
def _threads() -> ThreadPoolExecutor:
    # Handing the query to another thread keeps the GIL with this one, until it waits or releases it.
    return ThreadPoolExecutor(max_workers=32, thread_name_prefix="state")


def _read_state(connection: Connection) -> StoreState:
    found = connection.read(STORE_STATE)
    if not found:
        raise StoreNotFoundError(f"the database at {connection.address} holds no store any more")
    version, uuid, name, embedder_version, dimension, term_total, chunks, languages, entities = found[0]
    identity = None if name is None else EmbedderIdentity(name, embedder_version, dimension)
    return StoreState(version, uuid, identity, chunks, term_total, languages, entities)
