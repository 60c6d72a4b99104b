"""Middleware around every request: request id, access log, metrics, and security headers for browsers."""

from __future__ import annotations

import logging
import re
import time
from random import getrandbits

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trivium.server.errors import CLIENT_GONE, ApiError
from trivium.server.guard import caller_of
from trivium.server.logs import FIELDS, request_id
from trivium.server.metrics import Metrics

_VALID_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})

_log = logging.getLogger(__name__)

HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    # Nothing from outside, nothing inline, and text is never interpreted as markup. Pictures are blobs when the page
    # fetched them with a key, which image elements cannot send.
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
}


class AccessLog:
    """The outermost middleware: answers, logs and counts errors raised inside."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        identifier = _identifier(Headers(scope=scope).get("x-request-id"))
        request_id.set(identifier)
        status = 0
        sent = 0
        started = time.perf_counter()

        async def send_on(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["x-request-id"] = identifier
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            else:
                sent += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, send_on)
        except Exception:
            _log.exception("a request failed")
            if status == 0:
                mistake = ApiError(
                    500, "internal", f"internal error; the server's log has it under {identifier}"
                )
                await mistake.response(scope["path"])(scope, receive, send_on)
        finally:
            self._note(scope, status or CLIENT_GONE, time.perf_counter() - started, sent)

    def _note(self, scope: Scope, status: int, seconds: float, sent: int) -> None:
        # An invented method or path must not create a new time series.
        method = scope["method"] if scope["method"] in _METHODS else "other"
        route = getattr(scope.get("route"), "path", None) or scope.get("root_path") or "unmatched"
        self._metrics.answered(method, route, status, seconds)
        client = scope.get("client")
        caller = caller_of(scope)
        fields = {
            "method": method,
            "path": scope["path"],
            "route": route,
            "status": status,
            "seconds": round(seconds, 6),
            "bytes": sent,
            "client": None if client is None else client[0],
            "key": None if caller is None else caller.key,
        }
        _log.info("request", extra={FIELDS: fields})


def _identifier(given: str | None) -> str:
    if given is not None and _VALID_ID.fullmatch(given):
        return given
    # Not uuid4, which asks the system for random bytes: another thread takes over meanwhile, for half a millisecond.
    return f"{getrandbits(128):032x}"
