"""Maps texts and titles to row numbers, inserting missing ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trivium.graph.schema import entity_text, unescape
from trivium.graph.sqlite.connection import Connection, as_json
from trivium.graph.stored_vectors import text_hash
from trivium.text.normalise import normalise_name, without_parenthesis


def next_id(connection: Connection, table: str) -> int:
    """Return the lowest number of a table that was never used. Valid until the transaction ends."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", [table]).fetchone()
    return 1 if row is None else int(row[0]) + 1


def text_ids(connection: Connection, texts: Iterable[str]) -> dict[str, int]:
    """Map each distinct text to its number."""
    hashes = {text: text_hash(text) for text in texts}
    ids: dict[str, int] = dict(
        connection.execute(
            "SELECT t.hash, t.id FROM json_each(?) AS j JOIN text AS t ON t.hash = j.value",
            [as_json(hashes.values())],
        )
    )
    new_keys = dict.fromkeys(key for key in hashes.values() if key not in ids)
    rows = list(enumerate(new_keys, next_id(connection, "text")))
    connection.executemany("INSERT INTO text (id, hash) VALUES (?, ?)", rows)
    ids.update((key, number) for number, key in rows)
    return {text: ids[key] for text, key in hashes.items()}


def known_names(connection: Connection, uris: Iterable[str]) -> dict[str, int]:
    """Map the uris of known titles to their numbers."""
    return dict(
        connection.execute(
            "SELECT n.uri, n.id FROM json_each(?) AS j JOIN name AS n ON n.uri = j.value", [as_json(uris)]
        )
    )


def name_ids(connection: Connection, uris: Sequence[str], *, entities: bool) -> dict[str, int]:
    """Map distinct uris to the numbers of their titles. New titles get a row and lookup forms.

    With ``entities`` new titles also get a text. Their types, and which of them are aliases, are set later; see
    :mod:`trivium.graph.sqlite.reconcile`.
    """
    ids = known_names(connection, uris)
    rows = list(enumerate((uri for uri in uris if uri not in ids), next_id(connection, "name")))
    texts = text_ids(connection, (entity_text(uri) for _, uri in rows)) if entities else {}
    connection.executemany(
        "INSERT INTO name (id, uri, text_id) VALUES (?, ?, ?)",
        ((number, uri, texts.get(entity_text(uri))) for number, uri in rows),
    )
    connection.executemany(
        "INSERT INTO lookup (form, name_id, shortened) VALUES (?, ?, ?)",
        ((form, number, shortened) for number, uri in rows for form, shortened in forms_of(uri)),
    )
    ids.update((uri, number) for number, uri in rows)
    return ids


def forms_of(uri: str) -> Iterable[tuple[str, int]]:
    """Return the normalised forms of a title; the flag is 1 for the form without its parenthesis."""
    title = unescape(uri)
    full = normalise_name(title)
    if full:
        yield full, 0
    if title.endswith(")"):
        short = normalise_name(without_parenthesis(title))
        if short and short != full:
            yield short, 1
