"""What is kept of a database between questions, and dropped when the graph has changed, by whichever process."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from trivium.errors import StoreNotFoundError
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher.reading import STANDING
from trivium.graph.store import Adjacency, Vectors
from trivium.types import EmbedderIdentity

TRUST = 0.05
"""Seconds for which the store is taken to be as it was last seen: less than a question takes."""
VECTORS = 50_000
"""Vectors that are kept at most."""
CHUNK_TERMS = 20_000
"""Chunks whose search terms are kept at most."""
SENTENCES = 20_000
"""Chunks whose vectors of sentences are kept at most."""
FREQUENCIES = 100_000
"""Terms whose document frequency is kept at most."""

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a store. ``generation`` counts its writes; ``uuid`` is another one after each write of more than
    vectors, and in every other store (an import into the same database, for one); None before the first of them;
    ``term_total`` is the length of all chunks together, in terms."""

    generation: int
    uuid: str | None
    embedder: EmbedderIdentity | None
    chunks: int
    term_total: int

    @property
    def content(self) -> Hashable:
        """What tells the graph from any other, its vectors aside."""
        return (self.uuid, None if self.uuid else self.generation)

    @property
    def state(self) -> Hashable:
        """What tells the store from any other, its vectors included."""
        return (self.uuid, self.generation)

    @property
    def dimension(self) -> int:
        """Of the vectors; 0 before an embedder claimed the store."""
        return 0 if self.embedder is None else self.embedder.dimension


@dataclass(frozen=True, slots=True)
class ChunkTerms:
    """The search terms of a chunk's headings and of its text, one space between two."""

    headings: str
    text: str


class Shelf(Generic[K, V]):
    """The values asked for last, of one state of the store. Any number of threads may use it."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._lock = threading.Lock()
        self._state: Hashable = None
        self._values: OrderedDict[K, V] = OrderedDict()

    def find(self, state: Hashable, keys: Iterable[K]) -> dict[K, V]:
        """Those of the keys that are known, with their values."""
        found: dict[K, V] = {}
        with self._lock:
            if state != self._state:
                return found
            for key in keys:
                if key in self._values:
                    self._values.move_to_end(key)
                    found[key] = self._values[key]
        return found

    def keep(self, state: Hashable, values: Mapping[K, V]) -> None:
        """Remember what was read after ``state`` was seen; values of another one make way."""
        with self._lock:
            if state != self._state:
                self._values.clear()
                self._state = state
            for key, value in values.items():
                self._values[key] = value
                self._values.move_to_end(key)
            while len(self._values) > self._capacity:
                self._values.popitem(last=False)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._values.clear()
            self._state = None


class Memory:
    """What one opened store remembers. Any number of threads may use it."""

    def __init__(self) -> None:
        self.vectors: Shelf[tuple[str, str], Vectors | None] = Shelf(VECTORS)
        self.sentences: Shelf[str, bytes] = Shelf(SENTENCES)
        self.terms: Shelf[str, ChunkTerms | None] = Shelf(CHUNK_TERMS)
        self.frequencies: Shelf[str, int] = Shelf(FREQUENCIES)
        self.adjacency: Shelf[str, Adjacency] = Shelf(1)
        self.indexed: Shelf[str, bool] = Shelf(1)
        self.projecting = threading.Lock()
        self._looking = threading.Lock()
        self._standing: Standing | None = None
        self._seen = 0.0

    def standing(self, connection: Connection, *, now: bool = False) -> Standing:
        """How the store stands: as it was seen :data:`TRUST` seconds ago at most, or is ``now``.

        Raises StoreNotFoundError when the store is gone from its database.
        """
        asked = time.monotonic()
        with self._looking:
            if self._standing is None or self._seen < (asked if now else asked - TRUST):
                begun = time.monotonic()
                self._standing = _read_standing(connection)
                self._seen = begun
            return self._standing

    def look_again(self) -> None:
        """Forget how the store stands: it has written."""
        with self._looking:
            self._standing = None

    def clear(self) -> None:
        """Forget everything."""
        self.look_again()
        shelves: tuple[Shelf[Any, Any], ...] = (
            self.vectors,
            self.sentences,
            self.terms,
            self.frequencies,
            self.adjacency,
            self.indexed,
        )
        for shelf in shelves:
            shelf.clear()


def _read_standing(connection: Connection) -> Standing:
    found = connection.read(STANDING)
    if not found:
        raise StoreNotFoundError(f"the database at {connection.address} holds no store any more")
    generation, uuid, name, version, dimension, term_total, chunks = found[0]
    identity = None if name is None else EmbedderIdentity(name, version, dimension)
    return Standing(generation, uuid, identity, chunks, term_total)
