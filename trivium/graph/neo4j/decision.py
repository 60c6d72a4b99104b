"""Which fusion was decided on for the store, at the store's own node. Nothing that is kept in memory hangs on it."""

from __future__ import annotations

from neo4j import AsyncManagedTransaction

from trivium.graph.neo4j.connection import Connection, rows
from trivium.graph.neo4j.cypher import reading, writing
from trivium.graph.neo4j.generation import lock


def read_decision(connection: Connection) -> str | None:
    """The decision as it was written."""
    found = connection.read(reading.READ_FUSION)
    return None if not found or found[0][0] is None else str(found[0][0])


def write_decision(connection: Connection, decision: str | None) -> None:
    """Keep a decision in place of an earlier one, or none."""

    async def write(transaction: AsyncManagedTransaction) -> None:
        await lock(transaction)
        await rows(transaction, writing.SET_FUSION, {"decision": decision})

    connection.write(write)
