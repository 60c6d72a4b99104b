"""The connection of one client. It is closed when the head of a request does not arrive in time, and rejected when there
are too many; what is not HTTP is answered in JSON.

Clients that read nothing of their answers, and one client that takes all connections, are left to a reverse proxy
(docs/security.md).
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from trivium.errors import ConfigurationError
from trivium.server.errors import RETRY_SECONDS, error_body
from trivium.server.settings import ServerSettings

HEAD_SECONDS = 20
"""Seconds a client may take to send the head of its first or next request."""
ACCEPTED_AT_ONCE = 16
"""Connections accepted before any of them is checked. A few times as many may be open beyond the limit."""
_RESERVED = 128
"""File descriptors for the store, uploaded files and connections being rejected, in addition to those below."""
_PER_READER = 6
"""File descriptors per reader of a folder store: a database with its log, at two states while documents change."""
_PER_PROCESS = 4
_LEAST = 16

_log = logging.getLogger(__name__)


class TimedConnection(H11Protocol):
    """Uvicorn's HTTP/1.1 protocol with a limit on the number of connections, and on the time for the head of a request.
    (Uvicorn's own timer begins after an answer, and ends with the first byte of the next request.)
    """

    def __init__(self, *, most: int, **given: Any) -> None:
        """``most`` is the number of connections that may be open."""
        super().__init__(**given)
        self._most = most
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self._most:
            _log.warning("a connection was refused: all %d are in use", self._most)
            self._refuse(
                HTTPStatus.SERVICE_UNAVAILABLE, "busy", "too many connections: try again in a moment"
            )
        else:
            self._set_timer()

    def handle_events(self) -> None:
        super().handle_events()
        self._set_timer()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._set_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_timer()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        # Overrides uvicorn's method. If uvicorn renamed it, its own plain-text answer would be sent.
        error = sys.exc_info()[1]
        hint = error.error_status_hint if isinstance(error, h11.ProtocolError) else HTTPStatus.BAD_REQUEST
        if hint == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE:
            message = "the head of the request is too large"
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "too_large", message)
        else:
            self._refuse(HTTPStatus.BAD_REQUEST, "bad_request", msg)

    def _refuse(self, status: HTTPStatus, code: str, message: str) -> None:
        """Send an error without a request, and close the connection."""
        body = json.dumps(error_body(code, message)).encode()
        head = f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close"
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            head += f"\r\nretry-after: {RETRY_SECONDS}"
        self.transport.write(f"HTTP/1.1 {status.value} {status.phrase}\r\n{head}\r\n\r\n".encode() + body)
        self.transport.close()

    def _set_timer(self) -> None:
        """Let the time run while no request is being answered."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._cancel_timer()
        elif self._timer is None:
            self._timer = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def connection_limit(settings: ServerSettings) -> int:
    """Return how many connections a server may have open: as many as its settings say, or fewer if the process may open
    fewer files; that limit is raised as needed. Raises ConfigurationError when almost no file descriptors are left for
    connections.
    """
    reserved = _RESERVED + _PER_READER * (settings.workers + settings.answer_workers)
    reserved += _PER_PROCESS * settings.processes
    files = _raise_file_limit(settings.connections + reserved)
    most = settings.connections if files is None else min(settings.connections, files - reserved)
    if most < min(_LEAST, settings.connections):
        raise ConfigurationError(
            f"expected to be allowed to open {reserved + _LEAST} files at once or more, got {files}:"
            " raise the limit with  ulimit -n"
        )
    if most < settings.connections:
        _log.warning(
            "%d connections at once instead of %d: the process may open %d files (ulimit -n)",
            most,
            settings.connections,
            files,
        )
    return most


def _raise_file_limit(wanted: int) -> int | None:
    """Return how many files this process may open, after raising its limit towards ``wanted``."""
    if sys.platform == "win32":
        return None
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    if soft == unlimited or soft >= wanted:
        return wanted if soft == unlimited else soft
    raised = wanted if hard == unlimited else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    return raised
