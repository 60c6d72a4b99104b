"""What a database keeps of itself: facts about the store as a whole, each with a checksum, and the names of its states.
Each write transaction creates a new state.
"""

from __future__ import annotations

from zlib import crc32

from trivium.errors import StoreFormatError
from trivium.graph.sqlite.connection import Connection

_SUM = ".crc"
"""Suffix of the key that holds a fact's checksum."""


def read_meta(connection: Connection, key: str) -> str | None:
    """Return a fact, or None if there is none. Raises StoreFormatError if it does not match its checksum."""
    found = dict(connection.execute("SELECT key, value FROM meta WHERE key IN (?, ?)", [key, key + _SUM]))
    value = found.get(key)
    wanted = found.get(key + _SUM)
    if wanted is not None and (value is None or wanted != _sum(value)):
        raise StoreFormatError(
            f"what the store knows of its {key} is damaged: expected a text with the CRC {wanted}, got {value!r};"
            " restore a backup, or build the store again"
        )
    return value


def write_meta(connection: Connection, key: str, value: str | None) -> None:
    """Replace or remove a fact."""
    connection.execute("DELETE FROM meta WHERE key IN (?, ?)", [key, key + _SUM])
    if value is not None:
        connection.executemany(
            "INSERT INTO meta (key, value) VALUES (?, ?)", [(key, value), (key + _SUM, _sum(value))]
        )


def _sum(value: str) -> str:
    return str(crc32(value.encode()))


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
