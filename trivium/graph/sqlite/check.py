"""Finds damage in the database and the derived files of a store, and repairs what can be made again.

The database is checked by SQLite itself, texts by the hashes stored with them, vectors by their checksums, rows that
follow from others by making them again (:mod:`trivium.graph.sqlite.check_derived_rows`), files by their checksums. Pages
are checked for stores of every kind alike, by their digests (:mod:`trivium.checking`).
"""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from zlib import crc32

import numpy as np

from trivium.errors import StoreFormatError
from trivium.graph.arrays.array_files import damaged_files
from trivium.graph.check_findings import (
    PAGES,
    VECTORS,
    Finding,
    Severity,
    damaged_pages,
    damaged_titles,
    stale_derived,
    unmentioned,
    wrong_vectors,
)
from trivium.graph.records import Progress
from trivium.graph.schema import embedding_text, entity_text, headings_as_text
from trivium.graph.sqlite.answered_questions import damaged_questions, drop_questions
from trivium.graph.sqlite.check_derived_rows import leftovers, make_again, tidy, wrong_tables
from trivium.graph.sqlite.connection import Connection, Database, as_json
from trivium.graph.sqlite.load_index import latest_folder
from trivium.graph.sqlite.open_database import schema_script
from trivium.graph.sqlite.pictures import drop_picture_vectors, vectors_as_stored
from trivium.graph.sqlite.store_state import begin_state, read_meta
from trivium.graph.sqlite.vectors import read_embedder
from trivium.graph.stored_vectors import EMBED_PICTURES, UNIT_TOLERANCE, text_hash

_DATABASE = "database"
_INDEXES = "database indexes"
_ROWS = "derived rows"
_LEFTOVERS = "leftovers"
_PICTURES = "picture"
_QUESTIONS = "question"
_FILES = "index files"

_OF_INDEXES = re.compile(r"row \d+ missing from index|wrong # of entries in index|non-unique entry in index")
_OF_EARLIER_VERSIONS = {
    *("term", "counter"),
    *("question_counted", "question_discounted", "answer_counted", "answer_discounted"),
}
"""Tables that nothing reads any more, and their triggers."""
_OF_NAMES = {"named", "named_uri", "relation_evidence"}
"""What only stores with names have (:mod:`trivium.graph.sqlite.names`, :mod:`trivium.graph.sqlite.evidence`)."""
_MOST = 100
"""Maximum number of messages requested from SQLite."""


class EmbeddedChecker:
    """The :class:`trivium.graph.protocols.StoreChecker` of an embedded store. ``forget_indexes`` makes the store
    reopen its derived files.
    """

    def __init__(self, database: Database, forget_indexes: Callable[[], None]) -> None:
        self._database = database
        self._forget_indexes = forget_indexes

    def check(self, progress: Progress | None = None) -> list[Finding]:
        """See the protocol. If the database file itself is damaged, its rows are not checked."""
        report = progress or (lambda _done, _total: None)
        steps = 2 + len(_CHECKS)
        try:
            with self._database.reading_one_state() as connection:
                found = list(_check_database(connection))
                report(1, steps)
                for done, check in enumerate(() if found else _CHECKS, start=2):
                    found += check(connection)
                    report(done, steps)
                found += self._check_files(connection)
        except StoreFormatError as error:
            found = [_broken([str(error)])]
        report(steps, steps)
        return found

    def repair(self, findings: Sequence[Finding]) -> None:
        """See the protocol. Of a damaged database file only the indexes are made again."""
        for finding in findings:
            if finding.kind == _FILES:
                shutil.rmtree(finding.keys[0], ignore_errors=True)
                self._forget_indexes()
        wanted = [finding for finding in findings if finding.kind in _REPAIRS and finding.repairable]
        damaged = [uri for finding in findings if finding.kind == PAGES for uri in finding.where]
        if wanted or damaged:
            with self._database.writing() as connection:
                for finding in wanted:
                    _REPAIRS[finding.kind](connection, finding.keys)
                _give_up_pages(connection, damaged)

    def page_digests(self) -> dict[str, str]:
        with self._database.reading() as connection:
            return dict(
                connection.execute(
                    "SELECT n.uri, s.digest FROM page_sum AS s JOIN name AS n ON n.id = s.page_id"
                )
            )

    def drop_vectors(self, texts: Sequence[str]) -> None:
        hashes = as_json(dict.fromkeys(map(text_hash, texts)))
        with self._database.writing() as connection:
            numbers = connection.execute(
                "SELECT t.id FROM json_each(?) AS j JOIN text AS t ON t.hash = j.value", [hashes]
            )
            _drop_vectors(connection, [number for (number,) in numbers])

    def _check_files(self, connection: Connection) -> list[Finding]:
        """Check the files of the committed state, or of the latest earlier one, since the next index build starts
        from these.
        """
        folder = latest_folder(connection, self._database.folder)
        wrong = [] if folder is None else damaged_files(folder)
        if folder is None or not wrong:
            return []
        where = [str((folder / name).relative_to(self._database.folder)) for name in wrong]
        return [
            stale_derived(
                _FILES, "derived files are missing, or not those that were written", where, [folder]
            )
        ]


