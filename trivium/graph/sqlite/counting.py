"""Keeps the numbers of :mod:`trivium.graph.sqlite.counters` true while rows change.

The writer calls these functions where it writes rows, a few times a transaction. Triggers would cost a fifth of the time
of a load (decision 0022).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from trivium.graph.sqlite.connection import Connection, as_json
from trivium.graph.sqlite.counters import SURPLUS

Triple = tuple[int, int, int]
"""A relation as it is read: numbers of the source entity, the type, and the target entity."""

_OF_PAGES = SURPLUS.format(
    redirected="SELECT t.chunk_id, n.leads_to FROM json_each(?) AS j JOIN chunk AS c ON c.page_id = j.value"
    " JOIN citation AS t ON t.chunk_id = c.id JOIN name AS n ON n.id = t.name_id WHERE n.leads_to IS NOT NULL"
)
_OF_ENTITIES = SURPLUS.format(
    redirected="SELECT t.chunk_id, n.leads_to FROM json_each(?) AS j JOIN name AS n ON n.leads_to = j.value"
    " JOIN citation AS t ON t.name_id = n.id"
)


def adjust(connection: Connection, changes: Mapping[str, int]) -> None:
    """Add to the stored numbers."""
    connection.executemany(
        "UPDATE counter SET number = number + ? WHERE name = ?",
        ((change, name) for name, change in changes.items() if change),
    )


def gain_pages(connection: Connection, pages: Sequence[int]) -> None:
    """Count pages (by number) and their contents, just written. Relations are counted apart."""
    adjust(connection, _contents(connection, pages))


def lose_pages(connection: Connection, pages: Sequence[int]) -> None:
    """Discount pages (by number) and their contents, about to be removed. Relations are counted apart."""
    adjust(connection, {name: -number for name, number in _contents(connection, pages).items()})


def _contents(connection: Connection, pages: Sequence[int]) -> Counter[str]:
    these = [as_json(pages)]
    found = Counter(
        pages=_number(
            connection, "SELECT count(*) FROM json_each(?) AS j JOIN page AS p ON p.id = j.value", these
        )
    )
    chunks: dict[int, int] = dict(
        connection.execute(
            "SELECT c.page_id, count(*) FROM json_each(?) AS j JOIN chunk AS c ON c.page_id = j.value"
            " GROUP BY c.page_id",
            these,
        )
    )
    sections = connection.execute(
        "SELECT s.id, s.parent_id, s.page_id, (SELECT count(*) FROM chunk WHERE section_id = s.id)"
        " FROM json_each(?) AS j JOIN section AS s ON s.page_id = j.value",
        these,
    ).fetchall()
    found["sections"], found["chunks"] = len(sections), sum(chunks.values())
    parents = {section: parent for section, parent, _, _ in sections}
    # A chunk is_chunk_of its page, besides its section and those above.
    found["is_chunk_of"] = found["next"] = found["chunks"]
    for section, _, page, own in sections:
        levels = _level(section, parents)
        found["is_subchapter_of"] += levels
        found["is_chunk_of"] += levels * own
        found["next"] -= own > 0
        chunks[page] = chunks.get(page, 0) - own
    found["next"] -= sum(lead > 0 for lead in chunks.values())
    citations, redirected = connection.execute(
        "SELECT count(*), count(n.leads_to) FROM json_each(?) AS j JOIN chunk AS c ON c.page_id = j.value"
        " JOIN citation AS t ON t.chunk_id = c.id JOIN name AS n ON n.id = t.name_id",
        these,
    ).fetchone()
    found["cites"] = citations - (_number(connection, _OF_PAGES, these) if redirected else 0)
    return found


def _level(section: int | None, parents: Mapping[int, int | None]) -> int:
    """Return the number of sections from the page down to this one."""
    level = 0
    while section is not None:
        level, section = level + 1, parents[section]
    return level


# -- relations ---------------------------------------------------------------------------------------------------


def resolved(connection: Connection, rows: Iterable[Triple]) -> list[Triple]:
    """Return the distinct relations that rows of the table stand for, aliases resolved."""
    return connection.execute(
        """
        SELECT DISTINCT coalesce(s.leads_to, s.id), json_extract(j.value, '$[1]'), coalesce(t.leads_to, t.id)
        FROM json_each(?) AS j JOIN name AS s ON s.id = json_extract(j.value, '$[0]')
        JOIN name AS t ON t.id = json_extract(j.value, '$[2]')
        """,
        [json.dumps(list(dict.fromkeys(rows)))],
    ).fetchall()


def relations_of(connection: Connection, names: Collection[int]) -> list[Triple]:
    """Return the rows of relations that name one of these titles, by number."""
    return connection.execute(
        """
        WITH j AS MATERIALIZED (SELECT value FROM json_each(?))
        SELECT source_id, type_id, target_id FROM j JOIN relation ON source_id = j.value
        UNION SELECT source_id, type_id, target_id FROM j JOIN relation ON target_id = j.value
        """,
        [as_json(names)],
    ).fetchall()


def count_unstated(connection: Connection, triples: Sequence[Triple], without: Collection[int] = ()) -> int:
    """Count the relations that no row stands for; rows that name one of the titles ``without`` are left out."""
    if not triples:
        return 0
    found = _number(
        connection,
        """
        WITH a AS MATERIALIZED (
            SELECT json_extract(value, '$[0]') AS source, json_extract(value, '$[1]') AS type,
                json_extract(value, '$[2]') AS target FROM json_each(?1)
        ), without AS MATERIALIZED (SELECT value FROM json_each(?2))
        SELECT count(*) FROM a WHERE EXISTS (
            SELECT 1 FROM relation AS r JOIN name AS s ON s.id = r.source_id JOIN name AS t ON t.id = r.target_id
            WHERE r.source_id IN (SELECT a.source UNION ALL SELECT id FROM name WHERE leads_to = a.source)
            AND r.type_id = a.type AND coalesce(s.leads_to, s.id) = a.source AND coalesce(t.leads_to, t.id) = a.target
            AND r.source_id NOT IN (SELECT value FROM without) AND r.target_id NOT IN (SELECT value FROM without)
        )
        """,
        [json.dumps(triples), as_json(without)],
    )
    return len(triples) - found


# -- aliases -----------------------------------------------------------------------------------------------------


def redirect(connection: Connection, targets: Mapping[int, tuple[int | None, int | None]]) -> None:
    """Make titles (by number) lead from one entity to another, given as (old, new); None stands for themselves."""
    if not targets:
        return
    entities = as_json({entity for pair in targets.values() for entity in pair if entity is not None})
    surplus = _number(connection, _OF_ENTITIES, [entities])
    rows = relations_of(connection, targets)
    stated = resolved(connection, rows)
    connection.executemany(
        "UPDATE name SET leads_to = ? WHERE id = ?", ((new, name) for name, (_, new) in targets.items())
    )
    aliases = sum((new is not None) - (old is not None) for old, new in targets.values())
    adjust(
        connection,
        {
            "aliases": aliases,
            "entities": -aliases,
            "cites": surplus - _number(connection, _OF_ENTITIES, [entities]),
            # What the other rows stand for has not changed.
            "stated": count_unstated(connection, resolved(connection, rows), targets)
            - count_unstated(connection, stated, targets),
        },
    )


def _number(connection: Connection, query: str, parameters: Sequence[str]) -> int:
    return int(connection.execute(query, parameters).fetchone()[0])
