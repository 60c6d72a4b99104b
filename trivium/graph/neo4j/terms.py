"""In how many chunks each search term occurs: kept exact by adding up what a transaction changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from neo4j import AsyncManagedTransaction

from trivium.graph.neo4j.batches import each
from trivium.graph.neo4j.cypher import writing as cypher
from trivium.graph.neo4j.keys import term_key


class TermChanges:
    """Changes of document frequencies, and of the number of terms of all chunks, within one transaction."""

    def __init__(self) -> None:
        self._changes: Counter[str] = Counter()
        self.total = 0

    def add(self, chunks: Iterable[str]) -> None:
        """Chunks with these search terms (joined by spaces) came."""
        for chunk in chunks:
            terms = chunk.split()
            self._changes.update(set(terms))
            self.total += len(terms)

    def remove(self, chunks: Iterable[str]) -> None:
        """Chunks with these search terms went."""
        for chunk in chunks:
            terms = chunk.split()
            self._changes.subtract(set(terms))
            self.total -= len(terms)

    async def apply(self, transaction: AsyncManagedTransaction) -> None:
        """Write them down, in a fixed order."""
        changes = sorted((term_key(term), change) for term, change in self._changes.items() if change != 0)
        await each(transaction, cypher.COUNT_TERMS, "rows", changes)
        fewer = [term for term, change in changes if change < 0]
        await each(transaction, cypher.DROP_TERMS, "terms", fewer)
