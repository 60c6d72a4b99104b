"""Rebuilds index files in another process, while this one continues with its files and the changes since.

Changes are kept in memory and slow searches down a little. They are merged into new files before there are so many
that a search would have to wait for it. A separate process does not compete for the GIL, and its memory is freed.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from pathlib import Path

from trivium.common.workers import module_command, module_environment
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
        self._process: subprocess.Popen[bytes] | None = None
        self._failed = False
        self._lock = threading.Lock()

    def look(self, indexes: IndexSnapshot) -> None:
        """Start a merge if these indexes hold many changes in memory. A failed merge is not retried: the error
        surfaces when somebody has to wait for the files.
        """
        if indexes.size < MERGED_FROM or indexes.base.changes <= MERGED_ABOVE * indexes.size:
            return
        with self._lock:
            if self._process is not None and self._process.poll() is not None:
                with self._process:  # closes the pipe
                    self._failed = self._process.returncode != 0
                self._process = None
            if self._process is None and not self._failed and sys.executable:
                self._process = self._start()

    def wait(self) -> None:
        """Wait for a running merge."""
        process = self._process
        if process is not None:
            process.wait()

    def end(self) -> None:
        """Terminate a running merge. Its output is discarded and the store is unchanged."""
        with self._lock:
            if self._process is not None:
                with self._process:
                    self._process.kill()
                self._process = None

    def _start(self) -> subprocess.Popen[bytes] | None:
        try:
            return subprocess.Popen(
                module_command(__name__, str(self._folder.resolve())),
                stdin=subprocess.PIPE,  # the child exits when this process ends, for whatever reason
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=module_environment(),
                start_new_session=True,  # interrupts are meant for this process only
            )
        except OSError as error:
            _log.warning("the indexes of %s cannot be merged meanwhile: %s", self._folder, error)
            self._failed = True
            return None


def main() -> None:
    """Build the index files of the store in the folder given as argument."""

    def end_with_parent() -> None:
        os.read(0, 1)
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(_NICE)
    database = open_database(Path(sys.argv[1]), read_only=False)
    try:
        build_snapshot(database)
    finally:
        database.close()


if __name__ == "__main__":
    main()
