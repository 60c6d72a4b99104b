"""Health checks of the server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trivium.server.collection import Collection
from trivium.server.errors import ApiError
from trivium.server.jobs import Jobs
from trivium.server.service import Service

_LONG_WAIT_SECONDS = 600.0
"""Seconds a change may wait before this is reported."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem, for programs and people. Public, so it contains no file names."""

    code: str
    message: str


def problems(service: Service) -> list[Problem]:
    """Return all current problems. The server may still answer questions."""
    return [
        *_of_store(service.collection),
        *_of_processes(service),
        *_of_space(service.folder, service.settings.min_free_bytes),
        *_of_jobs(service.jobs),
    ]


def check_space(folder: Path | None, least: int) -> None:
    """Raise ApiError if less than ``least`` bytes are free where the store is, so that documents cannot be added.
    ``folder`` is None for a database.
    """
    if any(_of_space(folder, least)):
        raise ApiError(
            507,
            "no_space",
            "the disk of the documents is nearly full: nothing can be added until space was made there",
        )


def _of_store(collection: Collection) -> Iterator[Problem]:
    if not collection.ready:
        yield Problem("store", collection.problem or "the store is being opened")
    elif collection.problem is not None:
        yield Problem("index_behind", collection.problem)
    elif not collection.embedded:
        yield Problem("empty", "nothing is embedded in the store yet")


def _of_processes(service: Service) -> Iterator[Problem]:
    processes = service.processes
    if processes is not None and service.collection.ready and processes.answering < processes.count:
        missing = processes.count - processes.answering
        yield Problem("processes", f"{missing} of {processes.count} processes that search do not answer")


def _of_space(folder: Path | None, least: int) -> Iterator[Problem]:
    if folder is None:
        return
    try:
        free = shutil.disk_usage(folder).free
    except OSError:  # the store itself will report the problem
        return
    if free < least:
        yield Problem(
            "no_space", f"{free >> 20} MB of disk are free, {least >> 20} MB are needed to add documents"
        )


def _of_jobs(jobs: Jobs) -> Iterator[Problem]:
    queue = jobs.queue
    if queue.waiting >= jobs.limit:
        yield Problem("queue", "as many changes of the documents wait as may: further ones are refused")
    elif queue.oldest_seconds > _LONG_WAIT_SECONDS:
        yield Problem("queue", f"a change of the documents has waited for more than {_LONG_WAIT_SECONDS:g} s")