# -- the database file -------------------------------------------------------------------------------------------


def _check_database(connection: Connection) -> Iterator[Finding]:
    """Yield the problems of the database. If there are any, its rows cannot be trusted."""
    messages = _integrity(connection)
    of_indexes = [message for message in messages if _OF_INDEXES.match(message)]
    others = [message for message in messages if not _OF_INDEXES.match(message)]
    others += [
        f"row {rowid} of {table} refers to a row of {parent} that is not there"
        for table, rowid, parent, _ in connection.execute("PRAGMA foreign_key_check").fetchmany(_MOST)
    ]
    others += _other_definitions(connection)
    for key in ("embedder", "fusion", "chunker"):
        try:
            read_meta(connection, key)
        except StoreFormatError as error:
            others.append(str(error))
    if others:
        yield _broken(others)
    if of_indexes:
        yield Finding(
            kind=_INDEXES,
            severity=Severity.BROKEN,
            problem="indexes of the database do not agree with its tables",
            where=tuple(of_indexes),
            remedy="a repair makes the indexes again, and finds whether the tables are right",
            repairable=not others,
        )


def _broken(problems: Sequence[str]) -> Finding:
    return Finding(
        kind=_DATABASE,
        severity=Severity.BROKEN,
        problem="the database is damaged",
        where=tuple(problems),
        remedy="restore a backup (trivium restore), or build the store again; what is not damaged can still be copied"
        " out of it (trivium export)",
    )


def _integrity(connection: Connection) -> list[str]:
    try:
        rows = connection.execute(f"PRAGMA integrity_check({_MOST})").fetchall()
    except sqlite3.DatabaseError as error:
        return [str(error)]
    # SQLite from 3.44 on looks into the index of words, too, which is a derived one and can be made again.
    messages = [line for (text,) in rows for line in str(text).splitlines() if "page_words" not in line]
    return [] if messages in ([], ["ok"]) else messages


def _other_definitions(connection: Connection) -> list[str]:
    """Return tables, indexes, triggers and views that differ from those of a new store."""
    with closing(sqlite3.connect(":memory:")) as fresh:
        fresh.executescript(schema_script())
        wanted = _definitions(fresh)
    there = _definitions(connection)
    return [
        f"the definition of {name} is not the one this version makes"
        for name in sorted((wanted.keys() | there.keys()) - _OF_EARLIER_VERSIONS - _OF_NAMES)
        if wanted.get(name) != there.get(name)
    ]


def _definitions(connection: Connection) -> dict[str, tuple[str, str, str]]:
    # SQLite itself defines the tables of the index of words, each version as it likes.
    rows = connection.execute(
        "SELECT name, type, tbl_name, sql FROM main.sqlite_schema WHERE name NOT LIKE 'sqlite_%'"
        " AND name NOT GLOB 'page_words_*'"
    )
    return {name: (kind, table, sql) for name, kind, table, sql in rows}


def _reindex(connection: Connection, _keys: Sequence[int]) -> None:
    connection.execute("REINDEX")


# -- texts and titles --------------------------------------------------------------------------------------------

_CHUNKS = """
    SELECT n.uri, coalesce(s.uri, n.uri), c.text, t.hash, c.terms, c.heading_terms, c.term_count, c.heading_count
    FROM chunk AS c JOIN name AS n ON n.id = c.page_id JOIN text AS t ON t.id = c.text_id
    LEFT JOIN section AS s ON s.id = c.section_id ORDER BY c.id
    """
_SECTIONS = """
    SELECT n.uri, s.uri, t.hash FROM section AS s JOIN name AS n ON n.id = s.page_id
    JOIN text AS t ON t.id = s.text_id ORDER BY s.id
    """
_TITLES = """
    SELECT n.uri, coalesce(e.type, ''), t.hash FROM name AS n JOIN text AS t ON t.id = n.text_id
    LEFT JOIN entity_type AS e ON e.name_id = n.id
    UNION ALL
    SELECT r.type, '', t.hash FROM relation_type AS r JOIN text AS t ON t.id = r.text_id
    """


def _check_texts(connection: Connection) -> Iterator[Finding]:
    """Find texts and titles that differ from the hash stored with them, and terms that are not as many as stored."""
    pages: dict[str, None] = {}
    for page, section, text, key, *terms, of_text, of_headings in connection.execute(_CHUNKS):
        counts = [len(part.split()) for part in terms]
        if (
            counts != [of_text, of_headings]
            or text_hash(embedding_text(headings_as_text(section), text)) != key
        ):
            pages[page] = None
    pages.update((page, None) for page, uri, key in connection.execute(_SECTIONS) if text_hash(uri) != key)
    if pages:
        yield damaged_pages("texts of their chunks or sections are not those that were written", pages)
    titles = connection.execute(_TITLES)
    wrong = [title for title, kind, key in titles if text_hash(entity_text(title, kind)) != key]
    if wrong:
        yield damaged_titles(
            "titles or types of entities and relations are not those that were written", wrong
        )


