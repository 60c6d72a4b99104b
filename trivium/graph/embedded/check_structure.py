"""Checks the database file: its integrity, its definitions, and that row numbers keep increasing."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing

from trivium.errors import StoreFormatError
from trivium.graph.embedded.connection import Connection
from trivium.graph.embedded.meta import read_meta
from trivium.graph.embedded.schema_versions import schema_script, schema_version
from trivium.graph.findings import Finding, Severity
from trivium.graph.schema import SCHEMA_VERSION

DATABASE = "database"
INDEXES = "database indexes"
NUMBERS = "row numbers"
_OF_INDEXES = re.compile(r"row \d+ missing from index|wrong # of entries in index|non-unique entry in index")
_MOST = 100
"""Maximum number of messages requested from SQLite."""
_ELSEWHERE = (
    "restore a backup (trivium restore), or build the store again; what is not damaged can still be copied out of it"
    " (trivium export)"
)


def find(connection: Connection) -> Iterator[Finding]:
    """Return the problems of the database. If there are any, its rows cannot be trusted."""
    messages = _integrity(connection)
    of_indexes = [message for message in messages if _OF_INDEXES.match(message)]
    others = [message for message in messages if not _OF_INDEXES.match(message)]
    others += [
        f"row {rowid} of {table} refers to a row of {parent} that is not there"
        for table, rowid, parent, _ in connection.execute("PRAGMA foreign_key_check").fetchmany(_MOST)
    ]
    others += _definitions(connection)
    for key in ("embedder", "fusion", "chunker", "index"):
        try:
            read_meta(connection, key)
        except StoreFormatError as error:
            others.append(str(error))
    if others:
        yield beyond_repair(others)
    if of_indexes:
        yield Finding(
            kind=INDEXES,
            severity=Severity.BROKEN,
            problem="indexes of the database do not agree with its tables",
            where=tuple(of_indexes),
            remedy="a repair makes the indexes again, and finds whether the tables are right",
            repairable=not others,
        )
    reused = [] if others else _reused_numbers(connection)
    if reused:
        yield Finding(
            kind=NUMBERS,
            severity=Severity.DAMAGE,
            problem="numbers of rows could be given twice",
            where=tuple(reused),
            remedy="a repair puts them right",
            repairable=True,
        )


def beyond_repair(problems: Sequence[str]) -> Finding:
    """Return a finding for damage that cannot be repaired within the store."""
    return Finding(
        kind=DATABASE,
        severity=Severity.BROKEN,
        problem="the database is damaged",
        where=tuple(problems),
        remedy=_ELSEWHERE,
    )


def _integrity(connection: Connection) -> list[str]:
    try:
        rows = connection.execute(f"PRAGMA integrity_check({_MOST})").fetchall()
    except sqlite3.DatabaseError as error:
        return [str(error)]
    # SQLite from 3.44 on looks into the index of words, too, which check_words does and which can be made again.
    messages = [line for (text,) in rows for line in str(text).splitlines() if "page_words" not in line]
    return [] if messages in ([], ["ok"]) else messages


def _definitions(connection: Connection) -> list[str]:
    """Return tables, indexes and views that differ from those of this version."""
    if schema_version(connection) != SCHEMA_VERSION:
        return []
    with closing(sqlite3.connect(":memory:")) as fresh:
        fresh.executescript(schema_script())
        wanted = _defined(fresh)
    there = _defined(connection)
    return [
        f"the definition of {name} is not the one this version makes"
        for name in sorted(wanted.keys() | there.keys())
        if wanted.get(name) != there.get(name)
    ]


def _defined(connection: Connection) -> dict[str, tuple[str, str, str]]:
    # SQLite itself defines the tables of the index of words, each version as it likes.
    rows = connection.execute(
        "SELECT name, type, tbl_name, sql FROM main.sqlite_schema WHERE name NOT LIKE 'sqlite_%'"
        " AND name NOT GLOB 'page_words_*'"
    )
    return {name: (kind, table, sql) for name, kind, table, sql in rows}


_HIGHEST = {
    "generation": "SELECT max(number) FROM generation",
    "text": "SELECT max(id) FROM text",
    "vector": "SELECT max(id) FROM vector",
    "name": "SELECT max(id) FROM name",
    "section": "SELECT max(id) FROM section",
    "chunk": "SELECT max(id) FROM chunk",
    "relation_type": "SELECT max(id) FROM relation_type",
}
"""Tables whose row numbers are never reused."""


def _reused_numbers(connection: Connection) -> list[str]:
    given = dict(connection.execute("SELECT name, seq FROM sqlite_sequence"))
    return [table for table in _HIGHEST if _highest(connection, table) > given.get(table, 0)]


def _highest(connection: Connection, table: str) -> int:
    return int(connection.execute(_HIGHEST[table]).fetchone()[0] or 0)


def _renumber(connection: Connection, _keys: Sequence[int]) -> None:
    for table in _reused_numbers(connection):
        connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", [table])
        connection.execute(
            "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [table, _highest(connection, table)]
        )


def _reindex(connection: Connection, _keys: Sequence[int]) -> None:
    connection.execute("REINDEX")


REPAIRS: Mapping[str, Callable[[Connection, Sequence[int]], None]] = {INDEXES: _reindex, NUMBERS: _renumber}
"""The repair for each kind of finding. Repairs run inside a transaction."""
