"""Another process makes the files of the indexes anew, while this one goes on with those it has and what changed since.

What changed lies in memory, and slows down a little what is asked; files are made of it before it is so much that
somebody has to wait for them. In a process of its own that takes no time of Python from who searches, and its memory
is given back.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from pathlib import Path

from trivium.graph.embedded.connection import open_database
from trivium.graph.embedded.snapshot import IndexSnapshot, build_snapshot

MERGED_ABOVE = 0.01
"""The share of all nodes above which what changed is made into files."""
MERGED_FROM = 50_000
"""Nodes; files of fewer are made within a second or two, when :data:`~trivium.graph.embedded.snapshot.MOST_PATCHED` is
reached."""
_NICE = 5  # searches come first

_log = logging.getLogger(__name__)


class Merger:
    """Starts and ends such processes for one store, one at a time. Threads may share it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._failed = False
        self._lock = threading.Lock()

    def look(self, indexes: IndexSnapshot) -> None:
        """Start one if these indexes have much that is in memory only. One that failed is not tried again: what it
        stumbled over is told when somebody has to wait for the files."""
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
        """Wait for one under way."""
        process = self._process
        if process is not None:
            process.wait()

    def end(self) -> None:
        """End one under way: what it has made is thrown away, and the store is as it was."""
        with self._lock:
            if self._process is not None:
                with self._process:
                    self._process.kill()
                self._process = None

    def _start(self) -> subprocess.Popen[bytes] | None:
        try:
            return subprocess.Popen(
                [sys.executable, "-m", __name__, str(self._folder.resolve())],
                stdin=subprocess.PIPE,  # ends with this process, however that ends
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,  # an interrupt is meant for this process
            )
        except OSError as error:
            _log.warning("the indexes of %s cannot be merged meanwhile: %s", self._folder, error)
            self._failed = True
            return None


def main() -> None:
    """Make the files of the store in the folder that is named."""

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
