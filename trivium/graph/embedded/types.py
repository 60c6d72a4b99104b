"""What kind of thing entities are: kept beside their names, and part of the text that is embedded."""

from __future__ import annotations

from collections.abc import Mapping

from trivium.graph.embedded.connection import Connection, as_json
from trivium.graph.embedded.keys import text_ids
from trivium.graph.embedded.settle import Touched
from trivium.graph.schema import entity_text


def read_types(connection: Connection) -> dict[str, str]:
    """entity uri -> type, by uri."""
    return dict(
        connection.execute(
            "SELECT n.uri, t.type FROM entity_type AS t JOIN name AS n ON n.id = t.name_id ORDER BY n.uri"
        )
    )


def give_types(connection: Connection, types: Mapping[str, str], touched: Touched) -> int:
    """Give entities (by uri or alias) their types and the texts that follow; note the texts they had. Returns
    how many types changed. Of several uris of one entity the last holds."""
    rows = connection.execute(
        """
        SELECT e.id, e.uri, e.text_id, coalesce(t.type, ''), j.key FROM json_each(?) AS j
        JOIN name AS n ON n.uri = j.value JOIN name AS e ON e.id = coalesce(n.leads_to, n.id)
        LEFT JOIN entity_type AS t ON t.name_id = e.id ORDER BY j.key
        """,
        [as_json(types)],
    )
    kinds = list(types.values())
    wanted = {number: (uri, text, old, kinds[place]) for number, uri, text, old, place in rows}
    changed = {number: (uri, text, new) for number, (uri, text, old, new) in wanted.items() if new != old}
    connection.executemany("DELETE FROM entity_type WHERE name_id = ?", ((number,) for number in changed))
    connection.executemany(
        "INSERT INTO entity_type (name_id, type) VALUES (?, ?)",
        ((number, kind) for number, (_, _, kind) in changed.items() if kind),
    )
    texts = text_ids(connection, (entity_text(uri, kind) for uri, _, kind in changed.values()))
    connection.executemany(
        "UPDATE name SET text_id = ? WHERE id = ?",
        ((texts[entity_text(uri, kind)], number) for number, (uri, _, kind) in changed.items()),
    )
    touched.texts.update(text for _, text, _ in changed.values())
    return len(changed)
