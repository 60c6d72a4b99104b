"""Vectors of pictures, stored in base64 beside the thumbnails."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping

from neo4j import AsyncManagedTransaction

from trivium.graph.neo4j.change_log import Touched
from trivium.graph.neo4j.cypher import picture_vectors as cypher
from trivium.graph.neo4j.store_part import StorePart, identity_of, record_embedder
from trivium.graph.neo4j.write_steps import in_batches, lock, next_version
from trivium.graph.records import Vectors
from trivium.graph.stored_vectors import (
    EMBEDDED,
    PictureVectors,
    join_vectors,
    split_vectors,
)
from trivium.types import EmbedderIdentity

_PICTURES = "pictures"
_A_STATEMENT = 100
_A_READ = 2_000


class PictureVectorsPart(StorePart):
    """The part of a store that has the vectors of pictures."""

    @property
    def image_embedder(self) -> EmbedderIdentity | None:
        return identity_of(self._connection.read(cypher.READ_EMBEDDER))

    def set_image_embedder(self, identity: EmbedderIdentity) -> None:
        queries = cypher.READ_EMBEDDER, cypher.ANY_VECTOR, cypher.SET_EMBEDDER

        async def write(transaction: AsyncManagedTransaction) -> None:
            await record_embedder(transaction, identity, EMBEDDED, *queries)

        self._write(write)

    def pending_pictures(self) -> list[str]:
        return sorted(self._connection.read(cypher.PENDING)[0][0])

    def put_picture_vectors(self, pictures: Mapping[str, bytes], vectors: Vectors) -> None:
        """Store vectors of pictures that some chunk still has. Others are ignored. One transaction."""
        data = split_vectors(vectors, len(pictures), self.image_embedder)
        listed = [
            {"uri": uri, "thumbnail": b64encode(picture).decode(), "vector": b64encode(vector).decode()}
            for (uri, picture), vector in zip(pictures.items(), data, strict=True)
        ]

        async def write(transaction: AsyncManagedTransaction) -> None:
            await lock(transaction)
            await in_batches(transaction, cypher.SET_VECTORS, "rows", listed, size=_A_STATEMENT)
            await next_version(transaction, Touched(), vectors_only=True)

        self._write(write)

    def picture_vectors(self) -> PictureVectors:
        """Return all picture vectors, read once per state."""
        state = self._cache.state(self._connection)
        known = self._cache.pictures.find(state.key, [_PICTURES]).get(_PICTURES)
        if known is None:
            identity = self.image_embedder
            found = {
                uri: b64decode(vector)
                for part in self._connection.batches(cypher.VECTORS, _A_READ)
                for vector, uri in part
            }
            known = join_vectors(found, 0 if identity is None else identity.dimension)
            self._cache.pictures.put(state.key, {_PICTURES: known})
        return known
