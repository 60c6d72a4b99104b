"""Typed relations and the pages that bear witness to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trivium.graph.embedded.connection import Connection, as_json
from trivium.graph.embedded.keys import name_ids, text_ids
from trivium.graph.model import RelationEdge

Witnessed = Sequence[tuple[int, RelationEdge]]
"""Relations, each with the number of its page."""


def witness(connection: Connection, relations: Mapping[str, Sequence[RelationEdge]]) -> int:
    """More relations of stored pages. Returns how many rows that made."""
    pages: dict[str, int] = dict(
        connection.execute(
            "SELECT n.uri, p.id FROM json_each(?) AS j JOIN name AS n ON n.uri = j.value"
            " JOIN page AS p ON p.id = n.id",
            [as_json(relations)],
        )
    )
    witnessed = [(pages[uri], edge) for uri, edges in relations.items() if uri in pages for edge in edges]
    titles = dict.fromkeys(title for _, edge in witnessed for title in (edge.source, edge.target))
    return insert_relations(connection, witnessed, name_ids(connection, list(titles), entities=True))


def insert_relations(connection: Connection, witnessed: Witnessed, names: Mapping[str, int]) -> int:
    """Insert relations that are not there yet, given the numbers of their titles; returns how many."""
    types = _type_ids(connection, list(dict.fromkeys(edge.type for _, edge in witnessed)))
    inserted = connection.executemany(
        "INSERT OR IGNORE INTO relation (page_id, source_id, type_id, target_id) VALUES (?, ?, ?, ?)",
        ((page, names[edge.source], types[edge.type], names[edge.target]) for page, edge in witnessed),
    )
    return inserted.rowcount


def _type_ids(connection: Connection, types: Sequence[str]) -> dict[str, int]:
    texts = text_ids(connection, types)
    connection.executemany(
        "INSERT INTO relation_type (type, text_id) VALUES (?, ?) ON CONFLICT (type) DO NOTHING",
        ((kind, texts[kind]) for kind in types),
    )
    return dict(connection.execute("SELECT type, id FROM relation_type"))
