"""The names of the states of a store: each transaction that writes makes a new one."""

from __future__ import annotations

from trivium.graph.embedded.connection import Connection

CHANGES_KEPT = 2_000
"""Of so many states it is listed what each changed (changes.sql)."""


def current_state(connection: Connection) -> str:
    """What names the committed state: a count of writing transactions, and a random token."""
    number, token = connection.execute(
        "SELECT number, token FROM generation ORDER BY number DESC LIMIT 1"
    ).fetchone()
    return f"{number}-{token}"


def state_number(key: str) -> int:
    """The count in a state's name: a later state of the same store has a higher one."""
    return int(key.partition("-")[0])


def was_state(connection: Connection, key: str) -> bool:
    """Whether a name is that of the committed state or an earlier one of this store: not of another one, nor of what was
    committed after the backup that it was restored from."""
    number, _, token = key.partition("-")
    found = connection.execute("SELECT 1 FROM generation WHERE number = ? AND token = ?", [number, token])
    return found.fetchone() is not None


def begin_state(connection: Connection) -> None:
    """Give the state that this transaction makes a new name: every index made from an earlier one is stale."""
    connection.execute("INSERT INTO generation (token) VALUES (lower(hex(randomblob(8))))")
    connection.execute(
        "DELETE FROM change WHERE number < (SELECT max(number) FROM generation) - ?", [CHANGES_KEPT]
    )
