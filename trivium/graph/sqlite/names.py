"""The names recognised in chunks, in a table that the first of them makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trivium.graph.page_graph import Name
from trivium.graph.sqlite.connection import Connection, as_json

# Uris as texts: most names are in one passage, and are no entities.
NAMES_TABLE = (
    """CREATE TABLE IF NOT EXISTS named (
    chunk_id   INTEGER NOT NULL REFERENCES chunk (id) ON DELETE CASCADE,
    ordinal    INTEGER NOT NULL,
    uri        TEXT NOT NULL,
    kind       TEXT NOT NULL,
    start_char INTEGER NOT NULL,
    end_char   INTEGER NOT NULL,
    PRIMARY KEY (chunk_id, ordinal)
) STRICT, WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS named_uri ON named (uri)",
)


def has_names(connection: Connection) -> bool:
    """Return whether the store ever had a name."""
    return connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'named'").fetchone() is not None


def names_of(connection: Connection, page: int) -> dict[int, list[Name]]:
    """Map the numbers of the chunks of a page to their names."""
    found: dict[int, list[Name]] = {}
    rows = connection.execute(
        "SELECT n.chunk_id, n.uri, n.kind, n.start_char, n.end_char FROM chunk AS c"
        " JOIN named AS n ON n.chunk_id = c.id WHERE c.page_id = ? ORDER BY n.chunk_id, n.ordinal",
        [page],
    )
    for chunk, *name in rows:
        found.setdefault(chunk, []).append(Name(*name))
    return found


def named_in(connection: Connection, names: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """See :meth:`trivium.graph.protocols.PageReader.named_in`."""
    if not has_names(connection):
        return iter(())
    return connection.execute(
        "SELECT n.uri, c.uri, n.kind FROM json_each(?) AS j CROSS JOIN named AS n ON n.uri = j.value"
        " CROSS JOIN chunk AS c ON c.id = n.chunk_id ORDER BY n.uri, c.uri, n.kind",
        [as_json(dict.fromkeys(names))],
    )
