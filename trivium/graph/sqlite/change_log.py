"""What changed since an earlier state: by the database's log of rows deleted or changed, and by the
numbers of rows, since new ones have higher numbers than all earlier ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from trivium.graph.arrays.array_files import Rows
from trivium.graph.arrays.row_source import Changes, NodeRow
from trivium.graph.arrays.topology import Nodes, Topology
from trivium.graph.arrays.vector_matrix import Matrix
from trivium.graph.schema import Label
from trivium.graph.sqlite.connection import Connection, as_json
from trivium.graph.sqlite.index_rows import SqliteRows
from trivium.graph.sqlite.store_state import CHANGES_KEPT, current_state, read_meta, state_number, was_state

_SINCE = "changes_since"
_CHUNKS = """
    SELECT c.id, c.uri, c.page_id, coalesce(c.section_id, -1), c.position, c.term_count, c.heading_count, c.text_id,
        coalesce(v.id, -1), c.heading_terms || ' ' || c.terms,
        c.kind, coalesce(g.first_page, 0), coalesce(g.last_page, 0)
    FROM chunk AS c LEFT JOIN vector AS v ON v.text_id = c.text_id LEFT JOIN chunk_pages AS g ON g.chunk_id = c.id
    WHERE c.id > ? ORDER BY +c.uri
    """
_SECTIONS = """
    SELECT s.id, s.uri, s.page_id, coalesce(v.id, -1)
    FROM section AS s LEFT JOIN vector AS v ON v.text_id = s.text_id WHERE s.id > ? ORDER BY +s.uri
    """
_NAME = """
    SELECT n.id, n.uri, n.leads_to IS NULL, coalesce(v.id, -1), p.id IS NOT NULL
    FROM name AS n LEFT JOIN vector AS v ON v.text_id = n.text_id LEFT JOIN page AS p ON p.id = n.id
    """
_COUNTS = {
    Label.CHUNK: "SELECT count(*) FROM chunk WHERE id > ?",
    Label.SUBCHAPTER: "SELECT count(*) FROM section WHERE id > ?",
}
_OF_TEXTS = {
    table: f"SELECT x.id, coalesce(v.id, -1) FROM json_each(?) AS j JOIN {table} AS x ON x.text_id = j.value"  # noqa: S608
    " LEFT JOIN vector AS v ON v.text_id = x.text_id"
    for table in ("chunk", "section", "name")
}
"""Queries for the nodes of a text and their current vectors."""


@dataclass(frozen=True, slots=True)
class LoggedChanges:
    """Changed rows by number: deleted chunks and sections; added or removed pages; names that were removed, changed
    between alias and entity or got another text; texts that lost a vector; and texts that gained or lost sentence
    vectors.
    """

    chunk: list[int]
    section: list[int]
    page: list[int]
    name: list[int]
    vector: list[int]
    sentences: list[int]

    def __len__(self) -> int:
        return sum(len(getattr(self, kind.name)) for kind in fields(self))


def read_log(connection: Connection, key: str, most: int) -> LoggedChanges | None:
    """Return the changes since the state ``key``. None if this is not an earlier state of the store, if the log does
    not reach back that far, or if there are more than ``most`` changes.
    """
    number, last = state_number(key), state_number(current_state(connection))
    since = read_meta(connection, _SINCE)
    if since is None or not was_state(connection, key) or number < max(int(since), last - CHANGES_KEPT):
        return None
    rows = connection.execute(
        "SELECT kind, id FROM change WHERE number >= ? LIMIT ?", [number, most + 1]
    ).fetchall()
    if len(rows) > most:
        return None
    found: dict[str, set[int]] = {kind.name: set() for kind in fields(LoggedChanges)}
    for kind, row in rows:
        found[kind].add(row)
    return LoggedChanges(**{kind: sorted(numbers) for kind, numbers in found.items()})


def count_new(connection: Connection, old: Topology, matrix: Matrix) -> int:
    """Return the number of chunks, sections, names and vectors added since."""
    counts = [(query, old.nodes[label].highest) for label, query in _COUNTS.items()]
    counts.append(("SELECT count(*) FROM name WHERE id > ?", old.last_name))
    counts.append(("SELECT count(*) FROM vector WHERE id > ?", matrix.highest))
    return sum(int(connection.execute(query, [after]).fetchone()[0]) for query, after in counts)


def read_changes(connection: Connection, log: LoggedChanges, old: Topology, matrix: Matrix) -> Changes:
    """Return what is different now from an earlier state, since which the log has been written."""
    source, nodes = SqliteRows(connection), old.nodes
    vectors = connection.execute(
        "SELECT id, text_id FROM vector WHERE id > ? ORDER BY id", [matrix.highest]
    ).fetchall()
    blocks = [np.empty((0, source.dimension), dtype=np.float32), *source.vectors(matrix.highest)]
    chunks = connection.execute(_CHUNKS, [nodes[Label.CHUNK].highest]).fetchall()
    sections = connection.execute(_SECTIONS, [nodes[Label.SUBCHAPTER].highest]).fetchall()
    names = _read_names(connection, log, old.last_name)
    given = _vectors_of_texts(connection, {*(text for _, text in vectors), *log.vector})
    of_names = _integers([(name.number, name.vector) for name in names], 2)
    gone: dict[Label, Sequence[int]] = {Label.CHUNK: log.chunk, Label.SUBCHAPTER: log.section}
    new: dict[Label, Sequence[NodeRow]] = {
        Label.CHUNK: [(row[1], row[0], row[8]) for row in chunks],
        Label.SUBCHAPTER: [(row[1], row[0], row[3]) for row in sections],
    }
    for label in (Label.PAGE, Label.ENTITY):
        gone[label], new[label] = _settle(nodes[label], names, label)
    citing = np.union1d(
        np.array([row[0] for row in chunks], dtype=np.int64),
        _citing(connection, _other_ends(nodes[Label.ENTITY], names, log)),
    )
    texts = [(row[0], row[7]) for row in chunks]
    texts += connection.execute(
        "SELECT c.id, c.text_id FROM json_each(?) AS j JOIN chunk AS c ON c.text_id = j.value",
        [as_json(log.sentences)],
    ).fetchall()
    return Changes(
        gone=gone,
        new=new,
        given={
            Label.CHUNK: given["chunk"],
            Label.SUBCHAPTER: given["section"],
            Label.PAGE: np.concatenate([of_names, given["name"]]),
            Label.ENTITY: np.concatenate([of_names, given["name"]]),
        },
        vector_numbers=np.array([number for number, _ in vectors], dtype=np.int64),
        vectors=np.concatenate(blocks),
        chunks=_integers([row[2:7] for row in chunks], 5),
        terms=[row[9] for row in chunks],
        details=[(row[0], *row[10:]) for row in chunks],
        section_pages=np.array([row[2] for row in sections], dtype=np.int64),
        outlines=_outlines(connection, {row[2] for row in sections}),
        citing=citing,
        citations=_citations(connection, citing),
        texts=texts,
        sentences=dict(source.sentences(list(dict.fromkeys(text for _, text in texts)))),
        last_name=source.last_name(),
    )


@dataclass(frozen=True, slots=True)
class _Name:
    """A name that is new or has changed. For a removed name ``is_entity`` and ``is_page`` are both false."""

    number: int
    uri: str = ""
    is_entity: bool = False
    vector: int = -1
    is_page: bool = False

    def is_a(self, label: Label) -> bool:
        """Whether it is a page or an entity."""
        return self.is_page if label is Label.PAGE else self.is_entity


def _read_names(connection: Connection, log: LoggedChanges, after: int) -> list[_Name]:
    """Return the names that changed, became pages or were removed, and those above a number."""
    listed = sorted({*log.name, *log.page})
    rows = connection.execute(
        f"{_NAME} JOIN json_each(?) AS j ON n.id = j.value WHERE n.id <= ?", [as_json(listed), after]
    )
    found = {row[0]: row for row in rows}
    found |= {row[0]: row for row in connection.execute(f"{_NAME} WHERE n.id > ?", [after])}
    names = [
        _Name(number, uri, bool(entity), vector, bool(page))
        for number, uri, entity, vector, page in found.values()
    ]
    return [*names, *(_Name(number) for number in listed if number not in found)]


def _settle(old: Nodes, names: Sequence[_Name], label: Label) -> tuple[list[int], list[NodeRow]]:
    """Return the numbers of the names that are no longer nodes of a label, and those that are now, sorted by uri."""
    there = old.rows_of(np.array([name.number for name in names], dtype=np.int64)) >= 0
    known = list(zip(names, there.tolist(), strict=True))
    gone = [name.number for name, was in known if was and not name.is_a(label)]
    new = sorted((name.uri, name.number, name.vector) for name, was in known if name.is_a(label) and not was)
    return gone, new


def _vectors_of_texts(connection: Connection, texts: Iterable[int]) -> dict[str, Rows]:
    """Return by table the nodes of texts, and their current vectors (n, 2)."""
    wanted = [as_json(sorted(texts))]
    return {
        table: _integers(connection.execute(query, wanted).fetchall(), 2)
        for table, query in _OF_TEXTS.items()
    }


def _other_ends(entities: Nodes, names: Sequence[_Name], log: LoggedChanges) -> list[int]:
    """Return the numbers of names through which citations of old chunks may now lead elsewhere."""
    changed = set(log.name)
    some = [name for name in names if name.number in changed]
    was = entities.rows_of(np.array([name.number for name in some], dtype=np.int64)) >= 0
    return [name.number for name, entity in zip(some, was, strict=True) if not (entity and name.is_entity)]


def _citing(connection: Connection, names: Sequence[int]) -> Rows:
    """Return the numbers of the chunks that cite one of the names."""
    found = connection.execute(
        "SELECT DISTINCT t.chunk_id FROM json_each(?) AS j JOIN citation AS t ON t.name_id = j.value",
        [as_json(names)],
    )
    return np.array([number for (number,) in found], dtype=np.int64)


def _citations(connection: Connection, chunks: Rows) -> Rows:
    """Return distinct (chunk number, number of the cited entity), by chunk and first appearance."""
    pairs = connection.execute(
        "SELECT t.chunk_id, coalesce(n.leads_to, n.id) FROM json_each(?) AS j JOIN citation AS t ON t.chunk_id = j.value"
        " JOIN name AS n ON n.id = t.name_id ORDER BY t.chunk_id, t.ordinal",
        [as_json(chunks.tolist())],
    )
    return _integers(list(dict.fromkeys(pairs)), 2)


def _outlines(connection: Connection, pages: Iterable[int]) -> Rows:
    """Return (page number, section number) of all sections of pages, in document order."""
    rows = connection.execute(
        "SELECT s.page_id, s.id FROM json_each(?) AS j JOIN section AS s ON s.page_id = j.value"
        " ORDER BY s.page_id, s.position, s.uri",
        [as_json(sorted(pages))],
    )
    return _integers(rows.fetchall(), 2)


def _integers(rows: Sequence[Sequence[Any]], columns: int) -> Rows:
    return np.array(rows, dtype=np.int64).reshape(-1, columns)
