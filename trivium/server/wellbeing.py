"""Health checks of the server."""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from trivium.server.collection import Collection
from trivium.server.errors import ApiError
from trivium.server.jobs import Jobs
from trivium.server.processes import Processes
from trivium.server.settings import ServerSettings

_LOOK_SECONDS = 1.0
"""Interval of slow checks in seconds. They run in a separate thread."""
_SILENT_SECONDS = 60.0
"""Seconds without a check after which that thread counts as stuck."""
_LONG_WAIT_SECONDS = 600.0
"""Seconds a change may wait before this is reported."""
_STUCK_TIMES = 10
"""All searching threads count as stuck when they have been busy for this multiple of the time limit of a question."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem, for programs and people. Public, so it contains no file names."""

    code: str
    message: str


class _Watched(Protocol):
    """A part that works in a separate thread."""

    @property
    def died(self) -> bool: ...


class Wellbeing:
    """Watches the parts of a server. Thread-safe."""

    def __init__(
        self,
        settings: ServerSettings,
        folder: Path | None,
        collection: Collection,
        jobs: Jobs,
        processes: Processes | None,
        searchers: int,
    ) -> None:
        """``folder`` is the folder of the store, None for other stores. ``searchers`` is the number of threads that
        search.
        """
        self._settings = settings
        self._folder = folder
        self._collection = collection
        self._jobs = jobs
        self._processes = processes
        self._searchers = searchers
        self._free_bytes: int | None = None
        self._looked = time.monotonic()
        self._closing = threading.Event()
        self._watch = threading.Thread(target=self._look_again, name="wellbeing", daemon=True)
        self._checks: tuple[Callable[[], Iterator[Problem]], ...] = (
            self._check_store,
            self._check_processes,
            self._check_space,
            self._check_jobs,
        )
        self._fatal_checks: tuple[Callable[[], Iterator[Problem]], ...] = (
            self._check_threads,
            self._check_searches,
        )

    def start(self) -> None:
        """Start watching."""
        self._look()
        self._watch.start()

    def stop(self) -> None:
        """Stop watching. The watched parts may be closed afterwards."""
        self._closing.set()
        if self._watch.is_alive():
            self._watch.join()

    def problems(self) -> list[Problem]:
        """Return all current problems, including fatal ones. The server may still answer questions."""
        return [problem for check in (*self._checks, *self._fatal_checks) for problem in check()]

    def fatal(self) -> list[Problem]:
        """Return the problems that need a restart."""
        return [problem for check in self._fatal_checks for problem in check()]

    def check_space(self) -> None:
        """Raise ApiError if the disk is nearly full, so that documents cannot be added."""
        if any(self._check_space()):
            raise ApiError(
                507,
                "no_space",
                "the disk of the documents is nearly full: nothing can be added until space was made there",
            )

    # -- problems that can be fixed, or resolve themselves ------------------------------------------------------------

    def _check_store(self) -> Iterator[Problem]:
        collection = self._collection
        if not collection.ready:
            yield Problem("store", collection.problem or "the store is being opened")
        elif collection.problem is not None:
            yield Problem("index_behind", f"{collection.problem}, since {collection.problem_seconds:.0f} s")
        elif not collection.embedded:
            yield Problem("empty", "nothing is embedded in the store yet")

    def _check_processes(self) -> Iterator[Problem]:
        processes = self._processes
        if processes is not None and self._collection.ready and processes.answering < processes.count:
            missing = processes.count - processes.answering
            yield Problem("processes", f"{missing} of {processes.count} processes that search do not answer")

    def _check_space(self) -> Iterator[Problem]:
        free, least = self._free_bytes, self._settings.min_free_bytes
        if free is not None and free < least:
            yield Problem(
                "no_space", f"{free >> 20} MB of disk are free, {least >> 20} MB are needed to add documents"
            )

    def _check_jobs(self) -> Iterator[Problem]:
        if self._jobs.died:
            yield Problem("jobs", "no changes of the documents are made any more")
        elif self._jobs.full:
            yield Problem("queue", "as many changes of the documents wait as may: further ones are refused")
        elif self._jobs.oldest_seconds > _LONG_WAIT_SECONDS:
            yield Problem(
                "queue", f"a change of the documents has waited for more than {_LONG_WAIT_SECONDS:g} s"
            )

    # -- problems that need a restart ---------------------------------------------------------------------------------

    def _check_threads(self) -> Iterator[Problem]:
        watched: dict[str, _Watched | None] = {
            "jobs": self._jobs,
            "follow": self._collection,
            "processes": self._processes,
        }
        dead = [name for name, part in watched.items() if part is not None and part.died]
        started = self._watch.ident is not None and not self._closing.is_set()
        if started and time.monotonic() - self._looked > _SILENT_SECONDS:
            dead.append("wellbeing")
        for name in dead:
            yield Problem("thread", f"the thread {name!r} of the server has ended or is stuck")

    def _check_searches(self) -> Iterator[Problem]:
        seconds = _STUCK_TIMES * self._settings.timeout
        if self._collection.reads_longer_than(seconds) >= self._searchers:
            yield Problem("stuck", f"all threads that search have been at it for more than {seconds:g} s")

    # -- the watching thread ------------------------------------------------------------------------------------------

    def _look_again(self) -> None:
        known: set[str] = set()
        while not self._closing.wait(_LOOK_SECONDS):
            try:
                self._look()
                found = {problem.code: problem.message for problem in self.problems()}
                for code in found.keys() - known:
                    _log.warning("not well (%s): %s", code, found[code])
                for code in known - found.keys():
                    _log.info("well again (%s)", code)
                known = set(found)
            except Exception:
                _log.exception("the server could not be looked at")

    def _look(self) -> None:
        if self._folder is not None:
            try:
                self._free_bytes = shutil.disk_usage(self._folder).free
            except OSError:
                self._free_bytes = None  # the store itself will report the problem
        self._looked = time.monotonic()
