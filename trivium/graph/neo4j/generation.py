"""Writers queue at the store's own node, and each that changes something begins a new generation."""

from __future__ import annotations

from neo4j import AsyncManagedTransaction

from trivium.errors import StoreFormatError
from trivium.graph.neo4j.connection import rows
from trivium.graph.neo4j.cypher import writing as cypher


async def lock(transaction: AsyncManagedTransaction) -> bool:
    """Wait until no one else writes; whether the store has an embedder. The lock goes with the transaction.

    Raises StoreFormatError when the database is no store any more.
    """
    found = await rows(transaction, cypher.LOCK)
    if not found:
        raise StoreFormatError("the database is no store of Trivium any more: its Trivium node is gone")
    return bool(found[0][0])


async def advance(
    transaction: AsyncManagedTransaction, terms: int = 0, *, vectors_only: bool = False
) -> None:
    """Begin a new generation: what a reader keeps of an earlier one is stale, but for the links and words where only
    vectors have come or gone. ``terms`` is how many search terms the chunks have more than before."""
    await rows(transaction, cypher.ADVANCE, {"terms": terms, "vectors_only": vectors_only})
