"""Rows that follow from other rows: whether they do, and how they are made again."""

# ruff: noqa: S608 - queries are put together from constants alone

from __future__ import annotations

import sqlite3
from collections import defaultdict
from itertools import groupby
from operator import itemgetter
from zlib import crc32

from trivium.graph.sqlite.connection import Connection
from trivium.graph.sqlite.mention_candidates import forget_words, put_words
from trivium.graph.sqlite.reconcile import LEADS_TO, UNUSED_NAME, UNUSED_TEXT, UNUSED_TYPE, Touched, reconcile
from trivium.graph.sqlite.row_ids import forms_of
from trivium.parser.gazetteer import distinct_words

# -- row numbers, which are never given twice --------------------------------------------------------------------

_HIGHEST = {
    "generation": "SELECT max(number) FROM generation",
    "text": "SELECT max(id) FROM text",
    "vector": "SELECT max(id) FROM vector",
    "name": "SELECT max(id) FROM name",
    "section": "SELECT max(id) FROM section",
    "chunk": "SELECT max(id) FROM chunk",
    "relation_type": "SELECT max(id) FROM relation_type",
}


def _reused_numbers(connection: Connection) -> dict[str, int]:
    """Return the tables whose next row would get a number that has been given, with their highest."""
    given = dict(connection.execute("SELECT name, seq FROM sqlite_sequence"))
    highest = {table: connection.execute(query).fetchone()[0] or 0 for table, query in _HIGHEST.items()}
    return {table: number for table, number in highest.items() if number > given.get(table, 0)}


def _renumber(connection: Connection) -> None:
    for table, number in _reused_numbers(connection).items():
        connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", [table])
        connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [table, number])


# -- forms of titles ---------------------------------------------------------------------------------------------

_NAMES_AND_FORMS = """
    SELECT n.uri, l.form, l.shortened FROM name AS n LEFT JOIN lookup AS l ON l.name_id = n.id ORDER BY n.id
    """


def _forms_wrong(connection: Connection) -> bool:
    rows = connection.execute(_NAMES_AND_FORMS)
    return any(
        {(form, shortened) for _, form, shortened in own if form is not None} != set(forms_of(uri))
        for uri, own in groupby(rows, key=itemgetter(0))
    )


def _make_forms(connection: Connection) -> None:
    connection.execute("DELETE FROM lookup")
    names = connection.execute("SELECT id, uri FROM name").fetchall()
    connection.executemany(
        "INSERT INTO lookup (form, name_id, shortened) VALUES (?, ?, ?)",
        ((form, number, shortened) for number, uri in names for form, shortened in forms_of(uri)),
    )


# -- the index of words ------------------------------------------------------------------------------------------

_WORDED_PAGES = """
    SELECT p.text, w.id FROM page AS p LEFT JOIN worded AS w ON w.page_id = p.id
    WHERE w.id IS NOT NULL OR instr(p.content_hash, '.') OR p.source GLOB 'records:*'
    """


def _words_wrong(connection: Connection) -> bool:
    sums: defaultdict[int, int] = defaultdict(int)
    try:
        connection.execute(
            "CREATE VIRTUAL TABLE temp.word_entry USING fts5vocab (main, page_words, instance)"
        )
        try:
            for word, number in connection.execute("SELECT term, doc FROM temp.word_entry"):
                sums[number] += crc32(word.encode())
        finally:
            connection.execute("DROP TABLE temp.word_entry")
    except sqlite3.DatabaseError:
        return True
    return any(
        number is None or sums[number] != sum(crc32(word.encode()) for word in distinct_words(text))
        for text, number in connection.execute(_WORDED_PAGES)
    )


# -- the list of pages -------------------------------------------------------------------------------------------

_LISTED_WRONG = """
    SELECT EXISTS (
        SELECT 1 FROM page AS p JOIN name AS n ON n.id = p.id LEFT JOIN page_uri AS u ON u.page_id = p.id
        WHERE u.uri IS NOT n.uri
    )
    """


# -- all of them -------------------------------------------------------------------------------------------------


def wrong_tables(connection: Connection) -> list[str]:
    """Return the tables whose rows do not follow from the others. Everything they follow from is read."""
    wrong = {
        "sqlite_sequence": bool(_reused_numbers(connection)),
        "lookup": _forms_wrong(connection),
        "page_words": _words_wrong(connection),
        "page_uri": connection.execute(_LISTED_WRONG).fetchone() == (1,),
    }
    return [table for table, is_wrong in wrong.items() if is_wrong]


def make_again(connection: Connection) -> None:
    """Make the rows of all these tables again, inside a transaction."""
    _renumber(connection)
    _make_forms(connection)
    connection.execute("DELETE FROM page_uri")
    connection.execute(
        "INSERT INTO page_uri (uri, page_id) SELECT n.uri, p.id FROM page AS p JOIN name AS n ON n.id = p.id"
    )
    forget_words(connection)
    put_words(connection)


# -- titles and what nothing mentions ----------------------------------------------------------------------------

_LEADS_WRONG = f"""
    SELECT id, uri FROM name WHERE leads_to IS NOT {LEADS_TO} OR (leads_to IS NULL) != (text_id IS NOT NULL)
    OR (leads_to IS NOT NULL AND id IN (SELECT name_id FROM entity_type))
    """
_UNUSED_NAMES = f"SELECT id, uri FROM name WHERE {UNUSED_NAME}"
_UNUSED_TYPES = f"SELECT id, type FROM relation_type WHERE {UNUSED_TYPE}"
_UNUSED_TEXTS = f"SELECT id, hash FROM text WHERE {UNUSED_TEXT}"


def leftovers(connection: Connection) -> list[str]:
    """Return titles that resolve to another page than their claims say, and titles, types and hashes of texts that
    nothing refers to."""
    queries = (_LEADS_WRONG, _UNUSED_NAMES, _UNUSED_TYPES, _UNUSED_TEXTS)
    return [name for query in queries for _, name in connection.execute(query)]


def tidy(connection: Connection) -> None:
    """Put titles right, and remove what nothing refers to."""

    def numbers(query: str) -> set[int]:
        return {number for number, _ in connection.execute(query)}

    reconcile(
        connection,
        Touched(
            claimed=numbers(_LEADS_WRONG),
            mentioned=numbers(_UNUSED_NAMES),
            types=numbers(_UNUSED_TYPES),
            texts=numbers(_UNUSED_TEXTS),
        ),
    )
