"""Common steps of write transactions: acquire the store's lock, run statements in batches, start a new version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, LiteralString

from neo4j import AsyncManagedTransaction

from trivium.common.iteration import batched
from trivium.errors import StoreFormatError
from trivium.graph.neo4j.change_log import KEPT_CHANGES, Touched
from trivium.graph.neo4j.connection import Rows, rows
from trivium.graph.neo4j.cypher import writing as cypher

ROWS_A_STATEMENT = 5_000


async def lock(transaction: AsyncManagedTransaction) -> bool:
    """Wait until no other transaction writes, and return whether the store has an embedder. The lock is released with
    the transaction.

    Raises StoreFormatError if the database is no longer a store.
    """
    found = await rows(transaction, cypher.LOCK)
    if not found:
        raise StoreFormatError("the database is no store of Trivium any more: its TriviumStore node is gone")
    return bool(found[0][0])


async def in_batches(
    transaction: AsyncManagedTransaction,
    query: LiteralString,
    name: str,
    items: Sequence[Any],
    *,
    size: int = ROWS_A_STATEMENT,
    **others: Any,
) -> Rows:
    """Run a query that takes a list as its parameter ``name`` with ``size`` items at a time, and return the rows.
    Without items it is not run.
    """
    found: Rows = []
    for part in batched(items, size):
        found += await rows(transaction, query, {name: part, **others})
    return found


async def next_version(
    transaction: AsyncManagedTransaction,
    touched: Touched | None = None,
    *,
    terms: int = 0,
    vectors_only: bool = False,
) -> None:
    """Start a new version of the store, so that readers drop cached data of earlier ones, except for what was not
    ``touched`` (None: anything may have been). With ``vectors_only`` cached links and words remain valid. ``terms`` is
    the change in the total number of search terms.
    """
    noted = {
        "touched": "" if touched is None else touched.to_text(),
        "kept": KEPT_CHANGES,
        "terms": terms,
        "vectors_only": vectors_only,
    }
    await rows(transaction, cypher.NEXT_VERSION, noted)
