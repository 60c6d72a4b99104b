"""Checks the index of words against the texts of its pages."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from zlib import crc32

from trivium.graph.embedded.connection import Connection
from trivium.graph.embedded.schema_versions import WORDS_SINCE, schema_version
from trivium.graph.embedded.words import forget_words, put_words
from trivium.graph.findings import Finding, Severity
from trivium.parser.gazetteer import distinct_words

_WORDS = "index of words"
_PAGES = """
    SELECT n.uri, p.text, w.id
    FROM page AS p JOIN name AS n ON n.id = p.id LEFT JOIN worded AS w ON w.page_id = p.id
    WHERE w.id IS NOT NULL OR ((instr(p.content_hash, '.') OR p.source GLOB 'records:*')
        AND p.id NOT IN (SELECT page_id FROM wordless))
    ORDER BY n.uri
    """


def find(connection: Connection) -> Iterator[Finding]:
    """Yield a finding for pages whose words are not those of the index, or that it lacks."""
    if schema_version(connection) < WORDS_SINCE:
        return
    sums = _sums(connection)
    wrong = [
        uri
        for uri, text, number in connection.execute(_PAGES)
        if number is None or sums.get(number, 0) != sum(map(_sum, distinct_words(text)))
    ]
    if wrong:
        yield Finding(
            kind=_WORDS,
            severity=Severity.STALE,
            problem="the index of words, by which new titles are looked for in texts, differs from the texts",
            where=tuple(wrong),
            remedy="a repair makes it again",
            repairable=True,
        )


def _sums(connection: Connection) -> dict[int, int]:
    """Return a checksum of the words of each entry; none of an index that cannot be read."""
    sums: defaultdict[int, int] = defaultdict(int)
    try:
        connection.execute(
            "CREATE VIRTUAL TABLE temp.word_entry USING fts5vocab (main, page_words, instance)"
        )
        try:
            for word, number in connection.execute("SELECT term, doc FROM temp.word_entry"):
                sums[number] += _sum(word)
        finally:
            connection.execute("DROP TABLE temp.word_entry")
    except sqlite3.DatabaseError:
        return {}
    return sums


def _sum(word: str) -> int:
    return crc32(word.encode())


def _make_again(connection: Connection, _keys: Sequence[int]) -> None:
    forget_words(connection)
    put_words(connection)


REPAIRS: Mapping[str, Callable[[Connection, Sequence[int]], None]] = {_WORDS: _make_again}
"""The repair of the finding. It runs inside a transaction."""
