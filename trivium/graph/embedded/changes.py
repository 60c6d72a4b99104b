"""What the database lists of the rows that went or changed since an earlier state; see changes.sql."""

from __future__ import annotations

from dataclasses import dataclass

from trivium.graph.embedded.connection import CHANGES_KEPT, Connection
from trivium.graph.embedded.meta import read_meta

_SINCE = "changes_since"
_KINDS = ("chunk", "section", "page", "name", "vector", "sentences")


@dataclass(frozen=True, slots=True)
class Changes:
    """Numbers of chunks and sections that went, of pages that came or went, of names that went or became alias or
    entity or got another text, and of texts that lost a vector, or got or lost vectors of sentences."""

    chunk: list[int]
    section: list[int]
    page: list[int]
    name: list[int]
    vector: list[int]
    sentences: list[int]

    def __len__(self) -> int:
        return sum(len(getattr(self, kind)) for kind in _KINDS)


def read_changes(connection: Connection, key: str, most: int) -> Changes | None:
    """What has changed since the state ``key``. None where that is no earlier state of this store, where not all changes
    since are listed, or where there are more than ``most``."""
    number, _, token = key.partition("-")
    (last,) = connection.execute("SELECT max(number) FROM generation").fetchone()
    known = connection.execute(
        "SELECT 1 FROM generation WHERE number = ? AND token = ?", [int(number), token]
    )
    since = read_meta(connection, _SINCE)
    if since is None or known.fetchone() is None or int(number) < max(int(since), last - CHANGES_KEPT):
        return None
    rows = connection.execute(
        "SELECT kind, id FROM change WHERE number >= ? LIMIT ?", [int(number), most + 1]
    ).fetchall()
    if len(rows) > most:
        return None
    found: dict[str, set[int]] = {kind: set() for kind in _KINDS}
    for kind, row in rows:
        found[kind].add(row)
    return Changes(**{kind: sorted(numbers) for kind, numbers in found.items()})
