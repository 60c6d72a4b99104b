"""Vectors in the database: whose they are, which are missing, putting them in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from operator import itemgetter
from typing import Any, TypeVar

from neo4j import AsyncManagedTransaction

from trivium.common.iteration import batched
from trivium.errors import EmbedderMismatchError, StoreError
from trivium.graph.neo4j.connection import Connection, Rows, rows
from trivium.graph.neo4j.cypher import writing as cypher
from trivium.graph.neo4j.generation import advance, lock
from trivium.graph.neo4j.keep import keep_vectors
from trivium.graph.neo4j.pending import pending, pending_chunks
from trivium.graph.schema import embedding_text, headings_of
from trivium.graph.store import Vectors
from trivium.graph.vectors import check_vectors, text_hash
from trivium.types import EmbedderIdentity

_VECTORS_A_TRANSACTION = 2_000

Kept = TypeVar("Kept")


def read_embedder(connection: Connection) -> EmbedderIdentity | None:
    """Who filled the store."""
    return _identity(connection.read(cypher.READ_EMBEDDER))


def claim(connection: Connection, identity: EmbedderIdentity) -> None:
    """Make the store an embedder's, unless another one filled it."""

    async def write(transaction: AsyncManagedTransaction) -> None:
        await lock(transaction)
        known = _identity(await rows(transaction, cypher.READ_EMBEDDER))
        if known == identity:
            return
        if known is not None and (await rows(transaction, cypher.ANY_VECTOR))[0][0]:
            raise EmbedderMismatchError(
                f"the store was filled by embedder {known.name!r} (version {known.version}, {known.dimension} "
                f"dimensions) and cannot take vectors of {identity.name!r} (version {identity.version}, "
                f"{identity.dimension} dimensions); use {known.name!r}, or build another store"
            )
        await rows(
            transaction,
            cypher.CLAIM,
            {"name": identity.name, "version": identity.version, "dimension": identity.dimension},
        )
        await advance(transaction, vectors_only=True)

    connection.write(write)


def pending_texts(connection: Connection) -> list[str]:
    """Distinct texts without a vector, in a fixed order: chunks by page and position, pages by uri, sections
    by page and position, entities by uri, relation types."""
    chunks = pending_chunks(connection, cypher.PENDING_CHUNKS)
    texts = [embedding_text(headings_of(section), text) for section, text in chunks]
    pages = pending(connection, cypher.PENDING_PAGES)
    texts += [text for text, _ in sorted(pages, key=itemgetter(1))]
    texts += [uri for _, _, uri in sorted(pending(connection, cypher.PENDING_SECTIONS))]
    entities = pending(connection, cypher.PENDING_ENTITIES)
    texts += [text for text, _ in sorted(entities, key=itemgetter(1))]
    texts += sorted(kind for (kind,) in pending(connection, cypher.PENDING_TYPES))
    return list(dict.fromkeys(texts))


def put_vectors(connection: Connection, texts: Sequence[str], vectors: Vectors) -> None:
    """Keep vectors of texts that some node has; others are passed over.

    Written in transactions that are small enough for the server's memory: an attempt that was cut short may be
    repeated, and what it had written stays.
    """
    identity = read_embedder(connection)
    if identity is None:
        raise StoreError("the store has no embedder yet: call set_embedder before put_vectors")
    check_vectors(vectors, len(texts), identity.dimension)
    last = {text_hash(text): row for row, text in enumerate(texts)}
    for part in batched(sorted(last.items()), _VECTORS_A_TRANSACTION):
        connection.write(putting(keep_vectors, {key: vectors[row].tolist() for key, row in part}))


def putting(
    keep: Callable[[AsyncManagedTransaction, Kept], Awaitable[None]], found: Kept
) -> Callable[[AsyncManagedTransaction], Coroutine[Any, Any, None]]:
    """The transaction that keeps what was embedded."""

    async def write(transaction: AsyncManagedTransaction) -> None:
        await lock(transaction)
        await keep(transaction, found)
        await advance(transaction, vectors_only=True)

    return write


def _identity(found: Rows) -> EmbedderIdentity | None:
    return EmbedderIdentity(*found[0]) if found else None
