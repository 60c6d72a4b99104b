"""Shared parts of all model endpoints, independent of their protocol: they send JSON and receive JSON or a stream of
it.

Each protocol is a subclass based on its provider's package, with one client and connection pool for the lifetime of the
endpoint. In addition to the packages, this class limits the size and duration of an answer and the delays of retries,
limits the rate of attempts, supports cancellation at any time (:mod:`trivium.common.stopping`), and raises one kind of
error, whose messages never contain the key even if a server repeats it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
import traceback
import weakref
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import httpx2
from pydantic import SecretStr
from tenacity import Retrying, before_sleep_log, retry_if_exception_type, stop_after_attempt

from trivium.common import stopping
from trivium.common.retries import retry_after, wait_between
from trivium.endpoints import loop
from trivium.endpoints.bounded import bound
from trivium.endpoints.failures import EndpointError, PassingEndpointError
from trivium.errors import ConfigurationError

RETRIES = 6
"""Default number of retries."""
LONGEST_WAIT = 60.0
"""Maximum seconds between two attempts, whatever the endpoint requests."""

_RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_MESSAGE_CHARACTERS = 300

_log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True)
class BaseEndpoint(ABC):
    """Address and time limits of an endpoint. Thread-safe.

    - ``timeout``: seconds without a byte, or in a stream without an event.
    - ``total``: maximum seconds of one attempt.
    - ``retries``: number of retries.
    - ``direct``: ignore the proxies of the environment, for a server in this process.

    All methods raise StoppedError and disconnect when the stop in force is requested.
    """

    base_url: str
    api_key: SecretStr | None = None
    timeout: float = 60.0
    total: float = 900.0
    retries: int = RETRIES
    direct: bool = False
    sleep: Callable[[float], None] = field(default=stopping.sleep, repr=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
            raise ConfigurationError(
                "the base url of an endpoint must look like https://host/v1, without a user or password"
            )
        if not (self.key.isascii() and self.key.isprintable()):
            raise ConfigurationError("expected an API key of ASCII characters, got one with others")

    @property
    def key(self) -> str:
        """The API key; empty if there is none."""
        return "" if self.api_key is None else self.api_key.get_secret_value()

    @property
    def host(self) -> str:
        """Host and port, for messages."""
        return urlsplit(self.base_url).netloc

    @abstractmethod
    def connect(self) -> None:
        """Create the client in the caller's thread: loading certificates can be slow, and the event loop is shared."""

    @abstractmethod
    async def answered(self, path: str, body: Mapping[str, Any]) -> httpx2.Response:
        """Send ``body`` and return the complete response. One attempt. Raises the client's errors."""

    @abstractmethod
    def objects(
        self, path: str, body: Mapping[str, Any], ended: Callable[[], None]
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Send ``body`` and yield the objects of the response stream. ``ended`` is called if the endpoint marks the end
        other than by one of the objects. One attempt. Raises the client's errors.
        """

    @abstractmethod
    def translated(self, error: Exception) -> EndpointError | PassingEndpointError | None:
        """Translate an error of the client; None for other errors."""

    def post(
        self, path: str, body: Mapping[str, Any], before_attempt: Callable[[], None] | None = None
    ) -> dict[str, Any]:
        """Send ``body`` and return the JSON object of the response.

        Rate limiting (429), server errors, timeouts and broken connections are retried after the time the endpoint
        requests (Retry-After, up to a minute), else after 0.5 s, 1 s, 2 s ... up to a minute, times a random factor of
        0.5 to 1. ``before_attempt`` is called before every attempt. Raises EndpointError.
        """
        return self.retried(lambda: self.whole(lambda: self.answered(path, body)), before_attempt)

    def stream(
        self, path: str, body: Mapping[str, Any], before_attempt: Callable[[], None] | None = None
    ) -> JsonStream:
        """Send ``body`` and return a stream of the JSON objects of the response events.

        Failures before the first object are retried as by :meth:`post`. Later ones are final, because objects that have
        been read cannot be taken back. An endpoint that does not stream yields a single object. Raises EndpointError,
        here or while the stream is read.
        """
        return self.retried(lambda: JsonStream(self, path, body), before_attempt)

    def http_client(self) -> httpx2.AsyncClient:
        """Create the HTTP client for the provider's client. It is closed when this endpoint is garbage-collected."""
        http = httpx2.AsyncClient(
            timeout=self.timeout,
            # A server may close an idle connection at the moment it is reused. Retries hide this. A server in this
            # process is not retried, and a new connection to it costs nothing.
            limits=httpx2.Limits(max_connections=1000, max_keepalive_connections=0 if self.direct else 100),
            follow_redirects=False,  # a redirected POST would become a GET, or send the texts elsewhere
            trust_env=not self.direct,
            event_hooks={"response": [bound]},
        )
        weakref.finalize(self, _hang_up, http)
        return http

    def retried(self, attempt: Callable[[], T], before_attempt: Callable[[], None] | None = None) -> T:
        """Return the result of the first successful attempt. Raises EndpointError."""

        self.connect()

        def translated() -> T:
            if before_attempt is not None:
                before_attempt()
            with self.translating():
                return attempt()

        retrying = Retrying(
            retry=retry_if_exception_type(PassingEndpointError),
            stop=stop_after_attempt(self.retries + 1),
            wait=wait_between(LONGEST_WAIT),
            sleep=self.sleep,
            before_sleep=before_sleep_log(_log, logging.INFO),
            reraise=True,
        )
        try:
            return retrying(translated)
        except PassingEndpointError as error:
            raise EndpointError(f"{error} ({self.retries + 1} attempts)", error.status) from error

    def whole(self, send: Callable[[], Awaitable[httpx2.Response]]) -> dict[str, Any]:
        """Return the object of a response that is not a stream. It is parsed in the caller's thread because the event
        loop is shared.
        """

        async def answer() -> httpx2.Response:
            async with self.in_all(self.total):
                try:
                    return await send()
                except BaseException as error:
                    _let_go(error)
                    raise

        return self.object_of(loop.run(answer()))

    @asynccontextmanager
    async def in_all(self, seconds: float) -> AsyncIterator[None]:
        """Raise EndpointError if the block takes longer than the remaining part of ``total``."""
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                yield
        except TimeoutError:
            if not limit.expired():
                raise
            raise EndpointError(f"{self.host} was not done within {self.total:g} s") from None

    def object_of(self, response: httpx2.Response) -> dict[str, Any]:
        """Return the JSON object of a response. Raises EndpointError when it is not one, and the error of
        :meth:`refusal` when it is an error.
        """
        try:
            value = json.loads(response.content)
        except (ValueError, RecursionError):
            value = None
        return self.checked(value, response)

    def checked(self, value: object, response: httpx2.Response) -> dict[str, Any]:
        """Check that a value is a JSON object and not an error. Raises the errors of :meth:`object_of`."""
        if not isinstance(value, dict):
            raise EndpointError(f"{self.host} answered with something that is not a JSON object", 200)
        if value.get("error") is not None:
            raise self.refusal(value["error"], response)
        return value

    @contextmanager
    def translating(self) -> Iterator[None]:
        """Translate the client's errors to EndpointError or PassingEndpointError."""
        try:
            yield
        except (httpx2.TimeoutException, TimeoutError) as error:
            raise self.too_slow() from error
        except httpx2.RequestError as error:
            raise self.unreachable(error) from error
        except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):  # their text may contain the key
            raise EndpointError(f"{self.host} answered with something that is not JSON", 200) from None
        except Exception as error:
            meaning = self.translated(error)
            if meaning is None:
                raise
            raise meaning from None  # for the same reason

    def too_slow(self) -> PassingEndpointError:
        """Create the error for a response without a byte, or event, for ``timeout``."""
        return PassingEndpointError(f"{self.host} did not answer within {self.timeout:g} s")

    def unreachable(self, error: BaseException) -> PassingEndpointError:
        """Create the error for a failed or lost connection."""
        return PassingEndpointError(f"{self.host} cannot be reached or hung up ({type(error).__name__})")

    def refusal(self, fault: object, response: httpx2.Response) -> EndpointError | PassingEndpointError:
        """Create the error for an error response. ``fault`` describes it, Gemini's within a list."""
        if isinstance(fault, list) and fault and isinstance(fault[0], dict):
            fault = fault[0].get("error", fault[0])
        reason = fault.get("message") or fault.get("detail") if isinstance(fault, dict) else fault
        code = fault.get("code") if isinstance(fault, dict) else None
        parameter = fault.get("param") if isinstance(fault, dict) else None
        status = response.status_code
        # A stream that has begun successfully can still end with an error.
        how = f"answered {status}" if status != httpx2.codes.OK else "broke off"
        message = (
            f"{self.host} {how}: {self.printable(str(reason or response.reason_phrase or 'no reason given'))}"
        )
        message += _hint(status, code)
        # An exhausted quota is a 429 as well, but waiting does not help.
        if status in _RETRIED and code != "insufficient_quota":
            return PassingEndpointError(message, status, retry_after(response.headers.get("Retry-After")))
        return EndpointError(message, status, parameter if isinstance(parameter, str) else None)

    def printable(self, text: str) -> str:
        """Format a server's message on one line, without the key."""
        text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        return (text.replace(self.key, "***") if self.key else text)[:_MESSAGE_CHARACTERS]


