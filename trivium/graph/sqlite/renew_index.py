"""Rebuilds index files in another process, while this one continues with its files and the changes since.

Changes are kept in memory and slow searches down a little. They are merged into new files before there are so many
that a search would have to wait for it. A separate process does not compete for the GIL, and its memory is freed.
"""

from __future__ import annotations

import logging
import os
import threading
from multiprocessing.connection import Connection
from pathlib import Path

from trivium.common.workers import Worker, WorkerLostError
from trivium.graph.arrays.snapshot import IndexSnapshot
from trivium.graph.sqlite.opening import open_database
from trivium.graph.sqlite.snapshot import build_snapshot

MERGED_ABOVE = 0.01
"""Share of changed nodes above which they are merged into files."""
MERGED_FROM = 50_000
"""Minimum number of nodes. Smaller indexes are rebuilt within a second or two when
:data:`~trivium.graph.sqlite.snapshot.MOST_PATCHED` is reached.
"""
_NICE = 5  # searches have priority

_log = logging.getLogger(__name__)


class Merger:
    """Starts and ends merge processes for one store, one at a time. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # On demand: every question has a view of the store with its own merger.
        self._worker: Worker | None = None
        self._failed = False
        self._lock = threading.Lock()

    def look(self, indexes: IndexSnapshot) -> None:
        """Start a merge if these indexes hold many changes in memory. A failed merge is not retried: the error
        surfaces when somebody has to wait for the files.
        """
        if indexes.size < MERGED_FROM or indexes.base.changes <= MERGED_ABOVE * indexes.size:
            return
        with self._lock:
            if self._worker is None:
                self._worker = Worker(f"{__name__}:merge", [str(self._folder.resolve())])
            if self._failed or self._worker.is_alive:
                return
            self._failed = self._worker.end() not in (None, 0)
            if not self._failed:
                try:
                    self._worker.connect()
                except WorkerLostError as error:
                    _log.warning("the indexes cannot be merged meanwhile: %s", error)
                    self._failed = True

    def end(self) -> None:
        """Terminate a running merge. Its output is discarded and the store is unchanged."""
        if self._worker is not None:
            self._worker.end(0)


def merge(_: Connection, folder: str) -> None:
    """Build the index files of the store in a folder, in a process of its own."""
    if hasattr(os, "nice"):
        os.nice(_NICE)
    database = open_database(Path(folder), read_only=False)
    try:
        build_snapshot(database)
    finally:
        database.close()
