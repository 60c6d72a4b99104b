"""What all endpoints of models share, whatever their protocol: JSON out, JSON or a stream of it in.

Each protocol has a class of its own over its provider's package, with one client and its pool of connections for as long
as the endpoint lives. Added to what the packages do are bounds (on the size of an answer, on its time, on waits), a limit
on the rate of every attempt, an end at any moment (:mod:`trivium.common.stopping`), and errors of one kind whose messages
never hold the key, even when a server repeats it."""

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
from typing import Any, ClassVar, Self, TypeVar
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
"""Attempts after the first where nothing else is said."""
LONGEST_WAIT = 60.0
"""Seconds between two attempts at most, whatever the endpoint asks for."""

_RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_MESSAGE_CHARACTERS = 300

_log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True)
class BaseEndpoint(ABC):
    """Where requests go, and how long to wait for them. Thread-safe.

    ``timeout`` is seconds without a byte, in a stream without an event; ``total`` seconds for one attempt from its
    beginning to its end; ``retries`` counts attempts after the first. ``direct`` ignores the proxies of the environment,
    as for a server of this very process.

    All methods raise StoppedError, and hang up, when the stop in force is asked."""

    base_url: str
    api_key: SecretStr | None = None
    timeout: float = 60.0
    total: float = 900.0
    retries: int = RETRIES
    direct: bool = False
    sleep: Callable[[float], None] = field(default=stopping.sleep, repr=False)

    checks: ClassVar[tuple[Callable[[httpx2.Response], Awaitable[None]], ...]] = ()
    """What is done to every response before any of it is read, besides bounding it."""

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
        """The API key, empty where there is none."""
        return "" if self.api_key is None else self.api_key.get_secret_value()

    @property
    def host(self) -> str:
        """Host and port, for messages."""
        return urlsplit(self.base_url).netloc

    @abstractmethod
    def connect(self) -> None:
        """Make the client, in the caller's thread: some read certificates for a while, and others share the loop."""

    @abstractmethod
    async def answered(self, path: str, body: Mapping[str, Any]) -> httpx2.Response | dict[str, Any]:
        """Send ``body``; what comes back, read to its end. One attempt. Raises what the client raises."""

    @abstractmethod
    def objects(
        self, path: str, body: Mapping[str, Any], ended: Callable[[], None]
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Send ``body`` and give the objects of the stream that comes back. ``ended`` is called where the endpoint says
        that they are all, other than by one of them. One attempt. Raises what the client raises."""

    @abstractmethod
    def translated(self, error: Exception) -> EndpointError | PassingEndpointError | None:
        """What an error of the client means; None where it is none of the client's."""

    def post(
        self, path: str, body: Mapping[str, Any], before_attempt: Callable[[], None] | None = None
    ) -> dict[str, Any]:
        """Send ``body`` and return the JSON object that comes back.

        Rate limiting (429), server errors, timeouts and broken connections are tried again: after the time
        the endpoint asks for (Retry-After, up to a minute), else after 0.5 s, 1 s, 2 s ... up to a minute,
        times a random factor of 0.5 to 1. ``before_attempt`` is called before every attempt. Raises EndpointError.
        """
        return self.retried(lambda: self.whole(lambda: self.answered(path, body)), before_attempt)

    def stream(
        self, path: str, body: Mapping[str, Any], before_attempt: Callable[[], None] | None = None
    ) -> JsonStream:
        """Send ``body`` and return the JSON objects of the events that come back, as they come.

        Until the first one failures are tried again as by :meth:`post`; later ones are final, since what has been read
        cannot be taken back. An endpoint that does not stream gives its one object. Raises EndpointError, here or while
        it is read.
        """
        return self.retried(lambda: JsonStream(self, path, body), before_attempt)

    def http_client(self) -> httpx2.AsyncClient:
        """What the provider's client sends its requests with; closed when this endpoint is gone."""
        http = httpx2.AsyncClient(
            timeout=self.timeout,
            # A server may close a connection that is kept in the very moment it is used again. Where that is tried again
            # nobody notices; a server of this process is asked once, and a new connection to it costs nothing.
            limits=httpx2.Limits(max_connections=1000, max_keepalive_connections=0 if self.direct else 100),
            follow_redirects=False,  # a redirected POST becomes a GET, or takes the texts elsewhere
            trust_env=not self.direct,
            event_hooks={"response": [bound, *self.checks]},
        )
        weakref.finalize(self, _hang_up, http)
        return http

    def retried(self, attempt: Callable[[], T], before_attempt: Callable[[], None] | None = None) -> T:
        """What the first attempt that succeeds gives. Raises EndpointError."""

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

    def whole(self, send: Callable[[], Awaitable[httpx2.Response | dict[str, Any]]]) -> dict[str, Any]:
        """The object that comes back at once. It is parsed in the caller's thread: others share the loop."""

        async def answer() -> httpx2.Response | dict[str, Any]:
            async with self.in_all(self.total):
                try:
                    return await send()
                except BaseException as error:
                    _let_go(error)
                    raise

        answered = loop.run(answer())
        return answered if isinstance(answered, dict) else self.object_of(answered)

    @asynccontextmanager
    async def in_all(self, seconds: float) -> AsyncIterator[None]:
        """Raises EndpointError where the block takes longer than what is left of ``total``."""
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                yield
        except TimeoutError:
            if not limit.expired():
                raise
            raise EndpointError(f"{self.host} was not done within {self.total:g} s") from None

    def object_of(self, response: httpx2.Response) -> dict[str, Any]:
        """The JSON object of an answer. Raises EndpointError where it is none, and what :meth:`refusal` gives where it
        is an error."""
        try:
            value = json.loads(response.content)
        except (ValueError, RecursionError):
            value = None
        return self.checked(value, response)

    def checked(self, value: object, response: httpx2.Response) -> dict[str, Any]:
        """A value that is a JSON object and no error. Raises as :meth:`object_of` does."""
        if not isinstance(value, dict):
            raise EndpointError(f"{self.host} answered with something that is not a JSON object", 200)
        if value.get("error") is not None:
            raise self.refusal(value["error"], response)
        return value

    @contextmanager
    def translating(self) -> Iterator[None]:
        """Turns the client's errors into EndpointError or PassingEndpointError."""
        try:
            yield
        except (httpx2.TimeoutException, TimeoutError) as error:
            raise self.too_slow() from error
        except httpx2.RequestError as error:
            raise self.unreachable(error) from error
        except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):  # their text may hold the key
            raise EndpointError(f"{self.host} answered with something that is not JSON", 200) from None
        except Exception as error:
            meaning = self.translated(error)
            if meaning is None:
                raise
            raise meaning from None  # as well

    def too_slow(self) -> PassingEndpointError:
        """There was no byte, or no event, for ``timeout``."""
        return PassingEndpointError(f"{self.host} did not answer within {self.timeout:g} s")

    def unreachable(self, error: BaseException) -> PassingEndpointError:
        """There is no connection, or no longer."""
        return PassingEndpointError(f"{self.host} cannot be reached or hung up ({type(error).__name__})")

    def refusal(self, fault: object, response: httpx2.Response) -> EndpointError | PassingEndpointError:
        """What an answer that is an error means. ``fault`` is what the endpoint says about it."""
        reason = fault.get("message") or fault.get("detail") if isinstance(fault, dict) else fault
        code = fault.get("code") if isinstance(fault, dict) else None
        parameter = fault.get("param") if isinstance(fault, dict) else None
        status = response.status_code
        # A stream that has begun well can still end in an error.
        how = f"answered {status}" if status != httpx2.codes.OK else "broke off"
        message = (
            f"{self.host} {how}: {self.printable(str(reason or response.reason_phrase or 'no reason given'))}"
        )
        message += _hint(status, code)
        # An exhausted quota is a 429 as well, but waiting does not refill it.
        if status in _RETRIED and code != "insufficient_quota":
            return PassingEndpointError(message, status, retry_after(response.headers.get("Retry-After")))
        return EndpointError(message, status, parameter if isinstance(parameter, str) else None)

    def printable(self, text: str) -> str:
        """A server's words in one line, without the key."""
        text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        return (text.replace(self.key, "***") if self.key else text)[:_MESSAGE_CHARACTERS]


