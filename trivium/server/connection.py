"""The connection of one client: closed where the head of a request does not come in time, told in JSON what is no
request."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from starlette.types import Scope
from uvicorn.protocols.http.h11_impl import H11Protocol

from trivium.server.errors import error_body

HEAD_SECONDS = 10.0
"""How long a client may take to send the head of its first request."""
KEEP_ALIVE_SECONDS = 20
"""How long a client may take to send the head of the next one."""
_STATE = "trivium_connection"


class TimedConnection(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, with a time limit for the head of a request, which uvicorn has not.

    It relies on the callbacks of :class:`asyncio.Protocol` alone. That a head is complete it learns from the app: every
    request finds its connection in the state of its ASGI scope (:func:`connection_of`), and says when it begins and ends.
    """

    def __init__(self, *, app_state: dict[str, Any], **given: Any) -> None:
        super().__init__(app_state={**app_state, _STATE: self}, **given)
        self._client: asyncio.Transport
        self._requests = 0  # the next one of a pipeline may begin before the one before it has ended
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._client = transport
        super().connection_made(transport)
        self._wait_for_head(HEAD_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_timer()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        # Were uvicorn to call this by another name, its own answer would be sent, which is plain text.
        body = json.dumps(error_body("bad_request", msg)).encode()
        head = f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close"
        self._client.write(f"HTTP/1.1 400 Bad Request\r\n{head}\r\n\r\n".encode() + body)
        self._client.close()

    def request_began(self) -> None:
        """The head of a request has arrived."""
        self._requests += 1
        self._cancel_timer()

    def request_ended(self) -> None:
        """A request has been answered, or given up."""
        self._requests -= 1
        if self._requests == 0 and not self._client.is_closing():
            self._wait_for_head(KEEP_ALIVE_SECONDS)

    def _wait_for_head(self, seconds: float) -> None:
        self._cancel_timer()
        self._head_timer = asyncio.get_running_loop().call_later(seconds, self._client.close)

    def _cancel_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


def connection_of(scope: Scope) -> TimedConnection | None:
    """The connection of a request; None where another server runs the app, as in tests."""
    connection = scope.get("state", {}).get(_STATE)
    return connection if isinstance(connection, TimedConnection) else None
