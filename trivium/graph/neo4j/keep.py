"""Vectors belong to texts: a node that comes takes the vector of another that has its text, and a chunk those of its
sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from neo4j import AsyncManagedTransaction

from trivium.graph.neo4j.batches import each
from trivium.graph.neo4j.cypher import writing as cypher

VECTORS_A_STATEMENT = 500


async def find_vectors(
    transaction: AsyncManagedTransaction, hashes: Iterable[str]
) -> dict[str, Sequence[float]]:
    """text hash -> vector, of the texts that some node has a vector of."""
    found = await each(transaction, cypher.FIND_VECTORS, "hashes", list(dict.fromkeys(hashes)))
    return {text: vector for text, vector in found if vector is not None}


async def keep_vectors(transaction: AsyncManagedTransaction, vectors: Mapping[str, Sequence[float]]) -> None:
    """Give every node that has one of these texts (by hash) its vector."""
    rows = [{"hash": text, "vector": vector} for text, vector in vectors.items()]
    await each(transaction, cypher.SET_VECTORS, "rows", rows, size=VECTORS_A_STATEMENT)


async def find_sentences(transaction: AsyncManagedTransaction, hashes: Iterable[str]) -> dict[str, str]:
    """text hash -> vectors of the sentences as a chunk has them, of the texts of which they are known."""
    return dict(await each(transaction, cypher.FIND_SENTENCES, "hashes", list(dict.fromkeys(hashes))))


async def keep_sentences(transaction: AsyncManagedTransaction, sentences: Mapping[str, str]) -> None:
    """Give every chunk that has one of these texts (by hash) the vectors of its sentences."""
    rows = [{"hash": text, "sentences": vectors} for text, vectors in sentences.items()]
    await each(transaction, cypher.SET_SENTENCES, "rows", rows, size=VECTORS_A_STATEMENT)
