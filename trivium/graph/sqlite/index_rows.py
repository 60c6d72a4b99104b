"""The rows of a committed state, as the index is made from them; see
:class:`trivium.graph.arrays.row_source.RowSource`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from trivium.common.iteration import batched
from trivium.graph.arrays.array_files import Rows, find_sorted
from trivium.graph.arrays.row_source import DetailRow, NodeRow
from trivium.graph.records import Vectors
from trivium.graph.schema import Label
from trivium.graph.sqlite.connection import Connection, as_json, read_integers
from trivium.graph.sqlite.vectors import intact, read_embedder

_BLOCK = 20_000
"""Number of nodes read at once."""
_VECTORS_A_READ = 8_192
_TERMS_A_READ = 5_000
_TEXTS_A_READ = 1_000

_NODES = {
    Label.CHUNK: """
        SELECT x.uri, x.id, coalesce(v.id, -1) FROM chunk AS x
        LEFT JOIN vector AS v ON v.text_id = x.text_id ORDER BY x.uri
        """,
    Label.SUBCHAPTER: """
        SELECT x.uri, x.id, coalesce(v.id, -1) FROM section AS x
        LEFT JOIN vector AS v ON v.text_id = x.text_id ORDER BY x.uri
        """,
    Label.PAGE: """
        SELECT x.uri, x.id, coalesce(v.id, -1) FROM page JOIN name AS x ON x.id = page.id
        LEFT JOIN vector AS v ON v.text_id = x.text_id ORDER BY x.uri
        """,
    Label.ENTITY: """
        SELECT x.uri, x.id, coalesce(v.id, -1) FROM name AS x
        LEFT JOIN vector AS v ON v.text_id = x.text_id WHERE x.leads_to IS NULL ORDER BY x.uri
        """,
}
"""Queries for uri, number and vector number of the nodes of each label, in uri order."""


class SqliteRows:
    """The rows of the state that a connection sees."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @cached_property
    def dimension(self) -> int:
        embedder = read_embedder(self._connection)
        return 0 if embedder is None else embedder.dimension

    def nodes(self, label: Label) -> Iterator[Sequence[NodeRow]]:
        cursor = self._connection.execute(_NODES[label])
        while rows := cursor.fetchmany(_BLOCK):
            yield rows

    def chunks(self) -> Rows:
        return read_integers(
            self._connection,
            "SELECT id, page_id, coalesce(section_id, -1), position, term_count, heading_count FROM chunk",
            6,
        )

    def sections(self) -> Rows:
        return read_integers(self._connection, "SELECT id, page_id, position FROM section", 3)

    def citations(self) -> Rows:
        names = read_integers(self._connection, "SELECT id, coalesce(leads_to, id) FROM name ORDER BY id", 2)
        cited = read_integers(
            self._connection, "SELECT chunk_id, name_id FROM citation ORDER BY chunk_id, ordinal", 2
        )
        cited[:, 1] = names[find_sorted(names[:, 0], cited[:, 1]), 1]
        return cited

    def last_name(self) -> int:
        return int(self._connection.execute("SELECT coalesce(max(id), 0) FROM name").fetchone()[0])

    def vector_numbers(self) -> Rows:
        found = self._connection.execute("SELECT id FROM vector")
        numbers: Rows = np.fromiter((row[0] for row in found), dtype=np.int64)
        numbers.sort()
        return numbers

    def vectors(self, after: int) -> Iterator[Vectors]:
        cursor = self._connection.execute(
            "SELECT v.data, s.crc FROM vector AS v LEFT JOIN vector_sum AS s ON s.text_id = v.text_id"
            " WHERE v.id > ? ORDER BY v.id",
            [after],
        )
        while rows := cursor.fetchmany(_VECTORS_A_READ):
            data = b"".join(intact(data, crc, "vector") for data, crc in rows)
            yield np.frombuffer(data, dtype="<f4").reshape(len(rows), self.dimension)

    def terms(self, after: int) -> Iterator[Sequence[tuple[int, str, str]]]:
        cursor = self._connection.execute(
            "SELECT id, heading_terms, terms FROM chunk WHERE id > ? ORDER BY id", [after]
        )
        while rows := cursor.fetchmany(_TERMS_A_READ):
            yield rows

    def details(self) -> Iterator[Sequence[DetailRow]]:
        cursor = self._connection.execute(
            "SELECT c.id, c.kind, coalesce(g.first_page, 0), coalesce(g.last_page, 0) FROM chunk AS c"
            " LEFT JOIN chunk_pages AS g ON g.chunk_id = c.id"
        )
        while rows := cursor.fetchmany(_BLOCK):
            yield rows

    def sentence_sums(self) -> Rows:
        return read_integers(
            self._connection,
            "SELECT v.text_id, length(v.data), coalesce(s.crc, -1) FROM sentences AS v"
            " LEFT JOIN sentences_sum AS s ON s.text_id = v.text_id ORDER BY v.text_id",
            3,
        )

    def chunk_texts(self) -> Rows:
        return read_integers(self._connection, "SELECT id, text_id FROM chunk", 2)

    def sentences(self, texts: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        for some in batched(texts, _TEXTS_A_READ):
            rows = self._connection.execute(
                "SELECT v.text_id, v.data, s.crc FROM json_each(?) AS j JOIN sentences AS v ON v.text_id = j.value"
                " LEFT JOIN sentences_sum AS s ON s.text_id = v.text_id ORDER BY v.text_id",
                [as_json(some)],
            )
            for number, data, crc in rows:
                yield number, intact(data, crc, "sentences")
