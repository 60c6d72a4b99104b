"""The graph store in a Neo4j database."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Self

from trivium.common.closing import Closing
from trivium.graph.filter_conditions import Condition
from trivium.graph.neo4j.address import parse_address
from trivium.graph.neo4j.check import Neo4jChecker
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher.searching import Dialect
from trivium.graph.neo4j.filtered_search import Neo4jWithin
from trivium.graph.neo4j.in_memory import HeldView, LateView, MemoryKeeper
from trivium.graph.neo4j.keyword_search import KeywordReads
from trivium.graph.neo4j.picture_vectors import PictureVectorsPart
from trivium.graph.neo4j.prepare_database import (
    detect,
    discard_empty,
    ensure_vector_indexes,
    exists,
    prepare,
    recognise,
)
from trivium.graph.neo4j.reader import GraphReads
from trivium.graph.neo4j.store_cache import StoreCache
from trivium.graph.neo4j.typed_relations import choose_style, type_relations
from trivium.graph.neo4j.vector_search import Searcher
from trivium.graph.neo4j.vectors import VectorsPart, embed_relations
from trivium.graph.neo4j.walk_graph import project
from trivium.graph.neo4j.writer import GraphWrites
from trivium.graph.protocols import SearchStore
from trivium.graph.records import Adjacency, Neighbour, Progress, Reached, Similarities, Vectors
from trivium.graph.schema import Hop, Label
from trivium.settings.settings import load_settings


class Neo4jStore(GraphReads, KeywordReads, VectorsPart, PictureVectorsPart, GraphWrites, Closing):
    """A :class:`trivium.graph.protocols.GraphStore` in a database of a Neo4j server (5.26 or later).

    Other programs may have nodes in the same database: those of the store are known by their marks
    (:mod:`trivium.graph.neo4j.cypher.schema`). Any number of threads and processes may read; writes are
    serialised. Cached data (the walk's adjacency, requested vectors and words) is dropped when the graph changes. A
    change by another process is noticed within 0.05 seconds, and by every question asked after that. After a few
    questions the store is read into memory (:mod:`trivium.graph.neo4j.in_memory`) if it fits; until the next write,
    questions then ask the server only for its state.
    """

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        """Use :meth:`create` or :meth:`open`."""
        super().__init__(connection, StoreCache())
        self._searcher = Searcher(connection, self._cache, dialect)
        self._memory = MemoryKeeper(connection, self._cache, load_settings().neo4j_memory << 20)

    remote = True

    # -- lifecycle -------------------------------------------------------------------------------------------

    @classmethod
    def create(cls, address: str) -> Self:
        """Create an empty store in a database. Raises StoreError if there is one already."""
        return cls._of(address, prepare)

    @classmethod
    def open(cls, address: str) -> Self:
        """Open the store in a database. Raises StoreNotFoundError if there is none, StoreFormatError for one of another
        version.
        """
        return cls._of(address, recognise)

    @classmethod
    def _of(cls, address: str, begin: Callable[[Connection], None]) -> Self:
        connection = _connect(address)
        try:
            begin(connection)
            choose_style(connection)
            return cls(connection, detect(connection))
        except BaseException:
            connection.close()
            raise

    @staticmethod
    def exists(address: str) -> bool:
        """Whether there is a store in the database. Raises StoreError if it cannot be reached."""
        with closing(_connect(address)) as connection:
            return exists(connection)

    @staticmethod
    def discard_empty(address: str) -> bool:
        """See :func:`trivium.graph.neo4j.prepare_database.discard_empty`."""
        with closing(_connect(address)) as connection:
            return discard_empty(connection)

    def close(self) -> None:
        """Close the connections. Values already returned remain valid."""
        self._memory.close()
        self._cache.clear()
        self._connection.close()
        self._memory.join()

    # -- maintenance ------------------------------------------------------------------------------------------

    def refresh(self, progress: Progress | None = None) -> None:
        """Give relations the vectors of their types and, if wanted, typed relationships, create missing vector indexes
        and wait until all indexes are populated.
        """
        try:
            embed_relations(self._connection)
            type_relations(self._connection)
            ensure_vector_indexes(self._connection, progress)
        finally:
            self._cache.forget_state()

    def checker(self) -> Neo4jChecker:
        self._cache.forget_state()
        return Neo4jChecker(self._connection)

    # -- searching --------------------------------------------------------------------------------------------

    def nearest(
        self, labels: Sequence[Label], vector: Vectors, k: int, *, exact: bool = False
    ) -> list[Neighbour]:
        return self._searcher.nearest(labels, vector, k, exact=exact)

    def expand_nearest(
        self,
        labels: Sequence[Label],
        vector: Vectors,
        nodes: int,
        hop: Hop,
        limit: int | None,
        *,
        exact: bool = False,
    ) -> list[Reached]:
        return self._searcher.expand_nearest(labels, vector, nodes, hop, limit, exact=exact)

    def similarities(self, vector: Vectors, chunks: Sequence[str]) -> Similarities:
        return self._searcher.similarities(vector, chunks)

    def adjacency(self) -> Adjacency:
        graph = project(self._connection, self._cache)
        return replace(graph, names=True) if self.entities is not None else graph

    @contextmanager
    def pinned(self) -> Iterator[SearchStore]:
        """Yield the store in memory if its current state is held there, else this one, since Neo4j has no snapshot
        transactions. A :class:`trivium.retrievers.query.Query` caches what must be consistent.

        The state is requested immediately and awaited at the first read, so that the question can be embedded
        meanwhile.
        """
        if not self._memory.there:
            self._memory.find(self._cache.state(self._connection, now=True))
            yield self
            return
        with self._cache.reading(self._connection) as state:

            def view() -> SearchStore:
                held = self._memory.find(state())
                return self if held is None else HeldView(self, held)

            yield LateView(view)

    def replicate(self) -> bool:
        """Read the data for questions into memory now, instead of after some questions. Returns false if it exceeds
        the setting ``neo4j_memory``, nothing is embedded, or the store is written to meanwhile.
        """
        return self._memory.load()

    def within(self, condition: Condition) -> Neo4jWithin:
        """See the protocol."""
        return Neo4jWithin(self, condition, self._connection, self._cache, self._searcher)


def _connect(address: str) -> Connection:
    return Connection(parse_address(address), timeout=load_settings().neo4j_timeout)
