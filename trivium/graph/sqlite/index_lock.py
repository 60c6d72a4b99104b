"""Lets one process at a time build the indexes of a store, while the others wait for it."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from trivium.errors import StoreBusyError
from trivium.graph.sqlite.connection import is_busy

WAIT_SECONDS = 60.0
"""How long to wait for another process that builds indexes without making progress."""
_SAY_SECONDS = 1.0
"""Waits longer than this are announced in the log."""
_NOTE_SECONDS = 1.0
"""How often the builder records that it is alive."""
_POLL_SECONDS = 0.05
_LOCK = "lock.db"
_NOTE = "builder.json"

_log = logging.getLogger(__name__)

Going = Callable[[], None]
"""Called by a builder regularly to record that it makes progress."""


@contextmanager
def building(index: Path) -> Iterator[Going]:
    """Hold the build lock of the folder ``index`` until the block ends, however the process ends.

    If another process holds it, wait as long as that process makes progress; the wait can be interrupted. Raises
    StoreBusyError, which names the process, when it has made no progress for :data:`WAIT_SECONDS`.
    """
    with closing(_locked(index)):
        note = _Note(index / _NOTE)
        try:
            yield note.going
        finally:
            note.remove()


def is_built(index: Path) -> bool:
    """Whether some process is building in the folder ``index``."""
    path = index / _LOCK
    if not path.exists():
        return False
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            return is_busy(error)
        except sqlite3.DatabaseError:  # not a database: nobody can have locked it
            return False
    return False


def _locked(index: Path) -> sqlite3.Connection:
    """Acquire the lock: an SQLite transaction, which the operating system releases when the process ends."""
    path = index / _LOCK
    waiting = _Waiting(index)
    while True:
        # Do not wait inside SQLite, where no signal would reach Python.
        connection = sqlite3.connect(path, timeout=0, isolation_level=None)
        try:
            connection.execute("BEGIN EXCLUSIVE")
            return connection
        except sqlite3.OperationalError as error:
            connection.close()
            if not is_busy(error):
                raise OSError(f"{path}: {error}") from error
            waiting.look()
        except sqlite3.DatabaseError:  # not a database: nobody can have locked it
            connection.close()
            path.unlink(missing_ok=True)
        except BaseException:
            connection.close()
            raise


class _Note:
    """The note that tells other processes who is building, and that it makes progress."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._count = 0
        self._next = 0.0
        self.going()

    def going(self) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _NOTE_SECONDS
        self._count += 1
        with suppress(OSError):  # others then wait no longer than without progress
            self._path.write_text(json.dumps({"process": os.getpid(), "count": self._count}), "utf-8")

    def remove(self) -> None:
        with suppress(OSError):
            self._path.unlink()


class _Waiting:
    """Waits for a builder as long as its note changes."""

    def __init__(self, index: Path) -> None:
        self._index = index
        self._seen = self._note()
        self._begun = self._changed = time.monotonic()
        self._said = False

    def look(self) -> None:
        """Wait briefly. Raises StoreBusyError when nothing has changed for too long."""
        now = time.monotonic()
        note = self._note()
        if note != self._seen:
            self._seen, self._changed = note, now
        if now - self._changed > WAIT_SECONDS:
            raise StoreBusyError(
                f"{self._builder()} has been building the indexes below {self._index} for {now - self._begun:.0f} s,"
                f" the last {WAIT_SECONDS:g} s without progress: see whether it is stopped or hangs, wait for it or"
                " end it, and try again"
            )
        if not self._said and now - self._begun > _SAY_SECONDS:
            self._said = True
            _log.warning("waiting for %s, which builds the indexes below %s", self._builder(), self._index)
        time.sleep(_POLL_SECONDS)

    def _note(self) -> str:
        try:
            return (self._index / _NOTE).read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            return ""

    def _builder(self) -> str:
        try:
            return f"process {int(json.loads(self._seen)['process'])}"
        except (ValueError, KeyError, TypeError):
            return "another process"
