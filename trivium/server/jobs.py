"""Changes of the documents: queued, done one at a time in a thread, with progress and a report."""

from __future__ import annotations

import logging
import threading
import uuid
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

from trivium.common.progress import StageProgress
from trivium.engine import Engine
from trivium.errors import InputError, StoreBusyError, TriviumError
from trivium.server.collection import Collection

Kind = Literal["add", "replace", "delete"]
State = Literal["queued", "running", "done", "failed"]
Work = Callable[[Engine, StageProgress], Mapping[str, Any]]
"""Changes the store and returns the report."""

QUEUE = 100
"""Jobs that may wait."""
_KEPT = 1000
"""Jobs that have ended and can still be asked about."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a job did not do what it should."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Job:
    """A change of the documents at one moment. ``stage``, ``done`` and ``total`` are its progress, ``report``
    its result. Times are ISO 8601, in UTC."""

    id: str
    kind: Kind
    state: State
    created: str
    started: str | None = None
    finished: str | None = None
    stage: str = ""
    done: int = 0
    total: int = 0
    report: Mapping[str, Any] = field(default_factory=dict)
    error: Failure | None = None


class JobError(Exception):
    """Raised by the work of a job that ends without having done what it should, though nothing broke."""

    def __init__(self, code: str, message: str, report: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.failure = Failure(code, message)
        self.report = report


class QueueFullError(Exception):
    """Too many jobs wait already."""


class _InterruptedError(Exception):
    """The server is being stopped."""


class Jobs:
    """The queue and the one thread that works on it."""

    def __init__(self, collection: Collection, ended: Callable[[str, str], None]) -> None:
        """``ended`` is called with the kind and the last state of every job."""
        self._collection = collection
        self._ended = ended
        self._changed = threading.Condition()
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._waiting: deque[tuple[str, Work, Callable[[], None]]] = deque()
        self._stopping = False
        self._thread = threading.Thread(target=self._work, name="jobs", daemon=True)

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    @property
    def died(self) -> bool:
        """Whether nobody works on the queue any more, though it was not stopped."""
        thread = self._thread
        return thread.ident is not None and not thread.is_alive() and not self._stopping

    def submit(self, kind: Kind, work: Work, cleanup: Callable[[], None] = lambda: None) -> Job:
        """Queue a change; ``cleanup`` is called when it has ended, whichever way. Raises QueueFullError, and then calls
        nothing."""
        job = Job(uuid.uuid4().hex, kind, "queued", _now())
        with self._changed:
            if self._stopping or len(self._waiting) >= QUEUE:
                raise QueueFullError
            self._jobs[job.id] = job
            self._waiting.append((job.id, work, cleanup))
            self._changed.notify_all()
        return job

    def get(self, identifier: str) -> Job | None:
        """The state of a job; None for an unknown one, or one that ended long ago."""
        with self._changed:
            return self._jobs.get(identifier)

    def stop(self) -> None:
        """Cancel the waiting jobs, and the running one at its next step: what that committed stays, and submitting the
        same change again finishes it."""
        with self._changed:
            self._stopping = True
            given_up = list(self._waiting)
            self._waiting.clear()
            self._changed.notify_all()
        for identifier, _, cleanup in given_up:
            self._fail(identifier, Failure("interrupted", "the server was stopped before it began"))
            cleanup()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._stopping:
                    self._changed.wait()
                if self._stopping:
                    return
                identifier, work, cleanup = self._waiting.popleft()
            self._update(identifier, state="running", started=_now())
            try:
                self._run(identifier, work)
            finally:
                cleanup()

    def _run(self, identifier: str, work: Work) -> None:
        def progress(stage: str, done: int, total: int) -> None:
            if self._stopping:
                raise _InterruptedError
            self._update(identifier, stage=stage, done=done, total=total)

        try:
            report = self._collection.change(lambda engine: work(engine, progress))
        except _InterruptedError:
            self._fail(
                identifier, Failure("interrupted", "the server was stopped; ask for it again to finish")
            )
        except JobError as failed:
            self._fail(identifier, failed.failure, failed.report)
        except InputError as error:
            self._fail(identifier, Failure("bad_request", str(error)))
        except StoreBusyError:
            self._fail(
                identifier, Failure("busy", "another process is writing to the store: ask again later")
            )
        except TriviumError:
            _log.exception("job %s failed", identifier)
            self._fail(
                identifier, Failure("failed", "the documents could not be changed; the log has the reason")
            )
        except Exception:
            _log.exception("job %s failed", identifier)
            self._fail(identifier, Failure("internal", "internal error; the server's log has the details"))
        else:
            self._update(identifier, state="done", finished=_now(), report=report)
            self._forget("done", identifier)

    def _fail(self, identifier: str, failure: Failure, report: Mapping[str, Any] | None = None) -> None:
        self._update(identifier, state="failed", finished=_now(), error=failure, report=dict(report or {}))
        self._forget("failed", identifier)

    def _update(self, identifier: str, **changes: Any) -> None:
        with self._changed:
            self._jobs[identifier] = replace(self._jobs[identifier], **changes)
            self._changed.notify_all()

    def _forget(self, state: State, identifier: str) -> None:
        """Count a job that has ended, and forget the oldest ones."""
        with self._changed:
            kind = self._jobs[identifier].kind
            ended = [name for name, job in self._jobs.items() if job.finished is not None]
            for name in ended[: max(0, len(ended) - _KEPT)]:
                del self._jobs[name]
        self._ended(kind, state)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
