"""The connection of one client: closed where the head of a request does not come in time or the client takes nothing of
its answer, refused where there are too many, told in JSON what is no request."""

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
"""How long a client may take to send the head of its first request."""
KEEP_ALIVE_SECONDS = 20
"""How long a client may take to send the head of the next one."""
LINGER_SECONDS = 2.0
"""How long what a client still sends is read and thrown away after an answer that did not wait for it: were the
connection closed at once, its end would overtake the answer."""
LINGER_BYTES = 64 << 20
"""How much of it."""
_STATE = "trivium_connection"


class _Transport(asyncio.Transport):
    """The transport as uvicorn sees it; closing it is left to the connection."""

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
    """HTTP/1.1 as uvicorn speaks it, with limits that uvicorn has not: of the time for the head of a request and for
    taking an answer, and of the number of connections.

    It relies on the callbacks of :class:`asyncio.Protocol` alone. That a head is complete it learns from the app: every
    request finds its connection in the state of its ASGI scope (:func:`connection_of`), and says when it begins and ends.
    """

    def __init__(self, *, app_state: dict[str, Any], connections: Connections, **given: Any) -> None:
        super().__init__(app_state={**app_state, _STATE: self}, **given)
        self._table = connections
        self._client: asyncio.Transport
        self._requests = 0  # the next one of a pipeline may begin before the one before it has ended
        self._timer: asyncio.TimerHandle | None = None
        self._lingering = False
        self._thrown_away = 0

    # -- what the table of connections asks ---------------------------------------------------------------------

    @property
    def address(self) -> str:
        """The client's; empty where it has none."""
        return "" if self.client is None else self.client[0]

    def drop(self) -> None:
        """Close it at once, whatever is still to be sent."""
        self._client.abort()

    def unsent(self) -> int:
        """Bytes of answers that the client has not taken."""
        return self._client.get_write_buffer_size()

    # -- what asyncio tells -------------------------------------------------------------------------------------

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

    # -- what uvicorn and the app say ---------------------------------------------------------------------------

    @property
    def closing(self) -> bool:
        """Whether nothing more is sent or listened to."""
        return self._lingering or self._client.is_closing()

    def close(self) -> None:
        """Close the connection when what is to be sent has been sent. Where the client is still sending a request, that
        is read to its end, within limits."""
        if self.closing:
            return
        if self.conn.their_state in (h11.SEND_BODY, h11.ERROR):
            self._linger()
        else:
            self._client.close()

    def send_400_response(self, msg: str) -> None:
        # Were uvicorn to call this by another name, its own answer would be sent, which is plain text.
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
        """The head of a request has arrived."""
        self._requests += 1
        self._table.busy(self)
        self._cancel_timer()

    def request_ended(self) -> None:
        """A request has been answered, or given up."""
        self._requests -= 1
        if self._requests == 0 and not self.closing:
            self._table.idle(self)
            self._wait_for_head(KEEP_ALIVE_SECONDS)

    def _tell(self, status: HTTPStatus, code: str, message: str) -> None:
        """Send an error that is no answer to a request, and close the connection."""
        body = json.dumps(error_body(code, message)).encode()
        head = f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close"
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            head += f"\r\nretry-after: {RETRY_SECONDS}"
        self._client.write(f"HTTP/1.1 {status.value} {status.phrase}\r\n{head}\r\n\r\n".encode() + body)
        self._linger()

    def _linger(self) -> None:
        self._lingering = True
        self._cancel_timer()
        with suppress(OSError):  # the client has gone
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
    """The connection of a request; None where another server runs the app, as in tests."""
    connection = scope.get("state", {}).get(_STATE)
    return connection if isinstance(connection, TimedConnection) else None
