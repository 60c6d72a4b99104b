"""The table of jobs, in a separate SQLite file."""

from __future__ import annotations

import json
import sqlite3
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

Kind = Literal["add", "delete"]
State = Literal["queued", "running", "done", "failed", "cancelled"]

REMEMBERED = 1000
"""Number of finished jobs that are kept."""
_VERSION = 2
"""Tables of version 1 have two more columns, which are left empty, and one more kind of job, the replacement of a page:
an upload now, which replaces a page of the same title.
"""

_SCHEMA = f"""
PRAGMA journal_mode = WAL;
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS job (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    kind       TEXT NOT NULL,
    uri        TEXT,
    names      TEXT NOT NULL,
    size       INTEGER NOT NULL,
    asked_by   TEXT,
    state      TEXT NOT NULL DEFAULT 'queued',
    starts     INTEGER NOT NULL DEFAULT 0,
    cancelling INTEGER NOT NULL DEFAULT 0,
    created    TEXT NOT NULL,
    started    TEXT,
    finished   TEXT,
    report     TEXT NOT NULL DEFAULT '{{}}',
    code       TEXT,
    message    TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS unfinished ON job (number) WHERE finished IS NULL;
UPDATE job SET kind = 'add', uri = NULL WHERE kind = 'replace';
PRAGMA user_version = {_VERSION};
COMMIT;
"""  # noqa: S608 - a number
_JOB = "id, kind, state, created, started, finished, report, code, message"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a job failed."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Job:
    """The state of a job at one moment. ``stage``, ``done`` and ``total`` are its progress, ``report`` its result.
    Times are ISO 8601 in UTC.
    """

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


@dataclass(frozen=True, slots=True)
class Change:
    """The change that a job makes.

    - ``uri``: the page to remove.
    - ``names``: names of the uploaded files, in order.
    - ``size``: their total size in bytes.
    - ``asked_by``: name of the API key of the requester.
    """

    id: str
    kind: Kind
    uri: str | None = None
    names: tuple[str, ...] = ()
    size: int = 0
    asked_by: str | None = None

    @staticmethod
    def new_id() -> str:
        """Create a unique job id."""
        return uuid.uuid4().hex


class NoJobsError(Exception):
    """The folder of the jobs cannot be written, so no changes are possible."""


class QueueFullError(Exception):
    """Too many jobs are waiting."""


class JobEndedError(Exception):
    """The job has ended and cannot be cancelled."""


