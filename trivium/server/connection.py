"""The connection of one client. It is closed when the head of a request does not arrive in time or the client does not
read its answer, and rejected when there are too many; invalid requests are answered in JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress
from http import HTTPStatus
from typing import Any

import h11
from starlette.types import Scope
from uvicorn.protocols.http.h11_impl import H11Protocol

from trivium.server.connections import Connections
from trivium.server.errors import RETRY_SECONDS, error_body

HEAD_SECONDS = 10.0
"""Seconds a client may take to send the head of its first request."""
KEEP_ALIVE_SECONDS = 20
"""Seconds a client may take to send the head of the next request."""
LINGER_SECONDS = 2.0
"""Seconds during which input is read and discarded after an answer that did not wait for it. If the connection were
closed immediately, the reset could overtake the answer.
"""
LINGER_BYTES = 64 << 20
"""Maximum number of bytes to discard."""
_STATE = "trivium_connection"


class _Transport(asyncio.Transport):
    """The transport as uvicorn sees it. Closing it is left to the connection."""

    def __init__(self, connection: TimedConnection, transport: asyncio.Transport) -> None:
        super().__init__()
        self._connection = connection
        self._transport = transport

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._transport.get_extra_info(name, default)

    def is_closing(self) -> bool:
        return self._connection.closing

    def close(self) -> None:
        self._connection.close()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if not self._connection.closing:
            self._transport.write(data)

    def pause_reading(self) -> None:
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        self._transport.resume_reading()


class TimedConnection(H11Protocol):
    """Uvicorn's HTTP/1.1 protocol with additional limits: on the time for the head of a request and for reading an
    answer, and on the number of connections.

    It relies only on the callbacks of :class:`asyncio.Protocol`. It learns from the application that a head is
    complete: every request finds its connection in the state of its ASGI scope (:func:`connection_of`) and reports when
    it begins and ends.
    """

    def __init__(self, *, app_state: dict[str, Any], connections: Connections, **given: Any) -> None:
        super().__init__(app_state={**app_state, _STATE: self}, **given)
        self._table = connections
        self._client: asyncio.Transport
        self._requests = 0  # with pipelining, a request may begin before the previous one has ended
        self._timer: asyncio.TimerHandle | None = None
        self._lingering = False
        self._thrown_away = 0

    # -- called by the table of connections ------------------------------------------------------------------------

    @property
    def address(self) -> str:
        """The client's address; empty if it has none."""
        return "" if self.client is None else self.client[0]

    def drop(self) -> None:
        """Close the connection immediately, discarding unsent data."""
        self._client.abort()

    def unsent(self) -> int:
        """Return the number of bytes of answers that the client has not read."""
        return self._client.get_write_buffer_size()

    # -- called by asyncio -----------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._client = transport
        super().connection_made(_Transport(self, transport))
        if self._table.admit(self):
            self._wait_for_head(HEAD_SECONDS)
        elif self._table.may_be_told(self):
            self._tell(HTTPStatus.SERVICE_UNAVAILABLE, "busy", "too many connections: try again in a moment")
        else:
            self.drop()

    def data_received(self, data: bytes) -> None:
        if not self._lingering:
            super().data_received(data)
            return
        self._thrown_away += len(data)
        if self._thrown_away > LINGER_BYTES:
            self.drop()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_timer()
        self._table.removed(self)
        super().connection_lost(exc)

    # -- called by uvicorn and the application -----------------------------------------------------------------------

    @property
    def closing(self) -> bool:
        """Whether the connection neither sends nor reads anymore."""
        return self._lingering or self._client.is_closing()

    def close(self) -> None:
        """Close the connection once pending data is sent. If the client is still sending a request, it is read to its
        end, within limits.
        """
        if self.closing:
            return
        if self.conn.their_state in (h11.SEND_BODY, h11.ERROR):
            self._linger()
        else:
            self._client.close()

    def send_400_response(self, msg: str) -> None:
        # Overrides uvicorn's method. If uvicorn renamed it, its own plain-text answer would be sent.
        error = sys.exc_info()[1]
        hint = error.error_status_hint if isinstance(error, h11.ProtocolError) else HTTPStatus.BAD_REQUEST
        if hint == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE:
            self._tell(
                HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
                "too_large",
                "the head of the request is too large",
            )
        else:
            self._tell(HTTPStatus.BAD_REQUEST, "bad_request", msg)

    def request_began(self) -> None:
        """Called when the head of a request has arrived."""
        self._requests += 1
        self._table.busy(self)
        self._cancel_timer()

    def request_ended(self) -> None:
        """Called when a request has been answered or abandoned."""
        self._requests -= 1
        if self._requests == 0 and not self.closing:
            self._table.idle(self)
            self._wait_for_head(KEEP_ALIVE_SECONDS)

    def _tell(self, status: HTTPStatus, code: str, message: str) -> None:
        """Send an error without a request, and close the connection."""
        body = json.dumps(error_body(code, message)).encode()
        head = f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close"
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            head += f"\r\nretry-after: {RETRY_SECONDS}"
        self._client.write(f"HTTP/1.1 {status.value} {status.phrase}\r\n{head}\r\n\r\n".encode() + body)
        self._linger()

    def _linger(self) -> None:
        self._lingering = True
        self._cancel_timer()
        with suppress(OSError):  # the client is gone
            self._client.write_eof()
        self._client.resume_reading()
        self._timer = self.loop.call_later(LINGER_SECONDS, self.drop)

    def _wait_for_head(self, seconds: float) -> None:
        self._cancel_timer()
        self._timer = self.loop.call_later(seconds, self._client.close)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def connection_of(scope: Scope) -> TimedConnection | None:
    """Return the connection of a request; None if another server runs the application, as in tests."""
    connection = scope.get("state", {}).get(_STATE)
    return connection if isinstance(connection, TimedConnection) else None
