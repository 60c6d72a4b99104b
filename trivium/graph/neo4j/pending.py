"""What is still to be embedded may be most of the graph: it is read some rows at a time."""

from __future__ import annotations

from operator import itemgetter
from typing import LiteralString

from trivium.graph.neo4j.connection import Connection, Rows
from trivium.graph.schema import section_of

_ROWS_A_READ = 20_000


def pending(connection: Connection, query: LiteralString) -> Rows:
    """All rows of a query that gives some of them at a time, each part from where the one before ended."""
    found: Rows = []
    after = ""
    while True:
        part = connection.read(query, {"after": after, "limit": _ROWS_A_READ}, whole=True)[0][0]
        found += part[1:] if found and part and part[0] == found[-1] else part
        if len(part) < _ROWS_A_READ:
            return found
        after = part[-1][-1]


def pending_chunks(connection: Connection, query: LiteralString) -> list[tuple[str, str]]:
    """(the section or page directly above, text) of chunks, by page and position. Rows of the query are page,
    position, text, uri."""
    chunks = sorted(pending(connection, query), key=itemgetter(0, 1))
    return [(section_of(uri), text) for _, _, text, uri in chunks]
