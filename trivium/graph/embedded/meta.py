"""Facts about the store as a whole, each with its checksum beside it."""

from __future__ import annotations

from zlib import crc32

from trivium.errors import StoreFormatError
from trivium.graph.embedded.connection import Connection

_SUM = ".crc"
"""What follows a key in that of its checksum."""


def read_meta(connection: Connection, key: str) -> str | None:
    """A fact as it was written; None where there is none. Raises StoreFormatError where it is not what was written."""
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
    """Put a fact in place of an earlier one, or none."""
    connection.execute("DELETE FROM meta WHERE key IN (?, ?)", [key, key + _SUM])
    if value is not None:
        connection.executemany(
            "INSERT INTO meta (key, value) VALUES (?, ?)", [(key, value), (key + _SUM, _sum(value))]
        )


def _sum(value: str) -> str:
    return str(crc32(value.encode()))
