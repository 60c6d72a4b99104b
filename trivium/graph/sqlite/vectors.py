"""Vectors: in the database, and as one memory-mapped matrix for exact search."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from zlib import crc32

import numpy as np

from trivium.errors import StoreFormatError
from trivium.graph.arrays.array_files import Rows
from trivium.graph.records import Codes, Passage, Pending, Vectors
from trivium.graph.schema import embedding_text, entity_text, headings_as_text
from trivium.graph.sqlite.connection import Connection, Database, as_json, read_integers
from trivium.graph.sqlite.store_state import begin_state, read_meta, write_meta
from trivium.graph.stored_vectors import (
    FILLED,
    check_codes,
    check_vectors,
    dimension_of,
    refuse_embedder,
    text_hash,
)
from trivium.types import EmbedderIdentity

TEXTS_A_READ = 1000
"""Number of chunk texts in memory at once, about a megabyte."""


def read_embedder(connection: Connection, name: str = "embedder") -> EmbedderIdentity | None:
    """Return the embedder of the store, or another one that is recorded under a ``name``."""
    value = read_meta(connection, name)
    return None if value is None else EmbedderIdentity(**json.loads(value))


def claim(connection: Connection, identity: EmbedderIdentity) -> None:
    """Assign the store to an embedder, unless it was built with another one."""
    filled = "SELECT 1 FROM vector UNION ALL SELECT 1 FROM sentences LIMIT 1"
    if record_embedder(connection, "embedder", identity, FILLED, filled):
        begin_state(connection)


def record_embedder(
    connection: Connection, name: str, identity: EmbedderIdentity, what: str, vectors: str
) -> bool:
    """Record an embedder under a name, and return whether it is new. Raises EmbedderMismatchError, which begins with
    ``what``, if there is another one and the query ``vectors`` finds some.
    """
    stored = read_embedder(connection, name)
    if stored == identity:
        return False
    if stored is not None and connection.execute(vectors).fetchone() is not None:
        refuse_embedder(what, stored, identity)
    write_meta(connection, name, json.dumps(asdict(identity)))
    return True


def intact(data: bytes, crc: int | None, what: str) -> bytes:
    """Return a row's data after checking it against its checksum, if it has one. Raises StoreFormatError."""
    if crc is not None and crc32(data) != crc:
        raise StoreFormatError(
            f"the store is damaged: data in its table {what!r} are not what was written;  trivium check STORE --repair"
            "  makes them again"
        )
    return data


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of nodes with texts. ``missing`` selects the numbers of nodes without a vector and of their texts, in
    order; ``read`` selects, for node numbers given as a JSON list, the columns from which ``text`` builds the text.
    """

    missing: str
    read: str
    text: Callable[..., str]


# CROSS JOIN makes SQLite start with the left table.
_CHUNK_TEXTS = """
    SELECT coalesce(s.uri, n.uri), c.text FROM json_each(?) AS j JOIN chunk AS c ON c.id = j.value
    JOIN name AS n ON n.id = c.page_id LEFT JOIN section AS s ON s.id = c.section_id ORDER BY j.key
    """
_NAME_TEXTS = """
    SELECT n.uri, coalesce(t.type, '') FROM json_each(?) AS j JOIN name AS n ON n.id = j.value
    LEFT JOIN entity_type AS t ON t.name_id = n.id ORDER BY j.key
    """
_KINDS = (
    _Kind(
        "SELECT c.id, c.text_id FROM waiting AS w CROSS JOIN chunk AS c ON c.text_id = w.text_id"
        " JOIN name AS n ON n.id = c.page_id ORDER BY n.uri, c.position",
        _CHUNK_TEXTS,
        lambda section, text: embedding_text(headings_as_text(section), text),
    ),
    _Kind(
        "SELECT n.id, n.text_id FROM waiting AS w CROSS JOIN name AS n ON n.text_id = w.text_id"
        " JOIN page AS p ON p.id = n.id ORDER BY n.uri",
        _NAME_TEXTS,
        entity_text,
    ),
    _Kind(
        "SELECT s.id, s.text_id FROM waiting AS w CROSS JOIN section AS s ON s.text_id = w.text_id"
        " JOIN name AS n ON n.id = s.page_id ORDER BY n.uri, s.position",
        "SELECT s.uri FROM json_each(?) AS j JOIN section AS s ON s.id = j.value ORDER BY j.key",
        str,
    ),
    _Kind(
        "SELECT n.id, n.text_id FROM waiting AS w CROSS JOIN name AS n ON n.text_id = w.text_id"
        " WHERE n.leads_to IS NULL ORDER BY n.uri",
        _NAME_TEXTS,
        entity_text,
    ),
    _Kind(
        "SELECT r.id, r.text_id FROM waiting AS w CROSS JOIN relation_type AS r ON r.text_id = w.text_id"
        " ORDER BY r.type",
        "SELECT r.type FROM json_each(?) AS j JOIN relation_type AS r ON r.id = j.value ORDER BY j.key",
        str,
    ),
)


def pending_texts(database: Database) -> Pending[str]:
    """Return the distinct texts without a vector: of chunks by page and position, pages by uri, sections by page and
    position, entities by uri, and relation types. Only numbers are kept in memory; texts are read as needed.
    """
    with database.reading_one_state() as connection:
        missing = _first_of_each_text([read_integers(connection, kind.missing, 2) for kind in _KINDS])

    def batches() -> Iterator[list[str]]:
        for kind, nodes in zip(_KINDS, missing, strict=True):
            for rows in _read_some(database, kind.read, nodes):
                yield [kind.text(*row) for row in rows]

    return Pending(sum(map(len, missing)), batches)


def _first_of_each_text(found: Sequence[Rows]) -> list[Rows]:
    """Keep, of the nodes given as (number, text number) (n, 2), the first of those that share a text."""
    _, first = np.unique(np.concatenate(found)[:, 1], return_index=True)
    bounds = np.cumsum([0, *map(len, found)])
    return [
        rows[np.sort(first[(first >= begin) & (first < begin + len(rows))]) - begin, 0]
        for rows, begin in zip(found, bounds[:-1], strict=True)
    ]


def _read_some(database: Database, query: str, numbers: Rows) -> Iterator[list[tuple[Any, ...]]]:
    """Iterate over the rows of a query for node numbers in batches. No connection is held between batches."""
    for begin in range(0, len(numbers), TEXTS_A_READ):
        some = as_json(numbers[begin : begin + TEXTS_A_READ].tolist())
        with database.reading() as connection:
            rows = connection.execute(query, [some]).fetchall()
        yield rows


def put_vectors(connection: Connection, texts: Sequence[str], vectors: Vectors) -> None:
    """Store vectors of texts that some node has. Others are skipped, and where nothing is stored the state stays."""
    check_vectors(vectors, len(texts), dimension_of(read_embedder(connection)))
    data = np.ascontiguousarray(vectors, dtype="<f4")
    stored = connection.executemany(
        """
        INSERT OR REPLACE INTO vector (text_id, data) SELECT id, ?2 FROM text WHERE hash = ?1
        AND NOT EXISTS (SELECT 1 FROM vector WHERE text_id = text.id AND data = ?2)
        """,
        ((text_hash(text), data[row].tobytes()) for row, text in enumerate(texts)),
    )
    connection.executemany(
        "INSERT OR REPLACE INTO vector_sum (text_id, crc) SELECT id, ?2 FROM text WHERE hash = ?1",
        ((text_hash(text), crc32(data[row].tobytes())) for row, text in enumerate(texts)),
    )
    if stored.rowcount > 0:
        begin_state(connection)


def relation_vectors(connection: Connection, types: Sequence[str]) -> Vectors:
    """Return embeddings of relation types, one row per type; NaN for types that are unknown or have no vector."""
    identity = read_embedder(connection)
    rows = np.full((len(types), 0 if identity is None else identity.dimension), np.nan, dtype=np.float32)
    found = connection.execute(
        "SELECT j.key, v.data, s.crc FROM json_each(?) AS j JOIN relation_type AS r ON r.type = j.value"
        " JOIN vector AS v ON v.text_id = r.text_id LEFT JOIN vector_sum AS s ON s.text_id = v.text_id",
        [as_json(types)],
    )
    for row, data, crc in found:
        rows[row] = np.frombuffer(intact(data, crc, "vector"), dtype="<f4")
    return rows


def pending_sentences(database: Database) -> Pending[Passage]:
    """Return distinct passages without sentence vectors, by page and position, read lazily like
    :func:`pending_texts`.
    """
    with database.reading_one_state() as connection:
        found = read_integers(
            connection,
            "SELECT c.id, c.text_id FROM waiting_sentences AS w CROSS JOIN chunk AS c ON c.text_id = w.text_id"
            " JOIN name AS n ON n.id = c.page_id ORDER BY n.uri, c.position",
            2,
        )
    (chunks,) = _first_of_each_text([found])

    def batches() -> Iterator[list[Passage]]:
        for rows in _read_some(database, _CHUNK_TEXTS, chunks):
            yield [Passage(tuple(headings_as_text(section)), text) for section, text in rows]

    return Pending(len(chunks), batches)


def put_sentences(connection: Connection, passages: Sequence[Passage], codes: Sequence[Codes]) -> None:
    """Store the sentence vectors of passages that some chunk has. Others are skipped, and where nothing is stored the
    state stays.
    """
    check_codes(codes, len(passages), dimension_of(read_embedder(connection)))
    rows = [
        (text_hash(embedding_text(passage.headings, passage.text)), vectors.tobytes())
        for passage, vectors in zip(passages, codes, strict=True)
    ]
    stored = connection.executemany(
        "INSERT OR REPLACE INTO sentences (text_id, data) SELECT id, ?2 FROM text WHERE hash = ?1"
        " AND EXISTS (SELECT 1 FROM chunk WHERE text_id = text.id)",
        rows,
    )
    connection.executemany(
        "INSERT OR REPLACE INTO sentences_sum (text_id, crc) SELECT id, ?2 FROM text WHERE hash = ?1"
        " AND EXISTS (SELECT 1 FROM sentences WHERE text_id = text.id)",
        ((key, crc32(data)) for key, data in rows),
    )
    if stored.rowcount > 0:
        begin_state(connection)
