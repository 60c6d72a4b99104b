"""The audit log: one line of the logger ``trivium.audit`` for each change of the documents that was accepted, rejected
because of its key, or has ended.

Lines contain names of keys, network addresses, addresses of documents and counts, but never keys or contents of
documents.
"""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trivium.server.job_table import Job
from trivium.server.logs import FIELDS
from trivium.server.request_checks import caller_of, changes_documents

ANONYMOUS = "anonymous"
"""Name of clients that need no key."""
_JOBS = "/jobs/"

_log = logging.getLogger("trivium.audit")


def log_ended(job: Job, asked_by: str | None) -> None:
    """Log the outcome of a change."""
    counts = {
        key: value if isinstance(value, int) else len(value)
        for key, value in job.report.items()
        if isinstance(value, int | list | tuple)
    }
    told: dict[str, Any] = {"event": job.state, "key": asked_by or ANONYMOUS, "job": job.id, "kind": job.kind}
    told["documents"] = counts
    if job.error is not None:
        told["error"] = job.error.code
    _log.info("change", extra={FIELDS: told})


class AuditLog:
    """Middleware that logs requests for changes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

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
        fields = {
            "key": caller.key or ANONYMOUS,
            "client": caller.address,
            "method": scope["method"],
            "path": scope["path"],
            "route": route,
        }
        if status < HTTPStatus.MULTIPLE_CHOICES:
            location = headers.get("location", "")
            job = location.removeprefix(_JOBS) if location.startswith(_JOBS) else None
            _log.info("change", extra={FIELDS: {"event": "accepted", **fields, "job": job}})
        elif status == HTTPStatus.FORBIDDEN and caller.key is not None:
            _log.info("change", extra={FIELDS: {"event": "refused", **fields}})
