"""Health checks of the server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from trivium.server.collection import Collection
from trivium.server.errors import ApiError
from trivium.server.jobs import Jobs
from trivium.server.processes import Processes
from trivium.server.settings import ServerSettings

_LONG_WAIT_SECONDS = 600.0
"""Seconds a change may wait before this is reported."""
_STUCK_TIMES = 10
"""All searching threads count as stuck when they have been busy for this multiple of the time limit of a question."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem, for programs and people. Public, so it contains no file names."""

    code: str
    message: str


class HealthChecks:
    """Asks the parts of a server how they are. Thread-safe."""

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

    def problems(self) -> list[Problem]:
        """Return all current problems, including fatal ones. The server may still answer questions."""
        others = (self._check_store(), self._check_processes(), self._check_space(), self._check_jobs())
        return [*chain(*others), *self.fatal()]

    def fatal(self) -> list[Problem]:
        """Return the problems that need a restart."""
        return [*self._check_threads(), *self._check_searches()]

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
        if self._folder is None:
            return
        try:
            free = shutil.disk_usage(self._folder).free
        except OSError:  # the store itself will report the problem
            return
        least = self._settings.min_free_bytes
        if free < least:
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
        died = {"jobs": self._jobs.died, "follow": self._collection.died}
        if self._processes is not None:
            died["processes"] = self._processes.died
        for name in (name for name, has_died in died.items() if has_died):
            yield Problem("thread", f"the thread {name!r} of the server has ended")

    def _check_searches(self) -> Iterator[Problem]:
        seconds = _STUCK_TIMES * self._settings.timeout
        if self._collection.reads_longer_than(seconds) >= self._searchers:
            yield Problem("stuck", f"all threads that search have been at it for more than {seconds:g} s")