class JsonStream:
    """The objects of a stream as they arrive. The first one has arrived when the constructor returns. Not thread-safe.

    ``ended`` tells, after the last object, whether the endpoint marked the end (``[DONE]``). Iterating raises
    EndpointError. To stop early, close the stream, which disconnects.
    """

    def __init__(self, endpoint: BaseEndpoint, path: str, body: Mapping[str, Any]) -> None:
        """Send the request and wait for the first object. Raises EndpointError, or PassingEndpointError if a retry may
        succeed.
        """
        self.ended = False
        self._endpoint = endpoint
        self._until = time.monotonic() + endpoint.total
        self._objects = endpoint.objects(path, body, self._end)
        self._turn = asyncio.Lock()
        self._first = loop.run(self._next())
        if self._first is None:
            raise PassingEndpointError(f"{endpoint.host} ended its answer before it began")

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> dict[str, Any]:
        found, self._first = self._first, None
        if found is None:
            try:
                with self._endpoint.translating():
                    found = loop.run(self._next())
            except (EndpointError, PassingEndpointError) as error:
                raise EndpointError(f"{error}, in the middle of an answer", error.status) from error
        if found is None:
            raise StopIteration
        return found

    def close(self) -> None:
        """Disconnect unless everything has been read."""
        loop.begin(self._close())

    def _end(self) -> None:
        self.ended = True

    async def _next(self) -> dict[str, Any] | None:
        """Return the next object, None after the last. Raises TimeoutError."""
        left = self._until - time.monotonic()
        async with self._turn, self._endpoint.in_all(left), asyncio.timeout(self._endpoint.timeout):
            try:
                return await anext(self._objects, None)
            except BaseException as error:
                _let_go(error)
                raise

    async def _close(self) -> None:
        async with self._turn:  # a cancelled call may still be disconnecting
            await self._objects.aclose()


def _let_go(error: BaseException) -> None:
    """Clear the frames of an error and its causes, which hold unfinished generators of the client. This must happen in
    the event loop's thread: the garbage collector could otherwise finalise them in another thread while the loop is
    using some of them.
    """
    seen: set[int] = set()
    made_of: BaseException | None = error
    while made_of is not None and id(made_of) not in seen:
        seen.add(id(made_of))
        traceback.clear_frames(made_of.__traceback__)
        made_of = made_of.__cause__ or made_of.__context__


def _hint(status: int, code: object) -> str:
    if status in (401, 403):
        return " (check the API key)"
    if code == "context_length_exceeded":
        return " (set TRIVIUM_CHAT_CONTEXT_TOKENS to what the model reads)"
    return " (check the name of the model and the base url)" if status == httpx2.codes.NOT_FOUND else ""


def is_json(response: httpx2.Response) -> bool:
    """Whether the body of a response is JSON."""
    try:
        json.loads(response.content)
    except (ValueError, RecursionError):
        return False
    return True


def _hang_up(http: httpx2.AsyncClient) -> None:
    loop.begin(http.aclose())
