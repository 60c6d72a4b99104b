"""Facts about the store as a whole, each with a checksum."""

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
