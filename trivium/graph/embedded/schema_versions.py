"""Schema versions: what each added, and how a database of an earlier one is upgraded or read without upgrading."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from importlib.resources import files

from trivium.common.progress import Progress
from trivium.graph.embedded.counters import COUNTS, recount
from trivium.graph.embedded.words import count_waiting, put_words
from trivium.graph.schema import SCHEMA_VERSION

_ENTITY_TYPE = """entity_type (
    name_id INTEGER PRIMARY KEY REFERENCES name (id) ON DELETE CASCADE,
    type    TEXT NOT NULL
) STRICT"""

_SENTENCES = """sentences (
    text_id INTEGER PRIMARY KEY REFERENCES text (id) ON DELETE CASCADE,
    data    BLOB NOT NULL
) STRICT"""

_PAGE_SUM = """page_sum (
    page_id INTEGER PRIMARY KEY REFERENCES page (id) ON DELETE CASCADE,
    digest  TEXT NOT NULL
) STRICT"""

_VECTOR_SUM = """vector_sum (
    text_id INTEGER PRIMARY KEY REFERENCES text (id) ON DELETE CASCADE,
    crc     INTEGER NOT NULL
) STRICT"""

_SENTENCES_SUM = """sentences_sum (
    text_id INTEGER PRIMARY KEY REFERENCES text (id) ON DELETE CASCADE,
    crc     INTEGER NOT NULL
) STRICT"""

_PAGE_FACTS = """page_facts (
    page_id  INTEGER PRIMARY KEY REFERENCES page (id) ON DELETE CASCADE,
    format   TEXT NOT NULL,
    path     TEXT NOT NULL,
    modified TEXT,
    added    TEXT NOT NULL,
    metadata TEXT NOT NULL
) STRICT"""

_CHUNK_PAGES = """chunk_pages (
    chunk_id   INTEGER PRIMARY KEY REFERENCES chunk (id) ON DELETE CASCADE,
    first_page INTEGER NOT NULL,
    last_page  INTEGER NOT NULL
) STRICT"""

_THUMBNAIL = """thumbnail (
    chunk_id INTEGER PRIMARY KEY REFERENCES chunk (id) ON DELETE CASCADE,
    data     BLOB NOT NULL
) STRICT"""

_PICTURE_VECTOR = """picture_vector (
    chunk_id INTEGER PRIMARY KEY REFERENCES chunk (id) ON DELETE CASCADE,
    data     BLOB NOT NULL,
    crc      INTEGER NOT NULL
) STRICT"""

_SECTION_ANCHOR = """section_anchor (
    section_id INTEGER NOT NULL REFERENCES section (id) ON DELETE CASCADE,
    ordinal    INTEGER NOT NULL,
    anchor     TEXT NOT NULL,
    PRIMARY KEY (section_id, ordinal)
) STRICT, WITHOUT ROWID"""

_CITATION_ANCHOR = """citation_anchor (
    chunk_id INTEGER NOT NULL REFERENCES chunk (id) ON DELETE CASCADE,
    ordinal  INTEGER NOT NULL,
    citation INTEGER NOT NULL,
    anchor   TEXT NOT NULL,
    PRIMARY KEY (chunk_id, ordinal)
) STRICT, WITHOUT ROWID"""

_ADDED = (
    (2, _ENTITY_TYPE),
    (3, _SENTENCES),
    (4, _PAGE_SUM),
    (4, _VECTOR_SUM),
    (4, _SENTENCES_SUM),
    (5, _PAGE_FACTS),
    (5, _CHUNK_PAGES),
    (5, _THUMBNAIL),
    (5, _PICTURE_VECTOR),
    (5, _SECTION_ANCHOR),
    (5, _CITATION_ANCHOR),
)
"""Schema versions and the tables that each added, as in schema.sql. They are empty in an upgraded store."""


_WAITING = (
    "CREATE TEMP TABLE waiting AS SELECT id AS text_id FROM text WHERE id NOT IN (SELECT text_id FROM vector)",
    "CREATE TEMP TABLE waiting_sentences AS"
    " SELECT DISTINCT text_id FROM chunk WHERE text_id NOT IN (SELECT text_id FROM sentences)",
)
_CHANGES_SINCE = 6
"""The version that introduced changes.sql."""
_QUESTIONS = (
    "CREATE TEMP TABLE question (id INTEGER PRIMARY KEY, uri TEXT, text TEXT, answers TEXT, crc INTEGER)",
    "CREATE TEMP TABLE answer (question_id INTEGER, chunk_id INTEGER)",
)
_QUESTIONS_SINCE = 7
"""The version that introduced questions.sql."""
_PAGES = (
    "CREATE TEMP VIEW page_uri AS SELECT n.uri, p.id AS page_id FROM page AS p CROSS JOIN name AS n ON n.id = p.id",
)
COUNTED_SINCE = 8
"""The version that introduced counters.sql."""
_BEAT = 1_000_000
"""Instructions of SQLite, some 20 ms, after which a long statement says that it goes on."""
WORDS_SINCE = 9
"""The version that introduced words.sql."""
_SCRIPTS = (
    (_CHANGES_SINCE, "changes.sql"),
    (_QUESTIONS_SINCE, "questions.sql"),
    (COUNTED_SINCE, "counters.sql"),
    (WORDS_SINCE, "words.sql"),
)


def schema_script() -> str:
    """Return the script that creates an empty database of this version, without the numbers of :func:`recount`."""
    return "".join(map(_script, ("schema.sql", *(name for _, name in _SCRIPTS))))


def _script(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _statements(script: str) -> Iterator[str]:
    """Split a script into statements, since ``executescript`` would end the transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def schema_version(connection: sqlite3.Connection) -> int:
    """Return the schema version that a database was created with or upgraded to."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def upgrade(connection: sqlite3.Connection, report: Progress | None = None) -> None:
    """Upgrade the schema inside the caller's transaction. Another process may have done so since the version was
    read. No index becomes stale. ``report`` is called with numbers of steps, also repeatedly during long ones.
    """
    version = schema_version(connection)
    if version >= SCHEMA_VERSION:
        return
    with _Steps(connection, len(COUNTS) if version < COUNTED_SINCE else 0, report) as steps:
        for since, table in _ADDED:
            if version < since:
                connection.execute(f"CREATE TABLE {table}")
        for since, script in _SCRIPTS:
            if version < since:
                for statement in _statements(_script(script)):
                    connection.execute(statement)
        steps.total += count_waiting(connection)
        if version < COUNTED_SINCE:
            recount(connection, steps.did)
        put_words(connection, steps.did)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


class _Steps:
    """Reports the steps of an upgrade, and that a statement of it goes on."""

    def __init__(self, connection: sqlite3.Connection, total: int, report: Progress | None) -> None:
        self.total = total
        self._done = 0
        self._connection = connection
        self._report = report

    def did(self, steps: int) -> None:
        self._done += steps
        self._tell()

    def _tell(self) -> None:
        if self._report is not None:
            self._report(self._done, self.total)

    def __enter__(self) -> _Steps:
        if self._report is not None:
            self._connection.set_progress_handler(self._tell, _BEAT)
        return self

    def __exit__(self, *_: object) -> None:
        if self._report is not None:
            self._connection.set_progress_handler(None, 0)


def add_missing_tables(connection: sqlite3.Connection) -> None:
    """Create, for a read-only connection, temporary versions of the tables that a store of an earlier version lacks,
    filled as an upgrade would fill them. They remain in use on this connection even if another process upgrades the
    store. Changes are not logged.
    """
    version = schema_version(connection)
    for since, table in _ADDED:
        if version < since:
            connection.execute(f"CREATE TEMP TABLE {table}")
    for since, statements in (
        (_CHANGES_SINCE, _WAITING),
        (_QUESTIONS_SINCE, _QUESTIONS),
        (COUNTED_SINCE, _PAGES),
    ):
        if version < since:
            for statement in statements:
                connection.execute(statement)
