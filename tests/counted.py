"""Counts work instead of timing it: calls of functions, statements of the database, its instructions, and the bytes read
from it. The numbers are the same on every machine.
"""

from __future__ import annotations

import gc
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from weakref import WeakSet

import pytest

from trivium.common import idle_cores as beside
from trivium.graph.sqlite import connection

_A_TICK = 10
"""Instructions of SQLite's machine a count stands for."""
_READ = Path("/proc/self/io")
"""Linux only."""


@dataclass
class Work:
    """The work that something took."""

    calls: float = 0.0
    """Of functions, those of C among them."""
    statements: float = 0.0
    ticks: float = 0.0
    read: float = 0.0
    """Kilobytes that this process has read from files, which its databases read anew; 0 where the system does not say.
    What is mapped into memory is not among them."""

    def __truediv__(self, number: int) -> Work:
        return Work(*(getattr(self, field.name) / number for field in fields(Work)))


class _Connection(sqlite3.Connection):
    """A connection that can be weakly referenced."""


class Counter:
    """Counts the work of connections that are made within :meth:`of_databases`, and what this thread does between
    :meth:`begin` and :meth:`end`."""

    def __init__(self) -> None:
        self._now = Work()
        self._made: WeakSet[sqlite3.Connection] = WeakSet()
        self._read = 0.0

    @contextmanager
    def of_databases(self) -> Iterator[None]:
        """Watch connections made in this block. All work is done in this thread."""
        connect = sqlite3.connect

        def counting(*arguments: object, **options: object) -> sqlite3.Connection:
            made = connect(*arguments, factory=_Connection, **options)  # type: ignore[call-overload]
            made.set_progress_handler(self._tick, _A_TICK)
            made.set_trace_callback(self._statement)
            self._made.add(made)
            return made  # type: ignore[no-any-return]

        with pytest.MonkeyPatch.context() as patches:
            patches.setattr(connection.sqlite3, "connect", counting)
            patches.setattr(beside._HELPERS, "begin", lambda work: None)
            yield

    def begin(self, *, calls: bool = False) -> None:
        """Start counting at zero, with empty database caches. ``calls``: count those of functions, which takes time."""
        gc.collect()  # connections that nobody holds
        for made in self._made:
            try:
                made.execute("PRAGMA shrink_memory").fetchall()
            except sqlite3.ProgrammingError:
                continue  # closed
        self._now = Work()
        self._read = _bytes_read()
        if calls:
            sys.setprofile(self._call)

    def end(self) -> Work:
        """Return what was done since the beginning."""
        sys.setprofile(None)
        self._now.read = (_bytes_read() - self._read) / 1000
        done, self._now = self._now, Work()
        return done

    def _call(self, _frame: object, event: str, _argument: object) -> None:
        if event in ("call", "c_call"):
            self._now.calls += 1

    def _statement(self, _text: str) -> None:
        self._now.statements += 1

    def _tick(self) -> int:
        self._now.ticks += 1
        return 0


def can_count_reads() -> bool:
    """Whether the system says what a process has read."""
    return _READ.exists()


def _bytes_read() -> float:
    if not can_count_reads():
        return 0.0
    return float(_READ.read_text().partition("rchar:")[2].split()[0])
