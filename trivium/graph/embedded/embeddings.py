"""Vectors in the database: whose they are, which are missing, putting them in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import numpy as np

from trivium.errors import EmbedderMismatchError, StoreError
from trivium.graph.embedded.connection import Connection
from trivium.graph.embedded.writer import advance
from trivium.graph.records import Vectors
from trivium.graph.schema import embedding_text, entity_text, headings_of
from trivium.graph.vectors import check_vectors, text_hash
from trivium.types import EmbedderIdentity


def read_embedder(connection: Connection) -> EmbedderIdentity | None:
    """Who filled the store."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'embedder'").fetchone()
    return None if row is None else EmbedderIdentity(**json.loads(row[0]))


def claim(connection: Connection, identity: EmbedderIdentity) -> None:
    """Make the store an embedder's, unless another one filled it."""
    known = read_embedder(connection)
    if known == identity:
        return
    filled = "SELECT 1 FROM vector UNION ALL SELECT 1 FROM sentences LIMIT 1"
    if known is not None and connection.execute(filled).fetchone() is not None:
        raise EmbedderMismatchError(
            f"the store was filled by embedder {known.name!r} (version {known.version}, {known.dimension} "
            f"dimensions) and cannot take vectors of {identity.name!r} (version {identity.version}, "
            f"{identity.dimension} dimensions); use {known.name!r}, or build another store"
        )
    connection.execute(
        "INSERT OR REPLACE INTO meta (key, value) VALUES ('embedder', ?)", [json.dumps(asdict(identity))]
    )
    advance(connection)


def pending_texts(connection: Connection) -> list[str]:
    """Distinct texts without a vector, in a fixed order: chunks by page and position, pages by uri, sections
    by page and position, entities by uri, relation types."""
    return list(dict.fromkeys(_pending(connection)))


def _pending(connection: Connection) -> Iterator[str]:
    for section, text in connection.execute(
        """
        SELECT coalesce(s.uri, n.uri), c.text FROM chunk AS c JOIN name AS n ON n.id = c.page_id
        LEFT JOIN section AS s ON s.id = c.section_id LEFT JOIN vector AS v ON v.text_id = c.text_id
        WHERE v.id IS NULL ORDER BY n.uri, c.position
        """
    ):
        yield embedding_text(headings_of(section), text)
    for uri, kind in connection.execute(
        """
        SELECT n.uri, coalesce(t.type, '') FROM page AS p JOIN name AS n ON n.id = p.id
        LEFT JOIN entity_type AS t ON t.name_id = n.id
        LEFT JOIN vector AS v ON v.text_id = n.text_id WHERE v.id IS NULL ORDER BY n.uri
        """
    ):
        yield entity_text(uri, kind)
    for (uri,) in connection.execute(
        """
        SELECT s.uri FROM section AS s JOIN name AS n ON n.id = s.page_id
        LEFT JOIN vector AS v ON v.text_id = s.text_id WHERE v.id IS NULL ORDER BY n.uri, s.position
        """
    ):
        yield uri
    for uri, kind in connection.execute(
        """
        SELECT n.uri, coalesce(t.type, '') FROM name AS n LEFT JOIN entity_type AS t ON t.name_id = n.id
        LEFT JOIN vector AS v ON v.text_id = n.text_id
        WHERE n.leads_to IS NULL AND v.id IS NULL ORDER BY n.uri
        """
    ):
        yield entity_text(uri, kind)
    for (kind,) in connection.execute(
        """
        SELECT r.type FROM relation_type AS r LEFT JOIN vector AS v ON v.text_id = r.text_id
        WHERE v.id IS NULL ORDER BY r.type
        """
    ):
        yield str(kind)


def put_vectors(connection: Connection, texts: Sequence[str], vectors: Vectors) -> None:
    """Keep vectors of texts that some node has; others are passed over."""
    identity = read_embedder(connection)
    if identity is None:
        raise StoreError("the store has no embedder yet: call set_embedder before put_vectors")
    check_vectors(vectors, len(texts), identity.dimension)
    data = np.ascontiguousarray(vectors, dtype="<f4")
    connection.executemany(
        """
        INSERT OR REPLACE INTO vector (text_id, data) SELECT id, ?2 FROM text WHERE hash = ?1
        AND NOT EXISTS (SELECT 1 FROM vector WHERE text_id = text.id AND data = ?2)
        """,
        ((text_hash(text), data[row].tobytes()) for row, text in enumerate(texts)),
    )
    advance(connection)


def relation_vectors(connection: Connection, types: Sequence[str]) -> Vectors:
    """Embeddings of relation types, one row a type; NaN where the graph has no such type, or no vector."""
    identity = read_embedder(connection)
    rows = np.full((len(types), 0 if identity is None else identity.dimension), np.nan, dtype=np.float32)
    for row, kind in enumerate(types):
        found = connection.execute(
            "SELECT v.data FROM relation_type AS r JOIN vector AS v ON v.text_id = r.text_id"
            " WHERE r.type = ?",
            [kind],
        ).fetchone()
        if found is not None:
            rows[row] = np.frombuffer(found[0], dtype="<f4")
    return rows
