"""Changes of the documents: kept on the disk once they are accepted, done one at a time in a thread, also after a
restart."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from trivium.common.progress import StageProgress
from trivium.common.threads import Thread
from trivium.engine import Engine
from trivium.errors import InputError, StoreBusyError, TriviumError
from trivium.server.collection import Collection
from trivium.server.job_table import Change, Failure, Job, JobTable, Key, NoJobsError, State
from trivium.server.spool import ReadOnlyError, Spool

Work = Callable[[Engine, Change, Mapping[str, str], StageProgress], Mapping[str, Any]]
"""Makes a change in the store and returns the report; the uploaded files come by path with their names. It may be done
again where it was interrupted."""

MAX_STARTS = 3
"""How often a job is begun: one during which the server ended as often is given up."""
POLL_SECONDS = 1.0
"""How soon a job is noticed that another server of the store has accepted, and that the one that worked has ended."""
BUSY_SECONDS = 2.0
"""The wait before a job is begun again that found another process writing to the store."""
_RETRY_SECONDS = 2.0
"""The wait before the folder of the jobs is tried again that could not be read or written; it doubles up to the longest
wait below."""
_MAX_RETRY_SECONDS = 60.0

_log = logging.getLogger(__name__)


class JobError(Exception):
    """Raised by the work of a job that ends without having done what it should, though nothing broke."""

    def __init__(self, code: str, message: str, report: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.failure = Failure(code, message)
        self.report = report


class _InterruptedError(Exception):
    """The server is being stopped."""


class _CancelledError(Exception):
    """Somebody cancelled the job."""


class Jobs:
    """The jobs of a store and the one thread that works on them, in the order in which they were accepted.

    Of several servers of one store the first to come works; what the others accept is done by it, and when it ends the
    next one goes on. How far a job is only the one that works can tell.
    """

    def __init__(
        self,
        collection: Collection,
        spool: Spool,
        work: Work,
        limit: int,
        ended: Callable[[Change, Job], None],
    ) -> None:
        """``limit``: how many may wait. ``ended`` is called with every job that this server did, and what it was to
        do."""
        self._collection = collection
        self._spool = spool
        self._do = work
        self._limit = limit
        self._ended = ended
        self._wake = threading.Event()
        self._stopping = False
        self._opening = threading.Lock()
        self._opened: JobTable | None = None
        self._problem: str | None = None
        self._running: Job | None = None
        self._thread = Thread(target=self._work, name="jobs", daemon=True)

    # -- what everybody may ask -------------------------------------------------------------------------------------

    def open(self) -> bool:
        """Open the folder of the jobs, unless it is open; False where that fails, which is logged."""
        with self._opening:
            if self._opened is None and not self._stopping:
                try:
                    self._opened = self._spool.open()
                except (OSError, sqlite3.Error, ReadOnlyError) as error:
                    problem = f"jobs cannot be kept in {self._spool.folder}: {error}"
                    if problem != self._problem:  # it is tried again and again
                        _log.warning("documents cannot be changed: %s", problem)
                    self._problem = problem
            return self._opened is not None

    def start(self) -> None:
        """Begin to work; until then what is submitted waits."""
        self._thread.start()

    def submit(self, change: Change, key: Key | None = None) -> Job:
        """Keep a change, whose uploaded files are on the disk, and do it when it is its turn. Returns the job that was
        submitted with the same key before, if any: then nothing is kept. Raises NoJobsError, QueueFullError,
        KeyReusedError and sqlite3.Error."""
        job = self._table().add(change, self._limit, key)
        self._wake.set()
        return job

    def keyed(self, key: Key) -> Job | None:
        """The job that was submitted with that key. Raises NoJobsError and KeyReusedError."""
        job = self._table().keyed(key)
        return None if job is None else self._with_progress(job)

    def cancel(self, identifier: str) -> Job | None:
        """Cancel a job: at once where it waits, else at its next step. None for an unknown one; raises JobEndedError."""
        if self._opened is None:
            return None
        job = self._opened.cancel(identifier)
        if job is not None and job.state == "cancelled":
            self._spool.discard(identifier)
        return job

    def get(self, identifier: str) -> Job | None:
        """The state of a job; None for an unknown one, or one that ended long ago."""
        job = None if self._opened is None else self._opened.get(identifier)
        return None if job is None else self._with_progress(job)

    def recent(self, limit: int, before: str | None = None, state: State | None = None) -> list[Job]:
        """Jobs, newest first: those accepted ``before`` another one, and only those of a state where one is given."""
        jobs = [] if self._opened is None else self._opened.recent(limit, before, state)
        return [self._with_progress(job) for job in jobs]

    @property
    def waiting(self) -> int:
        """How many jobs wait."""
        return 0 if self._opened is None else self._opened.waiting()

    @property
    def full(self) -> bool:
        """Whether no further job would be accepted."""
        return self.waiting >= self._limit

    @property
    def size(self) -> int:
        """Bytes of the uploads of all jobs that wait or run."""
        return 0 if self._opened is None else self._opened.size()

    @property
    def oldest_seconds(self) -> float:
        """How long the first of the waiting jobs has waited; 0 where none waits."""
        return 0.0 if self._opened is None else self._opened.oldest_seconds()

    @property
    def died(self) -> bool:
        """Whether the thread that works has died: only a restart helps."""
        return self._thread.ended and not self._stopping

    def stop(self, seconds: float) -> bool:
        """Work no more, after the next step of the running job, which is waited for. Whatever is not done by then is done
        after a restart. False where that step takes longer; then the job's thread goes on until the process ends."""
        self._stopping = True
        self._wake.set()
        if self._opened is not None and self._running is not None:
            # At once, and not counted: who ends the process now must not make it look as if the job had killed it.
            with suppress(sqlite3.Error):
                self._put_back(self._opened)
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
        works = failed = False
        retry = _RETRY_SECONDS
        while not self._stopping:
            wait = POLL_SECONDS
            try:
                if not self.open():
                    wait, retry = retry, min(2 * retry, _MAX_RETRY_SECONDS)
                elif works:
                    wait = self._next(self._table())
                    retry = _RETRY_SECONDS
                elif self._spool.try_to_work():
                    # The job that was running; that its server ended counts, that it could not note the end does not.
                    self._put_back(self._table(), counted=not failed)
                    works, wait = True, 0.0
            except Exception:  # a full disk, for one; nothing that happens to a job may end its thread
                _log.exception("the jobs cannot go on now, trying again in %g s", retry)
                works, failed = False, True
                wait, retry = retry, min(2 * retry, _MAX_RETRY_SECONDS)
            if wait and self._wake.wait(wait):
                self._wake.clear()

    def _put_back(self, table: JobTable, *, counted: bool = False) -> None:
        """Have the running job wait again; one that was being cancelled has ended."""
        for identifier in table.put_back(counted=counted):
            self._spool.discard(identifier)

    def _next(self, table: JobTable) -> float:
        """Do the first job that waits. Returns the seconds to wait before the next look."""
        taken = table.take()
        if taken is None:
            return POLL_SECONDS
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
            if table.is_cancelling(change.id):
                raise _CancelledError
            if self._running is not None:
                self._running = replace(self._running, stage=stage, done=done, total=total)

        folder = self._spool.upload(change.id)
        files = {str(folder / str(number)): name for number, name in enumerate(change.names)}
        try:
            report = self._collection.change(lambda engine: self._do(engine, change, files, progress))
        except _CancelledError:
            self._end(table, change, "cancelled")
        except StoreBusyError:
            self._put_back(table)
            return BUSY_SECONDS
        except Exception as error:
            if self._stopping:  # whatever it was, it may have come of that
                self._put_back(table)
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
        # In this order: a job that is begun again needs its files.
        self._spool.discard(change.id)
        job = table.get(change.id)
        if job is not None:
            self._ended(change, job)


def _crashed() -> JobError:
    return JobError(
        "crashed",
        f"the server ended {MAX_STARTS} times while it made this change, so that it is given up: send its documents a few"
        " at a time to find the one that does it",
        {},
    )
