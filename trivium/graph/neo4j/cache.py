"""What an opened store keeps in memory between questions. It is dropped when the graph has changed, by whichever
process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache as memoized
from typing import Any

from trivium.common.cache import LruCache
from trivium.errors import StoreNotFoundError
from trivium.graph.allowed import Allowed
from trivium.graph.filter_values import ChunkFacts
from trivium.graph.filters import Condition
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher.reading import STORE_STATE
from trivium.graph.pictures import PictureVectors
from trivium.graph.records import Adjacency, Vectors
from trivium.types import EmbedderIdentity

STATE_SECONDS = 0.05
"""How long the state of a store is taken for current after it was read: less than a question takes."""
VECTORS = 50_000
"""Vectors that are kept at most."""
CHUNK_TERMS = 20_000
"""Chunks whose search terms are kept at most."""
SENTENCES = 20_000
"""Chunks whose vectors of sentences are kept at most."""
CONDITIONS = 16
"""Conditions whose chunks are kept at most."""
FREQUENCIES = 100_000
"""Terms whose document frequency is kept at most."""


@dataclass(frozen=True, slots=True)
class StoreState:
    """The state of a store. ``version`` counts its writes. ``uuid`` changes with each write of more than vectors and
    differs from that of every other store (also after an import into the same database); None before the first write.
    ``term_total`` is the length of all chunks together, in terms."""

    version: int
    uuid: str | None
    embedder: EmbedderIdentity | None
    chunks: int
    term_total: int
    languages: str | None = None

    @property
    def content_key(self) -> Hashable:
        """Equal for equal graphs, whatever vectors they have."""
        return (self.uuid, None if self.uuid else self.version)

    @property
    def key(self) -> Hashable:
        """Equal for equal graphs with equal vectors."""
        return (self.uuid, self.version)

    @property
    def dimension(self) -> int:
        """Of the vectors; 0 before the store has an embedder."""
        return 0 if self.embedder is None else self.embedder.dimension


@dataclass(frozen=True, slots=True)
class ChunkTerms:
    """The search terms of a chunk's headings and of its text, separated by single spaces."""

    headings: str
    text: str


class StoreCache:
    """What one opened store keeps. Any number of threads may use it."""

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
        self.cited: LruCache[Condition, frozenset[str]] = LruCache(CONDITIONS)
        self.projecting = threading.Lock()
        self._reading = threading.Lock()
        self._state: StoreState | None = None
        self._read_at = 0.0
        self._under_way = 0

    def state(self, connection: Connection, *, now: bool = False) -> StoreState:
        """The state of the store, at most :data:`STATE_SECONDS` old, or read ``now``.

        Raises StoreNotFoundError when the database holds no store any more.
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
        """Read the state from now on, while the caller does something else; calling what is yielded waits for it."""
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
        """That of :meth:`state`. While the state is being read for a question, that of the one before is enough to begin
        with."""
        with self._reading:
            known = None if self._state is None or not self._under_way else self._state.embedder
        return self.state(connection).embedder if known is None else known

    def forget_state(self) -> None:
        """Read the state anew next time: this process has written."""
        with self._reading:
            self._state = None

    def clear(self) -> None:
        """Drop everything."""
        self.forget_state()
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
    # To hand the query to another thread keeps the interpreter with this one, until it waits or computes without it.
    return ThreadPoolExecutor(max_workers=32, thread_name_prefix="state")


def _read_state(connection: Connection) -> StoreState:
    found = connection.read(STORE_STATE)
    if not found:
        raise StoreNotFoundError(f"the database at {connection.address} holds no store any more")
    version, uuid, name, embedder_version, dimension, term_total, chunks, languages = found[0]
    identity = None if name is None else EmbedderIdentity(name, embedder_version, dimension)
    return StoreState(version, uuid, identity, chunks, term_total, languages)
