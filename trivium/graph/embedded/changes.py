"""Reads the database's log of rows deleted or changed since an earlier state."""

from __future__ import annotations

from dataclasses import dataclass, fields

from trivium.graph.embedded.connection import Connection
from trivium.graph.embedded.meta import read_meta
from trivium.graph.embedded.states import CHANGES_KEPT, current_state, state_number, was_state

_SINCE = "changes_since"


@dataclass(frozen=True, slots=True)
class Changes:
    """Changed rows by number: deleted chunks and sections; added or removed pages; names that were removed, changed
    between alias and entity or got another text; texts that lost a vector; and texts that gained or lost sentence
    vectors.
    """

    chunk: list[int]
    section: list[int]
    page: list[int]
    name: list[int]
    vector: list[int]
    sentences: list[int]

    def __len__(self) -> int:
        return sum(len(getattr(self, kind.name)) for kind in fields(self))


def read_changes(connection: Connection, key: str, most: int) -> Changes | None:
    """Return the changes since the state ``key``. None if this is not an earlier state of the store, if the log does
    not reach back that far, or if there are more than ``most`` changes.
    """
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
