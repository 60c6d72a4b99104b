"""Statements over many rows, some thousands at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, LiteralString, TypeVar

from neo4j import AsyncManagedTransaction

from trivium.graph.neo4j.connection import Rows, rows

ROWS_A_STATEMENT = 5_000
T = TypeVar("T")


def slices(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Consecutive parts of at most ``size`` items.

    >>> [list(part) for part in slices("abcde", 2)]
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    for start in range(0, len(items), size):
        yield items[start : start + size]


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
    for part in slices(items, size):
        found += await rows(transaction, query, {name: list(part), **others})
    return found
