"""The numbers of nodes, relationships and texts, which are stored, so that reading them reads no rows.

Whoever changes rows changes the numbers in the same transaction: :mod:`trivium.graph.sqlite.counting`, and triggers for
questions. The queries here define the numbers. They read all rows; a check uses them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from trivium.errors import StoreFormatError

# Citations by aliases beyond the distinct entities that they add to those a chunk cites by title: `citation` has this
# many rows more than the view `cites`. {redirected} selects the citations (chunk_id, leads_to) by aliases.
SURPLUS = """
    WITH redirected AS MATERIALIZED ({redirected})
    SELECT (SELECT count(*) FROM redirected) - (
        SELECT count(*) FROM (SELECT DISTINCT chunk_id, leads_to FROM redirected) AS r
        WHERE NOT EXISTS (SELECT 1 FROM citation AS t WHERE t.name_id = r.leads_to AND t.chunk_id = r.chunk_id)
    )
    """
_ALL_REDIRECTED = (
    "SELECT t.chunk_id, n.leads_to FROM name AS n JOIN citation AS t ON t.name_id = n.id"
    " WHERE n.leads_to IS NOT NULL"
)

COUNTS: Mapping[str, str] = {
    "entities": "SELECT count(*) FROM name WHERE leads_to IS NULL",
    "aliases": "SELECT count(*) FROM name WHERE leads_to IS NOT NULL",
    "pages": "SELECT count(*) FROM page",
    "sections": "SELECT count(*) FROM section",
    "chunks": "SELECT count(*) FROM chunk",
    "questions": "SELECT count(*) FROM question",
    # The following are the numbers of rows of views, without joining names to their rows.
    "is_subchapter_of": "SELECT (SELECT count(*) FROM section) + (SELECT count(*) FROM ancestor)",
    "is_chunk_of": """
        WITH depth AS MATERIALIZED (SELECT section_id, count(*) AS above FROM ancestor GROUP BY section_id)
        SELECT coalesce(sum(1 + (c.section_id IS NOT NULL) + coalesce(d.above, 0)), 0)
        FROM chunk AS c LEFT JOIN depth AS d ON d.section_id = c.section_id
        """,
    # All chunks except the first under each heading, and the first of each page's lead.
    "next": """
        SELECT (SELECT count(*) FROM chunk) - (SELECT count(DISTINCT section_id) FROM chunk)
            - (SELECT count(DISTINCT page_id) FROM chunk WHERE section_id IS NULL)
        """,
    "cites": f"SELECT (SELECT count(*) FROM citation) - ({SURPLUS.format(redirected=_ALL_REDIRECTED)})",  # noqa: S608
    "stated": "SELECT count(*) FROM stated_relation",
    "answers": "SELECT count(*) FROM answer",
    # Distinct texts to embed, and how many of them have a vector.
    "texts": "SELECT count(*) FROM text",
    "vectors": "SELECT count(*) FROM vector",
}
"""What is counted, and the query that counts it."""


def count_rows(connection: sqlite3.Connection) -> dict[str, int]:
    """Return the numbers by reading all rows."""
    return {name: int(connection.execute(query).fetchone()[0]) for name, query in COUNTS.items()}


def read_counters(connection: sqlite3.Connection) -> dict[str, int]:
    """Return the stored numbers. Raises StoreFormatError if one is missing."""
    stored: dict[str, int] = dict(connection.execute("SELECT name, number FROM counter"))
    missing = COUNTS.keys() - stored.keys()
    if missing:
        raise StoreFormatError(
            f"the store is damaged: its table 'counter' lacks {', '.join(sorted(missing))};  trivium check STORE --repair"
            "  counts again"
        )
    return {name: stored[name] for name in COUNTS}


def recount(connection: sqlite3.Connection) -> None:
    """Store the numbers anew, counted from the rows."""
    numbers = count_rows(connection)
    connection.execute("DELETE FROM counter")
    connection.executemany("INSERT INTO counter (name, number) VALUES (?, ?)", numbers.items())
