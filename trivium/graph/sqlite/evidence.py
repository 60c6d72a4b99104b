"""Where pages say their relations, in a table that the first such place makes."""

from __future__ import annotations

from trivium.graph.sqlite.connection import Connection

# The reference is checked at the end of a transaction: only relations that are not stated yet get a place.
EVIDENCE_TABLE = """CREATE TABLE IF NOT EXISTS relation_evidence (
    page_id INTEGER NOT NULL, source_id INTEGER NOT NULL, type_id INTEGER NOT NULL, target_id INTEGER NOT NULL,
    chunk TEXT NOT NULL, start_char INTEGER NOT NULL, end_char INTEGER NOT NULL,
    PRIMARY KEY (page_id, source_id, type_id, target_id),
    FOREIGN KEY (page_id, source_id, type_id, target_id) REFERENCES relation (page_id, source_id, type_id, target_id)
        ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID"""
INSERT_EVIDENCE = """
INSERT OR IGNORE INTO relation_evidence (page_id, source_id, type_id, target_id, chunk, start_char, end_char)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE NOT EXISTS (
    SELECT 1 FROM relation WHERE page_id = ?1 AND source_id = ?2 AND type_id = ?3 AND target_id = ?4
)
"""


def evidence(connection: Connection) -> tuple[str, str]:
    """Return the columns of where relations are said (chunk, start, end), and the join that reads them."""
    # The schema as a table would be read row by row at every search.
    if connection.execute("PRAGMA table_info(relation_evidence)").fetchone() is None:
        return "'', 0, 0", ""
    columns = "coalesce(v.chunk, ''), coalesce(v.start_char, 0), coalesce(v.end_char, 0)"
    return columns, "LEFT JOIN relation_evidence AS v USING (page_id, source_id, type_id, target_id)"
