"""The words of pages whose links are mentions of other titles, for finding those that may mention a name.

An inverted index of SQLite (FTS5, without the texts) lists pages by word, split as :mod:`trivium.parser.gazetteer` splits
texts. It changes in the transactions that change the pages, unlike the index of chunks, which follows later and stems.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from trivium.graph.sqlite.counts import number
from trivium.parser.gazetteer import distinct_words, telling_words

RECORDS = "records:"
"""How the sources of records begin."""
_GONE = 1000
"""Entries of pages that are gone, beyond as many as there are pages, above which the index is made anew."""
_WAITING = "SELECT p.id, p.text FROM wordless AS w CROSS JOIN page AS p ON p.id = w.page_id ORDER BY p.id"
_ALL_WAIT = "INSERT OR IGNORE INTO wordless (page_id) SELECT id FROM page WHERE "


def is_indexed(source: str, mark: str) -> bool:
    """Whether the words of all pages whose source begins with ``source`` and whose content hash contains ``mark`` are
    indexed."""
    return "." in mark or source.startswith(RECORDS)


def put_words(connection: sqlite3.Connection) -> None:
    """Index the words of the pages that wait for it, inside the caller's transaction."""
    if connection.execute("SELECT 1 FROM wordless LIMIT 1").fetchone() is None:
        return
    if _last_number(connection) > 2 * number(connection, "SELECT count(*) FROM page_uri") + _GONE:
        forget_words(connection)
    for entry, (page, text) in enumerate(connection.execute(_WAITING), _last_number(connection) + 1):
        connection.execute(
            "INSERT INTO page_words (rowid, words) VALUES (?, ?)", [entry, " ".join(distinct_words(text))]
        )
        connection.execute("INSERT INTO worded (id, page_id) VALUES (?, ?)", [entry, page])
    connection.execute("DELETE FROM wordless")


def _last_number(connection: sqlite3.Connection) -> int:
    """Return the highest number given since the index was empty: how many entries it holds."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'worded'").fetchone()
    return 0 if row is None else int(row[0])


def forget_words(connection: sqlite3.Connection) -> None:
    """Empty the index. All its pages wait to be indexed then."""
    connection.execute("INSERT INTO page_words (page_words) VALUES ('delete-all')")
    connection.execute("DELETE FROM worded")
    connection.execute("DELETE FROM sqlite_sequence WHERE name = 'worded'")
    connection.execute("DELETE FROM wordless")
    connection.execute(f"{_ALL_WAIT} instr(content_hash, '.')")
    connection.execute(f"{_ALL_WAIT} source GLOB 'records:*'")


def pages_with_words(connection: sqlite3.Connection, names: Sequence[str]) -> list[int]:
    """Return the numbers of the indexed pages whose texts have all words of one of the normalised names, common words
    aside."""
    found: set[int] = set()
    for name in names:
        # Within quotation marks only quotation marks are special, and words have none.
        wanted = " AND ".join(f'"{word}"' for word in telling_words(name))
        found.update(
            page
            for (page,) in connection.execute(
                "SELECT w.page_id FROM page_words AS i CROSS JOIN worded AS w ON w.id = i.rowid WHERE page_words MATCH ?",
                [wanted],
            )
        )
    return sorted(found)
