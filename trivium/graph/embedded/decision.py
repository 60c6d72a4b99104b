"""Which fusion was decided on for the store. Nothing derived hangs on it."""

from __future__ import annotations

from trivium.graph.embedded.connection import Connection

_KEY = "fusion"


def read_decision(connection: Connection) -> str | None:
    """The decision as it was written."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", [_KEY]).fetchone()
    return None if row is None else str(row[0])


def write_decision(connection: Connection, decision: str | None) -> None:
    """Keep a decision in place of an earlier one, or none."""
    connection.execute("DELETE FROM meta WHERE key = ?", [_KEY])
    if decision is not None:
        connection.execute("INSERT INTO meta (key, value) VALUES (?, ?)", [_KEY, decision])
