"""Vectors of the sentences of chunks, in the database: which are missing, putting them in, reading them."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.errors import StoreError
from trivium.graph.arrays import Rows
from trivium.graph.embedded.connection import Connection, as_json
from trivium.graph.embedded.embeddings import read_embedder
from trivium.graph.embedded.writer import advance
from trivium.graph.records import Codes, Passage, SentenceVectors
from trivium.graph.schema import embedding_text, headings_of
from trivium.graph.vectors import check_codes, join_codes, text_hash


def pending_sentences(connection: Connection) -> list[Passage]:
    """Distinct passages without a row of their own, by page and position."""
    found = connection.execute(
        """
        SELECT coalesce(s.uri, n.uri), c.text FROM chunk AS c JOIN name AS n ON n.id = c.page_id
        LEFT JOIN section AS s ON s.id = c.section_id LEFT JOIN sentences AS v ON v.text_id = c.text_id
        WHERE v.text_id IS NULL ORDER BY n.uri, c.position
        """
    )
    return list(dict.fromkeys(Passage(tuple(headings_of(section)), text) for section, text in found))


def put_sentences(connection: Connection, passages: Sequence[Passage], codes: Sequence[Codes]) -> None:
    """Keep the vectors of passages that some chunk has; others are passed over."""
    identity = read_embedder(connection)
    if identity is None:
        raise StoreError("the store has no embedder yet: call set_embedder before put_sentences")
    check_codes(codes, len(passages), identity.dimension)
    connection.executemany(
        "INSERT OR REPLACE INTO sentences (text_id, data) SELECT id, ?2 FROM text WHERE hash = ?1"
        " AND EXISTS (SELECT 1 FROM chunk WHERE text_id = text.id)",
        (
            (text_hash(embedding_text(passage.headings, passage.text)), one.tobytes())
            for passage, one in zip(passages, codes, strict=True)
        ),
    )
    advance(connection)


def sentence_vectors(connection: Connection, dimension: int, chunks: Rows) -> SentenceVectors:
    """Those of chunks by their numbers (n,), in the order asked; none for -1."""
    asked = chunks.tolist()
    found = dict(
        connection.execute(
            "SELECT c.id, v.data FROM json_each(?) AS j JOIN chunk AS c ON c.id = j.value"
            " JOIN sentences AS v ON v.text_id = c.text_id",
            [as_json(asked)],
        )
    )
    return join_codes([found.get(number, b"") for number in asked], dimension)
