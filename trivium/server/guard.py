"""Checks of every request before it reaches a route: HTTP syntax, host, origin, key, scope, rate, disk space and size."""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trivium.server.errors import ApiError
from trivium.server.keys import Key, KeyRing
from trivium.server.settings import ServerSettings

LOOPBACK = ("localhost", "127.0.0.1", "::1")
OPEN_PATHS = ("/", "/docs", "/health", "/ready")
"""Paths that need no key: the page (which asks for one) and the health checks."""
OPEN_FOLDER = "/page/"
UPLOADS = "/documents"
"""Requests to this path and below may be as large as documents."""
_UPLOAD_TIMES = 10
"""Factor by which the time limit is extended for an upload."""
_READING = ("GET", "HEAD", "OPTIONS")
AUDIO = "/transcribe"
"""Requests to this path may be as large as spoken questions."""
_QUESTIONS = ("/search", "/ask", "/explain", "/v1/chat/completions", "/v1/embeddings", AUDIO, "/speak")
"""POST requests that change nothing. All other requests that are not reads count as changes, so a new route needs a
write key unless it is listed here.
"""
_CALLER = "trivium_caller"
WRONG_KEYS = 30
"""Wrong keys an address may try per minute before all its keys are rejected for a while."""
_MAX_CLIENTS = 10_000
"""Maximum number of clients whose requests are counted. The one inactive for longest is forgotten."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request: the name of the key (None if none is required) and the address."""

    key: str | None
    address: str


