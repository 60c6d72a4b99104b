"""The schema of the database of a store. A database of another version is refused, not upgraded."""

from __future__ import annotations

import sqlite3
from importlib.resources import files


def schema_script() -> str:
    """Return the script that creates an empty database of this version."""
    return files(__package__).joinpath("schema.sql").read_text("utf-8")


def schema_version(connection: sqlite3.Connection) -> int:
    """Return the schema version that a database was created with."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
