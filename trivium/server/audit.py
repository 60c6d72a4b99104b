"""The audit log: one line for each change of the documents that was accepted, rejected because of its key, or has
ended.

Lines contain names of keys, network addresses, addresses of documents and counts, but never keys or contents of
documents.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trivium.errors import ConfigurationError
from trivium.server.job_table import Job
from trivium.server.logs import FIELDS, JsonFormatter
from trivium.server.request_checks import Caller, caller_of, changes_documents

ANONYMOUS = "anonymous"
"""Name of clients that need no key."""
_JOBS = "/jobs/"

_LOGGER = "trivium.audit"

_log = logging.getLogger(__name__)


class Audit:
    """Writes changes and their authors to the logger ``trivium.audit`` and to a separate file. Thread-safe."""

    def __init__(self, file: logging.Handler | None = None) -> None:
        """``file`` is the result of :func:`open_audit_file`."""
        self._log = logging.Logger(_LOGGER, logging.INFO)
        self._log.parent = logging.getLogger(_LOGGER)
        if file is not None:
            self._log.addHandler(file)

    def accepted(self, caller: Caller, fields: Mapping[str, Any], job: str | None) -> None:
        """Log that a change was accepted. ``job`` is the job that makes it, None if it has been made already."""
        self._write("accepted", caller, {**fields, "job": job})

    def refused(self, caller: Caller, fields: Mapping[str, Any]) -> None:
        """Log that a change was rejected because the key is read-only."""
        self._write("refused", caller, fields)

    def ended(self, job: Job, asked_by: str | None) -> None:
        """Log the outcome of a change."""
        self._log.info("change", extra={FIELDS: _ended(job, asked_by or ANONYMOUS)})

    def close(self) -> None:
        """Close the file."""
        for handler in self._log.handlers:
            handler.close()

    def _write(self, event: str, caller: Caller, fields: Mapping[str, Any]) -> None:
        told = {"event": event, "key": caller.key or ANONYMOUS, "client": caller.address, **fields}
        self._log.info("change", extra={FIELDS: told})


class AuditLog:
    """Middleware that reports requests for changes to an :class:`Audit`."""

    def __init__(self, app: ASGIApp, audit: Audit) -> None:
        self._app = app
        self._audit = audit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not changes_documents(scope):
            await self._app(scope, receive, send)
            return

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._note(scope, message["status"], Headers(raw=message.get("headers", [])))
            await send(message)

        await self._app(scope, receive, send_on)

    def _note(self, scope: Scope, status: int, headers: Headers) -> None:
        caller = caller_of(scope)
        if caller is None:
            return
        route = getattr(scope.get("route"), "path", None)
        fields = {"method": scope["method"], "path": scope["path"], "route": route}
        if status < HTTPStatus.MULTIPLE_CHOICES:
            location = headers.get("location", "")
            job = location.removeprefix(_JOBS) if location.startswith(_JOBS) else None
            self._audit.accepted(caller, fields, job)
        elif status == HTTPStatus.FORBIDDEN and caller.key is not None:
            self._audit.refused(caller, fields)


def open_audit_file(file: Path) -> logging.Handler:
    """Open the audit file for appending. Only its owner may read it, and it is reopened after log rotation. Raises
    ConfigurationError when it cannot be written.
    """
    try:
        file.touch(mode=0o600)
        handler = _AuditFile(file, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(
            f"expected a file that the audit log can be appended to, got {file}: {error.strerror or error}"
        ) from error
    handler.setFormatter(JsonFormatter())
    return handler


class _AuditFile(WatchedFileHandler):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802, ARG002 - of the base class
        # The line is also in the server's log, so the request need not fail.
        _log.error("the audit log cannot be written", exc_info=True)


def _ended(job: Job, name: str) -> dict[str, Any]:
    counts = {
        key: value if isinstance(value, int) else len(value)
        for key, value in job.report.items()
        if isinstance(value, int | list | tuple)
    }
    told = {"event": job.state, "key": name, "job": job.id, "kind": job.kind, "documents": counts}
    return told if job.error is None else {**told, "error": job.error.code}
