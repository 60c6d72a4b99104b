"""What the parts of a store in Neo4j have in common.

The store's methods are in several classes, by what they do; :class:`trivium.graph.neo4j.store.Neo4jStore` has them all.
:mod:`trivium.graph.protocols` says what each does.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from neo4j import AsyncManagedTransaction

from trivium.graph.neo4j.connection import Connection, Rows
from trivium.graph.neo4j.store_cache import StoreCache
from trivium.types import EmbedderIdentity

T = TypeVar("T")


class StorePart:
    """A part of a store, with the connection and the cache that all parts share."""

    def __init__(self, connection: Connection, cache: StoreCache) -> None:
        self._connection = connection
        self._cache = cache

    def _write(self, work: Callable[[AsyncManagedTransaction], Coroutine[Any, Any, T]]) -> T:
        """Run ``work`` in one transaction. Afterwards the state of the store is read again, even if it failed."""
        try:
            return self._connection.write(work)
        finally:
            self._cache.forget_state()


def identity_of(found: Rows) -> EmbedderIdentity | None:
    """Return the embedder that the store's node names, None if it names none."""
    return EmbedderIdentity(*found[0]) if found else None


def identity_values(identity: EmbedderIdentity) -> dict[str, Any]:
    """Return the parameters of a query that writes an embedder."""
    return {"name": identity.name, "version": identity.version, "dimension": identity.dimension}