class Guard:
    """Middleware that rejects, in this order: ambiguous HTTP, a foreign host name, a foreign origin, a missing or wrong
    key, a change with a read-only key, too many requests, a change without disk space, too large a body.
    """

    def __init__(
        self,
        app: ASGIApp,
        settings: ServerSettings,
        keys: KeyRing,
        check_space: Callable[[], None] = lambda: None,
    ) -> None:
        """``check_space`` raises ApiError when there is too little disk space to add documents."""
        self._app = app
        self._settings = settings
        self._keys = keys
        self._check_space = check_space
        named = settings.on_loopback or settings.hosts
        self._hosts = frozenset((*LOOPBACK, *settings.hosts)) if named else None
        self._rates = None if settings.rate_limit is None else RateLimit(settings.rate_limit)
        self._wrong_keys = RateLimit(WRONG_KEYS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        limit = self._limit(scope["path"])
        try:
            _check_form(scope, headers)
            self._check_host(headers)
            self._check_origin(scope, headers)
            client = self._check_key(scope, headers)
            self._check_rate(scope, client)
            if scope["method"] == "POST" and _uploads(scope["path"]):
                self._check_space()
            _check_length(headers, limit)
        except ApiError as error:
            await _refusal(error, scope["path"], headers)(scope, receive, send)
            return
        read = 0
        complete = False
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._settings.timeout * (_UPLOAD_TIMES if _uploads(scope["path"]) else 1)

        async def receive_some() -> Message:
            nonlocal read, complete
            if complete:
                return await receive()  # only the disconnect message is still to come
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                raise ApiError(
                    408, "too_slow", "the request did not arrive in time", {"Connection": "close"}
                ) from None
            if message["type"] == "http.request":
                complete = not message.get("more_body", False)
                read += len(message.get("body", b""))
                if read > limit:
                    raise _too_large(limit)
            return message

        await self._app(scope, receive_some, send)

    def _limit(self, path: str) -> int:
        if path == AUDIO:
            return self._settings.audio_bytes
        return self._settings.upload_bytes if _uploads(path) else self._settings.request_bytes

    def _check_host(self, headers: Headers) -> None:
        """Accept only the loopback names and those of the settings, on loopback or where there are such: a website may
        point its name here (DNS rebinding)."""
        if self._hosts is None:
            return
        host = _host_name(headers.get("host", ""))
        if host not in self._hosts:
            raise ApiError(
                403, "forbidden", "this server is not known under that host name (--allow-host adds one)"
            )

    def _check_origin(self, scope: Scope, headers: Headers) -> None:
        """Reject foreign origins. Browsers send some requests with side effects from any page, with an Origin header."""
        origin = headers.get("origin")
        if origin is None or scope["method"] in _READING or origin in self._settings.cors_origins:
            return
        try:
            page = urlsplit(origin).netloc
        except ValueError:  # not a URL at all, such as http://[
            page = ""
        if not page or page != headers.get("host"):
            raise ApiError(
                403, "forbidden", "pages of that origin may not use this server (--cors-origin lets them)"
            )

    def _check_key(self, scope: Scope, headers: Headers) -> str:
        """Return the client for the rate limit: the name of its key, or its address.

        Raises ApiError for a missing or unknown key, for a key without the required scope, and for any key from an
        address that has tried too many wrong ones; otherwise the answers would reveal the right key.
        """
        found = scope.get("client")
        address = "" if found is None else str(found[0])
        client = f"address {address}"
        path, method = scope["path"], scope["method"]
        open_to_all = path in OPEN_PATHS or path.startswith(OPEN_FOLDER) or method == "OPTIONS"
        if self._keys.empty or open_to_all:
            _set_caller(scope, Caller(None, address))
            return client
        given = headers.get("x-api-key")
        if given is None:
            scheme, _, token = headers.get("authorization", "").partition(" ")
            given = token.strip() if scheme.lower() == "bearer" else ""
        wait = self._wrong_keys.wait(client, take=False)
        if wait > 0:
            raise _too_many("too many wrong API keys from this address", wait)
        key = self._keys.find(given)
        if key is None:
            if given:
                self._wrong_keys.wait(client)
            what = (
                "an API key is needed: send it as X-API-Key"
                if not given
                else "that API key is not known here"
            )
            raise ApiError(401, "unauthorized", what, {"WWW-Authenticate": "Bearer"})
        _set_caller(scope, Caller(key.name, address))
        _check_scope(scope, key)
        return f"key {key.name}"

    def _check_rate(self, scope: Scope, client: str) -> None:
        if self._rates is None or scope["path"] in OPEN_PATHS or scope["path"].startswith(OPEN_FOLDER):
            return
        wait = self._rates.wait(client)
        if wait > 0:
            raise _too_many(f"more than {self._settings.rate_limit} requests a minute", wait)


class RateLimit:
    """Rate limit per client, as a token bucket that holds at most ``per_minute`` tokens and is refilled at that rate.
    Not thread-safe.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity = float(per_minute)
        self._per_second = per_minute / 60
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str, *, take: bool = True) -> float:
        """Return 0 if a token is available (and take it if ``take``), else the seconds until one is."""
        now = self._clock()
        tokens, since = self._buckets.pop(client, (self._capacity, now))
        tokens = min(self._capacity, tokens + (now - since) * self._per_second)
        allowed = tokens >= 1
        self._buckets[client] = (tokens - 1 if allowed and take else tokens, now)
        if len(self._buckets) > _MAX_CLIENTS:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - tokens) / self._per_second


def changes_documents(scope: Scope) -> bool:
    """Whether a request is a change rather than a question."""
    return scope["method"] not in _READING and scope["path"] not in _QUESTIONS


def caller_of(scope: Scope) -> Caller | None:
    """Return who sent a request; None if that is unknown because the request was rejected."""
    caller = scope.get("state", {}).get(_CALLER)
    return caller if isinstance(caller, Caller) else None


def _set_caller(scope: Scope, caller: Caller) -> None:
    scope.setdefault("state", {})[_CALLER] = caller


def _check_scope(scope: Scope, key: Key) -> None:
    if key.scope != "write" and changes_documents(scope):
        raise ApiError(
            403,
            "forbidden",
            f"the API key {key.name!r} may only read: a change needs one with the scope write",
        )


def _check_form(scope: Scope, headers: Headers) -> None:
    """Reject requests that another server on the way may have interpreted differently, or that are meant for a proxy."""
    close = {"Connection": "close"}
    if "content-length" in headers and "transfer-encoding" in headers:
        raise ApiError(
            400, "bad_request", "expected either Content-Length or Transfer-Encoding, got both", close
        )
    if not scope["path"].startswith("/"):
        raise ApiError(
            400, "bad_request", "expected a path such as /search, got another form of address", close
        )


def _refusal(error: ApiError, path: str, headers: Headers) -> JSONResponse:
    """Respond before the body has arrived, without waiting for it."""
    if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
        error.headers = {**(error.headers or {}), "Connection": "close"}
    return error.response(path)


def _uploads(path: str) -> bool:
    return path == UPLOADS or path.startswith(f"{UPLOADS}/")


def _check_length(headers: Headers, limit: int) -> None:
    length = headers.get("content-length")
    if length is not None and length.isdecimal() and int(length[:20]) > limit:
        raise _too_large(limit)


def _too_many(message: str, wait: float) -> ApiError:
    return ApiError(429, "too_many_requests", message, {"Retry-After": str(max(1, math.ceil(wait)))})


def _too_large(limit: int) -> ApiError:
    return ApiError(
        413, "too_large", f"a request here may have {limit:,} bytes at most", {"Connection": "close"}
    )


def _host_name(host: str) -> str:
    """Return the name in a Host header, without its port.

    >>> _host_name("localhost:8000"), _host_name("[::1]:8000")
    ('localhost', '::1')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()