class JobTable:
    """All jobs in the order in which they were accepted. Changes are durable when a method returns. Thread-safe.

    Every method raises sqlite3.Error when the file cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        """Open the table, creating it when missing."""
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            if version > _VERSION:
                raise sqlite3.DatabaseError(f"it is of version {version}, this program reads {_VERSION}")
            if version < _VERSION:
                self._connection.executescript(_SCHEMA)
            # Makes commits durable; in WAL mode that is one fsync each.
            self._connection.execute("PRAGMA synchronous = FULL")
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def add(self, change: Change, limit: int) -> Job:
        """Queue a change and return its job. Raises QueueFullError when ``limit`` jobs are waiting."""
        with self._writing() as connection:
            if self._waiting() >= limit:
                raise QueueFullError
            connection.execute(
                "INSERT INTO job (id, kind, uri, names, size, asked_by, created) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    change.id,
                    change.kind,
                    change.uri,
                    json.dumps(change.names),
                    change.size,
                    change.asked_by,
                    _now(),
                ),
            )
            return self._known(change.id)

    def take(self) -> tuple[Change, int] | None:
        """Mark the first waiting job as running and return it with the number of times it has been started; None if no
        job is waiting.
        """
        with self._writing() as connection:
            row = connection.execute(
                "UPDATE job SET state = 'running', starts = starts + 1, started = ? WHERE number ="
                " (SELECT min(number) FROM job WHERE finished IS NULL AND state = 'queued')"
                " RETURNING id, kind, uri, names, size, asked_by, starts",
                (_now(),),
            ).fetchall()
        if not row:
            return None
        ((identifier, kind, uri, names, size, asked_by, starts),) = row
        return Change(identifier, kind, uri, tuple(json.loads(names)), size, asked_by), starts

    def put_back(self, *, counted: bool) -> list[str]:
        """Return the running job to the front of the queue. If its cancellation was requested, it is cancelled instead
        and its id is returned. ``counted`` is whether this start counts as an attempt.
        """
        with self._writing() as connection:
            cancelled = connection.execute(
                "UPDATE job SET state = 'cancelled', finished = ?"
                " WHERE finished IS NULL AND state = 'running' AND cancelling RETURNING id",
                (_now(),),
            ).fetchall()
            connection.execute(
                "UPDATE job SET state = 'queued', starts = starts - ? WHERE finished IS NULL AND state = 'running'",
                (0 if counted else 1,),
            )
        return [identifier for (identifier,) in cancelled]

    def end(
        self, identifier: str, state: State, report: Mapping[str, Any], failure: Failure | None = None
    ) -> None:
        """Mark a job as ended, and delete the oldest ended jobs."""
        with self._writing() as connection:
            connection.execute(
                "UPDATE job SET state = ?, finished = ?, report = ?, code = ?, message = ? WHERE id = ?",
                (
                    state,
                    _now(),
                    json.dumps(report),
                    None if failure is None else failure.code,
                    None if failure is None else failure.message.encode("utf-8", "replace").decode(),
                    identifier,
                ),
            )
            connection.execute(
                "DELETE FROM job WHERE number IN (SELECT number FROM job WHERE finished IS NOT NULL"
                " ORDER BY number DESC LIMIT -1 OFFSET ?)",
                (REMEMBERED,),
            )

    def cancel(self, identifier: str) -> Job | None:
        """Cancel a job and return it. A waiting job is cancelled immediately, a running one is asked to stop. Returns
        None for an unknown job. Raises JobEndedError.
        """
        with self._writing() as connection:
            job = self._get(identifier)
            if job is None:
                return None
            if job.finished is not None:
                raise JobEndedError
            if job.state == "queued":
                connection.execute(
                    "UPDATE job SET state = 'cancelled', finished = ? WHERE id = ?", (_now(), identifier)
                )
            else:
                connection.execute("UPDATE job SET cancelling = 1 WHERE id = ?", (identifier,))
            return self._known(identifier)

    def is_cancelling(self, identifier: str) -> bool:
        """Return whether the cancellation of a running job was requested."""
        with self._lock:
            row = self._connection.execute("SELECT cancelling FROM job WHERE id = ?", (identifier,))
            return bool(row.fetchone() == (1,))

    def get(self, identifier: str) -> Job | None:
        """Return a job; None if it is unknown or has been deleted."""
        with self._lock:
            return self._get(identifier)

    def recent(self, limit: int, before: str | None = None, state: State | None = None) -> list[Job]:
        """Return jobs, newest first; only those accepted ``before`` another job and only those in ``state`` if given."""
        with self._lock:
            rows = self._connection.execute(
                f"SELECT {_JOB} FROM job WHERE (?1 IS NULL OR number < (SELECT number FROM job WHERE id = ?1))"  # noqa: S608
                " AND (?2 IS NULL OR state = ?2) ORDER BY number DESC LIMIT ?3",
                (before, state, limit),
            )
            return [_job(row) for row in rows]

    def unfinished(self) -> set[str]:
        """Return the ids of jobs that wait or run."""
        with self._lock:
            rows = self._connection.execute("SELECT id FROM job WHERE finished IS NULL")
            return {identifier for (identifier,) in rows}

    def waiting(self) -> int:
        """Return the number of waiting jobs."""
        with self._lock:
            return self._waiting()

    def oldest_seconds(self) -> float:
        """Return how long the first waiting job has waited, in seconds of wall-clock time; 0 if no job is waiting."""
        with self._lock:
            (created,) = self._connection.execute(
                "SELECT min(created) FROM job WHERE finished IS NULL AND state = 'queued'"
            ).fetchone()
        if created is None:
            return 0.0
        return max(0.0, (datetime.now(UTC) - datetime.fromisoformat(created)).total_seconds())

    def size(self) -> int:
        """Return the total size in bytes of the uploads of jobs that wait or run."""
        with self._lock:
            (size,) = self._connection.execute(
                "SELECT coalesce(sum(size), 0) FROM job WHERE finished IS NULL"
            ).fetchone()
        return int(size)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def _waiting(self) -> int:
        (count,) = self._connection.execute(
            "SELECT count(*) FROM job WHERE finished IS NULL AND state = 'queued'"
        ).fetchone()
        return int(count)

    def _get(self, identifier: str) -> Job | None:
        row = self._connection.execute(f"SELECT {_JOB} FROM job WHERE id = ?", (identifier,)).fetchone()  # noqa: S608
        return None if row is None else _job(row)

    def _known(self, identifier: str) -> Job:
        job = self._get(identifier)
        assert job is not None
        return job


def _job(row: tuple[Any, ...]) -> Job:
    identifier, kind, state, created, started, finished, report, code, message = row
    error = None if code is None else Failure(code, message)
    return Job(identifier, kind, state, created, started, finished, report=json.loads(report), error=error)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
