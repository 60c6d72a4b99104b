"""Vectors of pictures, stored as properties of their chunks in base64, like the thumbnails."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping

from neo4j import AsyncManagedTransaction

from trivium.graph.neo4j.cache import StoreCache
from trivium.graph.neo4j.change_log import Touched
from trivium.graph.neo4j.connection import Connection, Rows, rows
from trivium.graph.neo4j.cypher import pictures as cypher
from trivium.graph.neo4j.transactions import in_batches, lock, next_version
from trivium.graph.pictures import PictureVectors, join_vectors, refuse_claim, split_vectors
from trivium.graph.records import Vectors
from trivium.types import EmbedderIdentity

_PICTURES = "pictures"
_A_STATEMENT = 100
_A_READ = 2_000


def read_image_embedder(connection: Connection) -> EmbedderIdentity | None:
    """Return the embedder of the pictures."""
    return _identity(connection.read(cypher.READ_EMBEDDER))


def set_image_embedder(connection: Connection, identity: EmbedderIdentity) -> None:
    """Assign the pictures to an image embedder. Raises EmbedderMismatchError if there are vectors of another one."""

    async def write(transaction: AsyncManagedTransaction) -> None:
        await lock(transaction)
        stored = _identity(await rows(transaction, cypher.READ_EMBEDDER))
        if stored == identity:
            return
        if stored is not None and (await rows(transaction, cypher.ANY_VECTOR))[0][0]:
            refuse_claim(stored, identity)
        await rows(
            transaction,
            cypher.SET_EMBEDDER,
            {"name": identity.name, "version": identity.version, "dimension": identity.dimension},
        )

    connection.write(write)


def _identity(found: Rows) -> EmbedderIdentity | None:
    return EmbedderIdentity(*found[0]) if found else None


def pending_pictures(connection: Connection) -> list[str]:
    """Return the chunks whose picture has no vector, sorted by uri."""
    return sorted(connection.read(cypher.PENDING)[0][0])


def put_picture_vectors(connection: Connection, pictures: Mapping[str, bytes], vectors: Vectors) -> None:
    """Store vectors of pictures that some chunk still has. Others are ignored. One transaction."""
    data = split_vectors(vectors, len(pictures), read_image_embedder(connection))
    listed = [
        {"uri": uri, "thumbnail": b64encode(picture).decode(), "vector": b64encode(vector).decode()}
        for (uri, picture), vector in zip(pictures.items(), data, strict=True)
    ]

    async def write(transaction: AsyncManagedTransaction) -> None:
        await lock(transaction)
        await in_batches(transaction, cypher.SET_VECTORS, "rows", listed, size=_A_STATEMENT)
        await next_version(transaction, Touched(), vectors_only=True)

    connection.write(write)


def picture_vectors(connection: Connection, cache: StoreCache) -> PictureVectors:
    """Return all picture vectors, read once per state."""
    state = cache.state(connection)
    known = cache.pictures.find(state.key, [_PICTURES]).get(_PICTURES)
    if known is None:
        identity = read_image_embedder(connection)
        found = {
            uri: b64decode(vector)
            for part in connection.batches(cypher.VECTORS, _A_READ)
            for vector, uri in part
        }
        known = join_vectors(found, 0 if identity is None else identity.dimension)
        cache.pictures.put(state.key, {_PICTURES: known})
    return known