def _give_up_pages(connection: Connection, pages: Sequence[str]) -> None:
    """Mark these pages so that their next load replaces them, whatever their content and revision."""
    connection.execute(
        "UPDATE page SET content_hash = '', revision = NULL WHERE id IN"
        " (SELECT n.id FROM json_each(?) AS j JOIN name AS n ON n.uri = j.value)",
        [as_json(pages)],
    )


# -- vectors, pictures and questions -----------------------------------------------------------------------------

_VECTORS = (
    "SELECT v.text_id, v.data, s.crc FROM vector AS v LEFT JOIN vector_sum AS s ON s.text_id = v.text_id"
)
_SENTENCES = "SELECT v.text_id, v.data, s.crc FROM sentences AS v LEFT JOIN sentences_sum AS s ON s.text_id = v.text_id"
_HOLDERS = """
    SELECT coalesce(
        (SELECT uri FROM chunk WHERE text_id = j.value), (SELECT uri FROM section WHERE text_id = j.value),
        (SELECT uri FROM name WHERE text_id = j.value), (SELECT type FROM relation_type WHERE text_id = j.value),
        'nothing'
    ) FROM json_each(?) AS j ORDER BY j.key
    """
"""One node for each text."""


def _check_vectors(connection: Connection) -> Iterator[Finding]:
    """Find vectors that differ from their checksum, or are not unit vectors of the embedder's dimension."""
    identity = read_embedder(connection)
    dimension = 0 if identity is None else identity.dimension
    wrong = {
        text: None
        for text, data, crc in connection.execute(_VECTORS)
        if len(data) != 4 * dimension or crc32(data) != crc or not _is_unit(data)
    }
    wrong.update(
        (text, None)
        for text, data, crc in connection.execute(_SENTENCES)
        if len(data) % max(dimension, 1) or crc32(data) != crc
    )
    if wrong:
        holders = [uri for (uri,) in connection.execute(_HOLDERS, [as_json(wrong)])]
        yield wrong_vectors("vectors are not those that were written", holders, list(wrong))


def _is_unit(data: bytes) -> bool:
    vector = np.frombuffer(data, dtype="<f4").astype(np.float64)
    return bool(abs(np.sqrt(np.add.reduce(np.square(vector))) - 1.0) <= UNIT_TOLERANCE)


def _drop_vectors(connection: Connection, texts: Sequence[int]) -> None:
    """Remove the vectors of texts, by number, and of their sentences."""
    these = [as_json(texts)]
    for table in ("vector", "vector_sum", "sentences", "sentences_sum"):
        connection.execute(f"DELETE FROM {table} WHERE text_id IN (SELECT value FROM json_each(?))", these)  # noqa: S608
    begin_state(connection)


def _check_pictures(connection: Connection) -> Iterator[Finding]:
    wrong = {chunk: uri for chunk, uri, _, whole in vectors_as_stored(connection) if not whole}
    if wrong:
        yield Finding(
            kind=_PICTURES,
            severity=Severity.DAMAGE,
            problem="vectors of pictures are not those that were written",
            where=tuple(wrong.values()),
            remedy=f"a repair drops them, and  {EMBED_PICTURES}  makes them again",
            repairable=True,
            keys=tuple(wrong),
        )


def _check_questions(connection: Connection) -> Iterator[Finding]:
    wrong = damaged_questions(connection)
    if wrong:
        yield Finding(
            kind=_QUESTIONS,
            severity=Severity.DAMAGE,
            problem="questions are not those that were written, or no chunk answers them",
            where=tuple(wrong.values()),
            remedy="a repair removes them, and  trivium build ROWS --questions  makes them again",
            repairable=True,
            keys=tuple(wrong),
        )


# -- rows that follow from others --------------------------------------------------------------------------------


def _check_leftovers(connection: Connection) -> Iterator[Finding]:
    found = leftovers(connection)
    if found:
        yield unmentioned(
            _LEFTOVERS, "titles lead elsewhere than their claims say, or nothing mentions them", found
        )


def _tidy(connection: Connection, _keys: Sequence[int]) -> None:
    tidy(connection)
    begin_state(connection)


def _check_derived(connection: Connection) -> Iterator[Finding]:
    wrong = wrong_tables(connection)
    if wrong:
        yield stale_derived(_ROWS, "rows do not follow from the pages", wrong, wrong)


def _make_again(connection: Connection, _keys: Sequence[int]) -> None:
    make_again(connection)


_CHECKS = (
    _check_texts,
    _check_vectors,
    _check_pictures,
    _check_questions,
    _check_leftovers,
    _check_derived,  # after what changes rows when it is repaired
)
_REPAIRS: dict[str, Callable[[Connection, Sequence[int]], None]] = {
    _INDEXES: _reindex,
    VECTORS: _drop_vectors,
    _PICTURES: drop_picture_vectors,
    _QUESTIONS: drop_questions,
    _LEFTOVERS: _tidy,
    _ROWS: _make_again,
}
"""The repair for each kind of finding, of its keys. Repairs run inside a transaction."""
