"""In how many chunks each search term occurs: kept exact by adding up what a transaction changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from trivium.graph.embedded.connection import Connection, as_json
from trivium.graph.records import Floats


class TermChanges:
    """Changes of document frequencies within one transaction."""

    def __init__(self) -> None:
        self._changes: Counter[str] = Counter()

    def add(self, terms: Iterable[str]) -> None:
        """A chunk with these terms came."""
        self._changes.update(set(terms))

    def remove(self, terms: Iterable[str]) -> None:
        """A chunk with these terms went."""
        self._changes.subtract(set(terms))

    def apply(self, connection: Connection) -> None:
        """Write them down, in a fixed order."""
        changes = [(term, change) for term, change in sorted(self._changes.items()) if change != 0]
        connection.executemany(
            "INSERT INTO term (term, df) VALUES (?, ?)"
            " ON CONFLICT (term) DO UPDATE SET df = df + excluded.df",
            changes,
        )
        connection.executemany(
            "DELETE FROM term WHERE term = ? AND df <= 0", ((term,) for term, change in changes if change < 0)
        )


def document_frequency(connection: Connection, terms: Sequence[str]) -> Floats:
    """Number of chunks that contain each term (len(terms),)."""
    known = dict(
        connection.execute(
            "SELECT t.term, t.df FROM json_each(?) AS j JOIN term AS t ON t.term = j.value", [as_json(terms)]
        )
    )
    return np.array([known.get(term, 0) for term in terms], dtype=np.float64)
