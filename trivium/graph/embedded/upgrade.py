"""Stores of earlier schema versions: brought up to date when opened for writing, read as they are otherwise."""

from __future__ import annotations

import sqlite3

from trivium.graph.schema import SCHEMA_VERSION

_ENTITY_TYPE = """entity_type (
    name_id INTEGER PRIMARY KEY REFERENCES name (id) ON DELETE CASCADE,
    type    TEXT NOT NULL
) STRICT"""

_SENTENCES = """sentences (
    text_id INTEGER PRIMARY KEY REFERENCES text (id) ON DELETE CASCADE,
    data    BLOB NOT NULL
) STRICT"""

_ADDED = ((2, _ENTITY_TYPE), (3, _SENTENCES))
"""Tables and the version they came with, as in schema.sql. They are empty in a store that had none."""


def schema_version(connection: sqlite3.Connection) -> int:
    """The version of the schema a database was made by or upgraded to."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def upgrade(connection: sqlite3.Connection) -> None:
    """Bring the schema up to date inside the transaction of the caller. Another process may have done it since
    the version was looked at; nothing derived from the store becomes stale."""
    version = schema_version(connection)
    if version < SCHEMA_VERSION:
        for since, table in _ADDED:
            if version < since:
                connection.execute(f"CREATE TABLE {table}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def stand_in(connection: sqlite3.Connection) -> None:
    """Let a connection that cannot write find the tables a store of an earlier version lacks, empty. It goes on
    seeing them empty should another process upgrade the store."""
    version = schema_version(connection)
    for since, table in _ADDED:
        if version < since:
            connection.execute(f"CREATE TEMP TABLE {table}")
