"""Vectors of pictures, beside the chunks that stand for them. They go with the chunk: a page that has changed is written
anew, and its pictures are then without a vector."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from zlib import crc32

from trivium.errors import StoreFormatError
from trivium.graph.embedded.connection import Connection, begin_state
from trivium.graph.embedded.meta import read_meta, write_meta
from trivium.graph.pictures import PictureVectors, join_vectors, refuse_claim, split_vectors
from trivium.graph.records import Vectors
from trivium.types import EmbedderIdentity

_META = "image_embedder"


def read_image_embedder(connection: Connection) -> EmbedderIdentity | None:
    """Who made the vectors of pictures."""
    value = read_meta(connection, _META)
    return None if value is None else EmbedderIdentity(**json.loads(value))


def claim_pictures(connection: Connection, identity: EmbedderIdentity) -> None:
    """Give the pictures to an image embedder. Raises EmbedderMismatchError if another one made vectors of some."""
    stored = read_image_embedder(connection)
    if stored == identity:
        return
    if (
        stored is not None
        and connection.execute("SELECT 1 FROM picture_vector LIMIT 1").fetchone() is not None
    ):
        refuse_claim(stored, identity)
    write_meta(connection, _META, json.dumps(asdict(identity)))


def pending_pictures(connection: Connection) -> list[str]:
    """Chunks whose picture has no vector, or a damaged one, by uri."""
    found = connection.execute(
        "SELECT c.uri, v.data, v.crc FROM thumbnail AS t JOIN chunk AS c ON c.id = t.chunk_id"
        " LEFT JOIN picture_vector AS v ON v.chunk_id = t.chunk_id"
    )
    return sorted(uri for uri, data, crc in found if data is None or crc32(data) != crc)


def put_picture_vectors(connection: Connection, pictures: Mapping[str, bytes], vectors: Vectors) -> None:
    """Store vectors of pictures that some chunk still has; others are left out."""
    data = split_vectors(vectors, len(pictures), read_image_embedder(connection))
    connection.executemany(
        "INSERT OR REPLACE INTO picture_vector (chunk_id, data, crc) SELECT c.id, ?3, ?4 FROM chunk AS c"
        " JOIN thumbnail AS t ON t.chunk_id = c.id WHERE c.uri = ?1 AND t.data = ?2",
        (
            (uri, picture, vector, crc32(vector))
            for (uri, picture), vector in zip(pictures.items(), data, strict=True)
        ),
    )
    begin_state(connection)


def picture_vectors(connection: Connection) -> PictureVectors:
    """All of them. Raises StoreFormatError where one is not what was written."""
    identity = read_image_embedder(connection)
    rows = connection.execute(
        "SELECT c.uri, v.data, v.crc FROM picture_vector AS v JOIN chunk AS c ON c.id = v.chunk_id"
    )
    found: dict[str, bytes] = {}
    for uri, data, crc in rows:
        if crc32(data) != crc:
            raise StoreFormatError(
                f"the store is damaged: the vector of the picture {uri!r} is not what was written;"
                "  trivium embed --store STORE --images clip  makes it again"
            )
        found[uri] = data
    return join_vectors(found, 0 if identity is None else identity.dimension)
