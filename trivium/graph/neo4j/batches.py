"""Statements over many rows, some thousands at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, LiteralString

from neo4j import AsyncManagedTransaction

from trivium.common.iteration import batched
from trivium.graph.neo4j.connection import Rows, rows

ROWS_A_STATEMENT = 5_000


async def each(
    transaction: AsyncManagedTransaction,
    query: LiteralString,
    name: str,
    items: Sequence[Any],
    *,
    size: int = ROWS_A_STATEMENT,
    **others: Any,
) -> Rows:
    """The rows of a query whose parameter ``name`` are items, asked ``size`` of them at a time; of none it is not
    asked at all."""
    found: Rows = []
    for part in batched(items, size):
        found += await rows(transaction, query, {name: part, **others})
    return found
