"""Thumbnails and vectors of pictures, stored with their chunks. Both are removed with the chunk: when a page is
replaced, its pictures have no vectors until they are embedded again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from zlib import crc32

from trivium.errors import StoreFormatError
from trivium.graph.records import Vectors
from trivium.graph.sqlite.connection import Connection, as_json
from trivium.graph.sqlite.store_state import begin_state
from trivium.graph.sqlite.vectors import read_embedder, record_embedder
from trivium.graph.stored_vectors import EMBED_PICTURES, EMBEDDED, PictureVectors, join_vectors, split_vectors
from trivium.types import EmbedderIdentity

_META = "image_embedder"


def thumbnails(connection: Connection, chunks: Sequence[str]) -> dict[str, bytes]:
    """Map uris to thumbnails, in the order asked. Chunks without one are skipped."""
    return dict(
        connection.execute(
            "SELECT c.uri, t.data FROM json_each(?) AS j JOIN chunk AS c ON c.uri = j.value"
            " JOIN thumbnail AS t ON t.chunk_id = c.id ORDER BY j.key",
            [as_json(dict.fromkeys(chunks))],
        )
    )


def read_image_embedder(connection: Connection) -> EmbedderIdentity | None:
    """Return the embedder of the pictures."""
    return read_embedder(connection, _META)


def claim_pictures(connection: Connection, identity: EmbedderIdentity) -> None:
    """Assign the pictures to an image embedder. Raises EmbedderMismatchError if there are vectors of another one."""
    record_embedder(connection, _META, identity, EMBEDDED, "SELECT 1 FROM picture_vector LIMIT 1")


def pending_pictures(connection: Connection) -> list[str]:
    """Return the chunks, sorted by uri, whose picture has no vector or a damaged one."""
    embedded = {uri for _, uri, _, whole in vectors_as_stored(connection) if whole}
    found = connection.execute("SELECT c.uri FROM thumbnail AS t JOIN chunk AS c ON c.id = t.chunk_id")
    return sorted(uri for (uri,) in found if uri not in embedded)


def vectors_as_stored(connection: Connection) -> Iterator[tuple[int, str, bytes, bool]]:
    """Iterate over chunks with a picture vector: number, uri, vector, and whether it matches its checksum."""
    rows = connection.execute(
        "SELECT v.chunk_id, c.uri, v.data, v.crc FROM picture_vector AS v JOIN chunk AS c ON c.id = v.chunk_id"
    )
    return ((number, uri, data, crc32(data) == crc) for number, uri, data, crc in rows)


def drop_picture_vectors(connection: Connection, chunks: Sequence[int]) -> None:
    """Remove the picture vectors of chunks, by number."""
    connection.execute(
        "DELETE FROM picture_vector WHERE chunk_id IN (SELECT value FROM json_each(?))", [as_json(chunks)]
    )
    begin_state(connection)


def put_picture_vectors(connection: Connection, pictures: Mapping[str, bytes], vectors: Vectors) -> None:
    """Store vectors of pictures that some chunk still has. Others are skipped."""
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
    """Return all picture vectors. Raises StoreFormatError if one does not match its checksum."""
    identity = read_image_embedder(connection)
    found: dict[str, bytes] = {}
    for _, uri, data, whole in vectors_as_stored(connection):
        if not whole:
            raise StoreFormatError(
                f"the store is damaged: the vector of the picture {uri!r} is not what was written;"
                f"  {EMBED_PICTURES}  makes it again"
            )
        found[uri] = data
    return join_vectors(found, 0 if identity is None else identity.dimension)
