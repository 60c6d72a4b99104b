"""What the parts of a store in Neo4j have in common.

The store's methods are in several classes, by what they do; :class:`trivium.graph.neo4j.store.Neo4jStore` has them all.
:mod:`trivium.graph.protocols` says what each does.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import asdict
from typing import Any, LiteralString, TypeVar

from neo4j import AsyncManagedTransaction

from trivium.graph.neo4j.connection import Connection, Rows, rows
from trivium.graph.neo4j.store_cache import StoreCache
from trivium.graph.neo4j.write_steps import lock
from trivium.graph.stored_vectors import refuse_embedder
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


async def record_embedder(
    transaction: AsyncManagedTransaction,
    identity: EmbedderIdentity,
    what: str,
    read: LiteralString,
    filled: LiteralString,
    write: LiteralString,
) -> bool:
    """Record the embedder of texts or pictures, by the queries that ``read`` it, ask whether the store is ``filled`` with
    such vectors, and ``write`` it. Returns whether there was another or none. Raises EmbedderMismatchError, which begins
    with ``what``.
    """
    await lock(transaction)
    stored = identity_of(await rows(transaction, read))
    if stored == identity:
        return False
    if stored is not None and (await rows(transaction, filled))[0][0]:
        refuse_embedder(what, stored, identity)
    await rows(transaction, write, asdict(identity))
    return True
