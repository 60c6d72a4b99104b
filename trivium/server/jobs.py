"""Changes of the documents. Accepted changes are stored on disk and made one at a time in a thread, also after a
restart.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from trivium.common.progress import StageProgress
from trivium.engine import Engine
from trivium.errors import InputError, StoreBusyError, TriviumError
from trivium.server.collection import Collection
from trivium.server.job_table import Change, Failure, Job, JobTable, NoJobsError, Queue, State
from trivium.server.jobs_folder import ReadOnlyError, Spool
from trivium.server.logs import FIELDS

Work = Callable[[Engine, Change, Mapping[str, str], StageProgress], Mapping[str, Any]]
"""Makes a change in the store and returns its report. Uploaded files are passed as a mapping from path to name. It may
be repeated after an interruption.
"""

MAX_STARTS = 3
"""Maximum number of starts. A job that was running when the server crashed this many times is given up."""
BUSY_SECONDS = 2.0
"""Seconds to wait before a job is retried when another process was writing to the store."""
_RETRY_SECONDS = 10.0
"""Seconds to wait before retrying when the folder of the jobs cannot be read or written."""

_log = logging.getLogger(__name__)


class JobError(Exception):
    """Raised by the work of a job to end it as failed for an expected reason."""

    def __init__(self, code: str, message: str, report: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.failure = Failure(code, message)
        self.report = report


class _InterruptedError(Exception):
    """The server is being stopped."""


class Jobs:
    """The jobs of a store, and the single thread that works on them in the order in which they were accepted.

    Of several servers of a store, one accepts changes. When it ends, the others can.
    """

    def __init__(
        self,
        collection: Collection,
        spool: Spool,
        work: Work,
        limit: int,
        ended: Callable[[Job], None],
    ) -> None:
        """``limit`` is the maximum number of waiting jobs. ``ended`` is called for every job that this server has
        finished.
        """
        self._collection = collection
        self._spool = spool
        self._do = work
        self.limit = limit
        self._ended = ended
        self._wake = threading.Event()
        self._stopping = False
        self._opening = threading.Lock()
        self._opened: JobTable | None = None
        self._problem: str | None = None
        self._running: Job | None = None
        self._thread = threading.Thread(target=self._work, name="jobs", daemon=True)

    # -- called from any thread --------------------------------------------------------------------------------------

    def open(self) -> bool:
        """Open the folder of the jobs unless it is open. Returns False if that fails; the failure is logged."""
        with self._opening:
            if self._opened is None and not self._stopping:
                try:
                    self._opened = self._spool.open()
                except (OSError, sqlite3.Error, ReadOnlyError) as error:
                    problem = f"jobs cannot be kept in {self._spool.folder}: {error}"
                    if problem != self._problem:  # repeated attempts log the same problem only once
                        _log.warning("documents cannot be changed: %s", problem)
                    self._problem = problem
            return self._opened is not None

    def start(self) -> None:
        """Start working. Until then submitted changes wait."""
        self._thread.start()

    def submit(self, change: Change) -> Job:
        """Queue a change whose uploaded files are on disk, and return its job. Raises NoJobsError, QueueFullError and
        sqlite3.Error.
        """
        job = self._table().add(change, self.limit)
        self._wake.set()
        return job

    def get(self, identifier: str) -> Job | None:
        """Return a job; None if it is unknown or has been deleted."""
        job = None if self._opened is None else self._opened.get(identifier)
        return None if job is None else self._with_progress(job)

    def recent(self, limit: int) -> list[Job]:
        """Return jobs, newest first."""
        jobs = [] if self._opened is None else self._opened.recent(limit)
        return [self._with_progress(job) for job in jobs]

    @property
    def queue(self) -> Queue:
        """What waits and runs."""
        return Queue() if self._opened is None else self._opened.queue()

    def stop(self, seconds: float) -> bool:
        """Stop working after the next step of the running job, waiting at most ``seconds`` for it. Unfinished jobs
        continue after a restart. Returns False if the step takes longer; the thread then runs until the process ends.
        """
        self._stopping = True
        self._wake.set()
        if self._opened is not None and self._running is not None:
            # Immediately and without counting the attempt: if the process is killed now, the job must not be blamed.
            with suppress(sqlite3.Error):
                self._opened.put_back(counted=False)
        if self._thread.is_alive():
            self._thread.join(seconds)
        if self._thread.is_alive():
            _log.warning(
                "a change of the documents does not stop within %g s: it is done again after a restart",
                seconds,
            )
            return False
        table, self._opened = self._opened, None
        if table is not None:
            table.close()
        self._spool.close()
        return True

    def _table(self) -> JobTable:
        if self._opened is None:
            raise NoJobsError
        return self._opened

    def _with_progress(self, job: Job) -> Job:
        running = self._running
        if running is None or running.id != job.id or job.finished is not None:
            return job
        return replace(job, stage=running.stage, done=running.done, total=running.total)

    # -- the thread -------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        failed = False
        while not self._stopping:
            wait: float | None = _RETRY_SECONDS
            try:
                if self.open():
                    if failed:  # the end of a job could not be recorded
                        self._table().put_back(counted=False)
                        failed = False
                    wait = self._next(self._table())
            except Exception:  # for example a full disk; an error in one job must not end the thread
                _log.exception("the jobs cannot go on now, trying again in %g s", _RETRY_SECONDS)
                failed = True
            if wait != 0:
                self._wake.wait(wait)
                self._wake.clear()

    def _next(self, table: JobTable) -> float | None:
        """Run the first waiting job. Returns the seconds to wait before the next one; None if there is none."""
        taken = table.take()
        if taken is None:
            return None
        change, starts = taken
        self._running = table.get(change.id)
        try:
            if starts > MAX_STARTS:
                self._fail(table, change, _crashed())
                return 0.0
            return self._try(table, change)
        finally:
            self._running = None

    def _try(self, table: JobTable, change: Change) -> float:
        def progress(stage: str, done: int, total: int) -> None:
            if self._stopping:
                raise _InterruptedError
            if self._running is not None:
                self._running = replace(self._running, stage=stage, done=done, total=total)

        folder = self._spool.upload(change.id)
        files = {str(folder / str(number)): name for number, name in enumerate(change.names)}
        try:
            report = self._collection.change(lambda engine: self._do(engine, change, files, progress))
        except StoreBusyError:
            table.put_back(counted=False)
            return BUSY_SECONDS
        except Exception as error:
            if self._stopping:  # any error may be caused by stopping
                table.put_back(counted=False)
            else:
                self._fail(table, change, error)
        else:
            self._end(table, change, "done", report)
        return 0.0

    def _fail(self, table: JobTable, change: Change, error: Exception) -> None:
        report: Mapping[str, Any] = {}
        match error:
            case JobError():
                failure, report = error.failure, error.report
            case InputError():
                failure = Failure("bad_request", str(error))
            case TriviumError():
                _log.error("job %s failed", change.id, exc_info=error)
                failure = Failure("failed", "the documents could not be changed; the log has the reason")
            case _:
                _log.error("job %s failed", change.id, exc_info=error)
                failure = Failure("internal", "internal error; the server's log has the details")
        self._end(table, change, "failed", report, failure)

    def _end(
        self,
        table: JobTable,
        change: Change,
        state: State,
        report: Mapping[str, Any] | None = None,
        failure: Failure | None = None,
    ) -> None:
        table.end(change.id, state, report or {}, failure)
        # In this order, because a restarted job needs its files.
        self._spool.discard(change.id)
        job = table.get(change.id)
        if job is not None:
            self._ended(job)
            told = {"job": job.id, "kind": job.kind, "state": job.state}
            _log.info("a change has ended", extra={FIELDS: told})


def _crashed() -> JobError:
    return JobError(
        "crashed",
        f"the server ended {MAX_STARTS} times while it made this change, so that it is given up: send its documents a few"
        " at a time to find the one that does it",
        {},
    )