class JsonStream:
    """The objects of a stream, each as it comes; the first one has come when this has been made. One thread at a time.

    ``ended``: whether the endpoint said that it was done (``[DONE]``), known after the last object. Iterating raises
    EndpointError. Who leaves early closes it, which hangs up."""

    def __init__(self, endpoint: BaseEndpoint, path: str, body: Mapping[str, Any]) -> None:
        """Sends the request and waits for the first object. Raises EndpointError or, where another attempt may succeed,
        PassingEndpointError."""
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
        """Hang up, unless all has been read."""
        loop.begin(self._close())

    def _end(self) -> None:
        self.ended = True

    async def _next(self) -> dict[str, Any] | None:
        """The next object, None after the last. Raises TimeoutError."""
        left = self._until - time.monotonic()
        async with self._turn, self._endpoint.in_all(left), asyncio.timeout(self._endpoint.timeout):
            try:
                return await anext(self._objects, None)
            except BaseException as error:
                _let_go(error)
                raise

    async def _close(self) -> None:
        async with self._turn:  # one that was cancelled may still be hanging up
            await self._objects.aclose()


def _let_go(error: BaseException) -> None:
    """The frames of an error, and of those it was made of, hold generators of the client that are not at their end. They
    are let go of in the thread of the loop: when the collector of garbage finds them in another one, this may be at work
    on some of them."""
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
    """Whether the body of an answer is JSON."""
    try:
        json.loads(response.content)
    except (ValueError, RecursionError):
        return False
    return True


def _hang_up(http: httpx2.AsyncClient) -> None:
    loop.begin(http.aclose())
