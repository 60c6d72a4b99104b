"""Restores consistency after pages were added or removed: aliases, and unreferenced rows."""

# ruff: noqa: S608 - queries are put together from constants alone

from __future__ import annotations

from dataclasses import dataclass, field

from trivium.graph.schema import entity_text
from trivium.graph.sqlite.connection import Connection, as_json
from trivium.graph.sqlite.row_ids import text_ids

LEADS_TO = """CASE WHEN id IN (SELECT id FROM page) THEN NULL ELSE (
        SELECT a.page_id FROM alias AS a JOIN name AS p ON p.id = a.page_id
        WHERE a.name_id = name.id ORDER BY p.uri LIMIT 1
    ) END"""
"""Where a name leads: a page's own title to the page itself, an alias claimed by several pages to the one with the lowest
uri.
"""
UNUSED_NAME = """
    NOT EXISTS (SELECT 1 FROM page WHERE page.id = name.id)
    AND NOT EXISTS (SELECT 1 FROM citation WHERE name_id = name.id)
    AND NOT EXISTS (SELECT 1 FROM alias WHERE name_id = name.id)
    AND NOT EXISTS (SELECT 1 FROM relation WHERE source_id = name.id)
    AND NOT EXISTS (SELECT 1 FROM relation WHERE target_id = name.id)
    """
UNUSED_TYPE = "NOT EXISTS (SELECT 1 FROM relation WHERE type_id = relation_type.id)"
UNUSED_TEXT = """
    NOT EXISTS (SELECT 1 FROM chunk WHERE text_id = text.id)
    AND NOT EXISTS (SELECT 1 FROM section WHERE text_id = text.id)
    AND NOT EXISTS (SELECT 1 FROM name WHERE text_id = text.id)
    AND NOT EXISTS (SELECT 1 FROM relation_type WHERE text_id = text.id)
    """
"""Conditions for what nothing refers to."""


@dataclass
class Touched:
    """Rows that a transaction may have made inconsistent. ``claimed`` are numbers of names that are, were or become
    pages or aliases; ``mentioned`` those of all other names that lost a mention.
    """

    claimed: set[int] = field(default_factory=set)
    mentioned: set[int] = field(default_factory=set)
    texts: set[int] = field(default_factory=set)
    types: set[int] = field(default_factory=set)


def reconcile(connection: Connection, touched: Touched) -> None:
    """Bring names, texts, vectors and relation types in line with the current pages."""
    names = as_json(sorted(touched.claimed | touched.mentioned))
    _redirect(connection, as_json(sorted(touched.claimed)))
    _drop_names(connection, names, touched)
    _give_texts(connection, names, touched)
    _drop_types(connection, touched)
    _drop_texts(connection, touched)


def _redirect(connection: Connection, names: str) -> None:
    """Make names lead where they should."""
    found = connection.execute(
        f"""
        WITH claimed AS MATERIALIZED (
            SELECT id, leads_to, {LEADS_TO} AS target FROM name WHERE id IN (SELECT value FROM json_each(?))
        )
        SELECT target, id FROM claimed WHERE leads_to IS NOT target
        """,
        [names],
    ).fetchall()
    connection.executemany("UPDATE name SET leads_to = ? WHERE id = ?", found)


def _drop_names(connection: Connection, names: str, touched: Touched) -> None:
    dropped = connection.execute(
        f"DELETE FROM name WHERE id IN (SELECT value FROM json_each(?)) AND {UNUSED_NAME} RETURNING text_id",
        [names],
    ).fetchall()
    touched.texts.update(text for (text,) in dropped if text is not None)


def _give_texts(connection: Connection, names: str, touched: Touched) -> None:
    """Give entities a text to embed, and remove texts and types from titles that are aliases."""
    lost = connection.execute(
        "SELECT id, text_id FROM name WHERE id IN (SELECT value FROM json_each(?))"
        " AND leads_to IS NOT NULL AND text_id IS NOT NULL",
        [names],
    ).fetchall()
    connection.executemany("UPDATE name SET text_id = NULL WHERE id = ?", ((row,) for row, _ in lost))
    connection.executemany("DELETE FROM entity_type WHERE name_id = ?", ((row,) for row, _ in lost))
    touched.texts.update(text for _, text in lost)
    gained = connection.execute(
        "SELECT id, uri FROM name WHERE id IN (SELECT value FROM json_each(?))"
        " AND leads_to IS NULL AND text_id IS NULL ORDER BY id",
        [names],
    ).fetchall()
    numbers = text_ids(connection, (entity_text(uri) for _, uri in gained))
    connection.executemany(
        "UPDATE name SET text_id = ? WHERE id = ?", ((numbers[entity_text(uri)], row) for row, uri in gained)
    )


def _drop_types(connection: Connection, touched: Touched) -> None:
    dropped = connection.execute(
        f"DELETE FROM relation_type WHERE id IN (SELECT value FROM json_each(?)) AND {UNUSED_TYPE} RETURNING text_id",
        [as_json(sorted(touched.types))],
    ).fetchall()
    touched.texts.update(text for (text,) in dropped)


def _drop_texts(connection: Connection, touched: Touched) -> None:
    """Remove texts without nodes, with their vectors."""
    connection.execute(
        f"DELETE FROM text WHERE id IN (SELECT value FROM json_each(?)) AND {UNUSED_TEXT}",
        [as_json(sorted(touched.texts))],
    )
