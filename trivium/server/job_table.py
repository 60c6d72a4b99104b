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
State = Literal["queued", "running", "done", "failed"]

REMEMBERED = 1000
"""Number of finished jobs that are kept."""
_VERSION = 3
"""Earlier tables have more columns, which are left empty, and cancelled jobs, which are deleted. Those of version 1 have
one more kind of job, the replacement of a page: an upload now, which replaces a page of the same title.
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
    state      TEXT NOT NULL DEFAULT 'queued',
    starts     INTEGER NOT NULL DEFAULT 0,
    created    TEXT NOT NULL,
    started    TEXT,
    finished   TEXT,
    report     TEXT NOT NULL DEFAULT '{{}}',
    code       TEXT,
    message    TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS unfinished ON job (number) WHERE finished IS NULL;
UPDATE job SET kind = 'add', uri = NULL WHERE kind = 'replace';
DELETE FROM job WHERE state = 'cancelled';
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
    """

    id: str
    kind: Kind
    uri: str | None = None
    names: tuple[str, ...] = ()
    size: int = 0

    @staticmethod
    def new_id() -> str:
        """Create a unique job id."""
        return uuid.uuid4().hex


@dataclass(frozen=True, slots=True)
class Queue:
    """The number of waiting jobs, the bytes of the uploads of those that wait or run, and how long the first waiting one
    has waited, in seconds of wall-clock time (0 if none waits).
    """

    waiting: int = 0
    bytes: int = 0
    oldest_seconds: float = 0.0


class NoJobsError(Exception):
    """The folder of the jobs cannot be written, so no changes are possible."""


class QueueFullError(Exception):
    """Too many jobs are waiting."""


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
            (waiting,) = connection.execute("SELECT count(*) FROM job WHERE state = 'queued'").fetchone()
            if waiting >= limit:
                raise QueueFullError
            connection.execute(
                "INSERT INTO job (id, kind, uri, names, size, created) VALUES (?, ?, ?, ?, ?, ?)",
                (change.id, change.kind, change.uri, json.dumps(change.names), change.size, _now()),
            )
            job = self._get(change.id)
            assert job is not None
            return job

    def take(self) -> tuple[Change, int] | None:
        """Mark the first waiting job as running and return it with the number of times it has been started; None if no
        job is waiting.
        """
        with self._writing() as connection:
            row = connection.execute(
                "UPDATE job SET state = 'running', starts = starts + 1, started = ? WHERE number ="
                " (SELECT min(number) FROM job WHERE finished IS NULL AND state = 'queued')"
                " RETURNING id, kind, uri, names, size, starts",
                (_now(),),
            ).fetchall()
        if not row:
            return None
        ((identifier, kind, uri, names, size, starts),) = row
        return Change(identifier, kind, uri, tuple(json.loads(names)), size), starts

    def put_back(self, *, counted: bool) -> None:
        """Return the running job to the front of the queue. ``counted`` is whether this start counts as an attempt."""
        with self._writing() as connection:
            connection.execute(
                "UPDATE job SET state = 'queued', starts = starts - ? WHERE finished IS NULL AND state = 'running'",
                (0 if counted else 1,),
            )

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

    def get(self, identifier: str) -> Job | None:
        """Return a job; None if it is unknown or has been deleted."""
        with self._lock:
            return self._get(identifier)

    def recent(self, limit: int) -> list[Job]:
        """Return jobs, newest first."""
        with self._lock:
            rows = self._connection.execute(f"SELECT {_JOB} FROM job ORDER BY number DESC LIMIT ?", (limit,))  # noqa: S608
            return [_job(row) for row in rows]

    def unfinished(self) -> set[str]:
        """Return the ids of jobs that wait or run."""
        with self._lock:
            rows = self._connection.execute("SELECT id FROM job WHERE finished IS NULL")
            return {identifier for (identifier,) in rows}

    def queue(self) -> Queue:
        """Return what waits and runs."""
        with self._lock:
            waiting, size, since = self._connection.execute(
                "SELECT count(*) FILTER (WHERE state = 'queued'), coalesce(sum(size), 0),"
                " min(created) FILTER (WHERE state = 'queued') FROM job WHERE finished IS NULL"
            ).fetchone()
        waited = 0.0 if since is None else (datetime.now(UTC) - datetime.fromisoformat(since)).total_seconds()
        return Queue(waiting, size, max(0.0, waited))

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

    def _get(self, identifier: str) -> Job | None:
        row = self._connection.execute(f"SELECT {_JOB} FROM job WHERE id = ?", (identifier,)).fetchone()  # noqa: S608
        return None if row is None else _job(row)


def _job(row: tuple[Any, ...]) -> Job:
    identifier, kind, state, created, started, finished, report, code, message = row
    error = None if code is None else Failure(code, message)
    return Job(identifier, kind, state, created, started, finished, report=json.loads(report), error=error)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
