"""Term counts of one question, fetched once per chunk."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from trivium.graph.protocols import TextSearch
from trivium.graph.records import TermCounts


class KnownCounts:
    """Counts of the terms of one question, cached per chunk because lists of candidates overlap. Thread-safe."""

    def __init__(self, store: TextSearch, terms: Sequence[str]) -> None:
        self._store = store
        self._terms = terms
        self._lock = threading.Lock()
        self._rows: dict[str, int] = {}
        self._counts: TermCounts | None = None

    def of(self, chunks: Sequence[str]) -> TermCounts:
        """Return the counts of these chunks, in their order."""
        with self._lock:
            new = [uri for uri in dict.fromkeys(chunks) if uri not in self._rows]
            if new or self._counts is None:
                found = self._store.term_counts(new, self._terms)
                self._counts = found if self._counts is None else joined(self._counts, found)
                self._rows.update(zip(new, range(len(self._rows), len(self._rows) + len(new)), strict=True))
            return taken(self._counts, [self._rows[uri] for uri in chunks])


def joined(first: TermCounts, second: TermCounts) -> TermCounts:
    """Concatenate the counts of two groups of chunks."""
    later = second.places.copy()
    later[:, 0] += len(first.text)
    return TermCounts(
        text=np.concatenate([first.text, second.text]),
        headings=np.concatenate([first.headings, second.headings]),
        text_length=np.concatenate([first.text_length, second.text_length]),
        headings_length=np.concatenate([first.headings_length, second.headings_length]),
        places=np.concatenate([first.places, later]),
    )


def taken(counts: TermCounts, rows: Sequence[int]) -> TermCounts:
    """Select the counts of some chunks, in the order of ``rows``."""
    from trivium.graph.occurrence_loops import places_of  # loads numba, see trivium.common.compiled

    own = np.array(rows, dtype=np.int64)
    return TermCounts(
        counts.text[own],
        counts.headings[own],
        counts.text_length[own],
        counts.headings_length[own],
        places_of(counts.places, own),
    )
