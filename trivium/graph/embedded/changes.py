"""What the database lists of the rows that went or changed since an earlier state; see changes.sql."""

from __future__ import annotations

from dataclasses import dataclass, fields

from trivium.graph.embedded.connection import Connection
from trivium.graph.embedded.meta import read_meta
from trivium.graph.embedded.states import CHANGES_KEPT, current_state, state_number, was_state

_SINCE = "changes_since"


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
        return sum(len(getattr(self, kind.name)) for kind in fields(self))


def read_changes(connection: Connection, key: str, most: int) -> Changes | None:
    """What has changed since the state ``key``. None where that is no earlier state of this store, where not all changes
    since are listed, or where there are more than ``most``."""
    number, last = state_number(key), state_number(current_state(connection))
    since = read_meta(connection, _SINCE)
    if since is None or not was_state(connection, key) or number < max(int(since), last - CHANGES_KEPT):
        return None
    rows = connection.execute(
        "SELECT kind, id FROM change WHERE number >= ? LIMIT ?", [number, most + 1]
    ).fetchall()
    if len(rows) > most:
        return None
    found: dict[str, set[int]] = {kind.name: set() for kind in fields(Changes)}
    for kind, row in rows:
        found[kind].add(row)
    return Changes(**{kind: sorted(numbers) for kind, numbers in found.items()})
