"""Names of the states of a store. Each write transaction creates a new one."""

from __future__ import annotations

from trivium.graph.sqlite.connection import Connection

CHANGES_KEPT = 2_000
"""Number of states for which the changes are logged (table change)."""


def current_state(connection: Connection) -> str:
    """Return the name of the committed state: the number of write transactions, and a random token."""
    number, token = connection.execute(
        "SELECT number, token FROM generation ORDER BY number DESC LIMIT 1"
    ).fetchone()
    return f"{number}-{token}"


def state_number(key: str) -> int:
    """Return the number in a state's name. It increases with every state of a store."""
    return int(key.partition("-")[0])


def was_state(connection: Connection, key: str) -> bool:
    """Whether this is the committed state or an earlier one of this store. False for states of other stores, and for
    states committed after the backup that this store was restored from.
    """
    number, _, token = key.partition("-")
    found = connection.execute("SELECT 1 FROM generation WHERE number = ? AND token = ?", [number, token])
    return found.fetchone() is not None


def begin_state(connection: Connection) -> None:
    """Name the state that this transaction creates. Indexes of earlier states become stale."""
    connection.execute("INSERT INTO generation (token) VALUES (lower(hex(randomblob(8))))")
    connection.execute(
        "DELETE FROM change WHERE number < (SELECT max(number) FROM generation) - ?", [CHANGES_KEPT]
    )
