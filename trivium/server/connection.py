"""One client's connection."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from trivium.server.errors import error_body

HEAD_SECONDS = 10.0
"""How long a client may take to send the head of a request."""


class PatientProtocol(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, for clients that dawdle or do not speak it: who has not sent the head of a request
    in time is hung up on, and what is no request is answered in JSON."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._lose_patience_no_more()
        elif self._patience is None:
            self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._lose_patience_no_more()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        body = json.dumps(error_body("bad_request", msg)).encode()
        headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
        for event in (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _wait_for_head(self) -> None:
        self._patience = self.loop.call_later(HEAD_SECONDS, self.timeout_keep_alive_handler)

    def _lose_patience_no_more(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
