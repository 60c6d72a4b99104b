"""An OpenAI-compatible endpoint, over the ``openai`` package: JSON out, JSON or a stream of it in.

Chat models and embedders share it: one client with a pool of connections for as long as an Endpoint lives. Added to what
the package does are bounds (on the size of an answer, on its time, on waits), a limit on the rate of every attempt, an
end at any moment (:mod:`trivium.common.stopping`), and errors of one kind whose messages never hold the key, even when a
server repeats it."""

from __future__ import annotations

import asyncio
import json
import logging
import time
import traceback
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

from pydantic import SecretStr
from tenacity import Retrying, before_sleep_log, retry_if_exception_type, stop_after_attempt

from trivium.common import stopping
from trivium.common.retries import retry_after, wait_between
from trivium.endpoints import loop
from trivium.endpoints.failures import EndpointError, PassingEndpointError
from trivium.errors import ConfigurationError, MissingExtraError

try:
    import httpx2
    import openai

    from trivium.endpoints.bounded import BoundedStream, bound, is_stream
except ImportError as error:
    raise MissingExtraError("a model behind an OpenAI-compatible endpoint", "openai") from error

RETRIES = 6
"""Attempts after the first where nothing else is said."""
LONGEST_WAIT = 60.0
"""Seconds between two attempts at most, whatever the endpoint asks for."""

_RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_MESSAGE_CHARACTERS = 300

_log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True)
class Endpoint:
    """Where requests go, and how long to wait for them. Thread-safe.

    ``timeout`` is seconds without a byte, in a stream without an event; ``total`` seconds for one attempt from its
    beginning to its end; ``retries`` counts attempts after the first. With an ``api_version`` the base
    url is that of an Azure OpenAI resource (``https://NAME.openai.azure.com``) and a model is the name of a deployment.
    ``direct`` ignores the proxies of the environment, as for a server of this very process.

    All methods raise StoppedError, and hang up, when the stop in force is asked."""

    base_url: str
    api_key: SecretStr | None = None
    timeout: float = 60.0
    total: float = 900.0
    retries: int = RETRIES
    direct: bool = False
    api_version: str | None = None
    sleep: Callable[[float], None] = field(default=stopping.sleep, repr=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
            raise ConfigurationError(
                "the base url of an endpoint must look like https://host/v1, without a user or password"
            )
        key = "" if self.api_key is None else self.api_key.get_secret_value()
        if not (key.isascii() and key.isprintable()):
            raise ConfigurationError("expected an API key of ASCII characters, got one with others")

    @property
    def host(self) -> str:
        """Host and port, for messages."""
        return urlsplit(self.base_url).netloc

    def get(self, path: str) -> dict[str, Any]:
        """The JSON object at ``path``, with retries as by :meth:`post`. Raises EndpointError."""
        return self._retried(
            lambda: self._whole(
                lambda: self._client.get(path, cast_to=httpx2.Response, options=self._options)
            ),
            None,
        )

    def post(
        self, path: str, body: Mapping[str, Any], before_attempt: Callable[[], None] | None = None
    ) -> dict[str, Any]:
        """Send ``body`` and return the JSON object that comes back.

        Rate limiting (429), server errors, timeouts and broken connections are tried again: after the time
        the endpoint asks for (Retry-After, up to a minute), else after 0.5 s, 1 s, 2 s ... up to a minute,
        times a random factor of 0.5 to 1. ``before_attempt`` is called before every attempt. Raises EndpointError.
        """

        def attempt() -> dict[str, Any]:
            return self._whole(
                lambda: self._client.post(path, body=body, cast_to=httpx2.Response, options=self._options)
            )

        return self._retried(attempt, before_attempt)

    def stream(
        self, path: str, body: Mapping[str, Any], before_attempt: Callable[[], None] | None = None
    ) -> JsonStream:
        """Send ``body`` and return the JSON objects of the events that come back, as they come.

        Until the first one failures are tried again as by :meth:`post`; later ones are final, since what has been read
        cannot be taken back. An endpoint that does not stream gives its one object. Raises EndpointError, here or while
        it is read.
        """
        return self._retried(lambda: JsonStream(self, path, body), before_attempt)

    def close(self) -> None:
        """Close the connections that are kept. The next request opens new ones."""
        client = self.__dict__.pop("_client", None)
        if client is not None:
            loop.begin(client.close())

    @cached_property
    def _client(self) -> openai.AsyncOpenAI:
        http = httpx2.AsyncClient(
            timeout=self.timeout,
            limits=openai.DEFAULT_CONNECTION_LIMITS,
            follow_redirects=False,  # a redirected POST becomes a GET, or takes the texts elsewhere
            trust_env=not self.direct,
            event_hooks={"response": [bound]},
        )
        weakref.finalize(self, _hang_up, http)
        # Everything is given, or left out on purpose: nothing comes from variables that were set for another endpoint.
        headers: dict[str, Any] = {
            "Accept-Encoding": "identity",
            "OpenAI-Organization": openai.Omit(),
            "OpenAI-Project": openai.Omit(),
        }
        common: dict[str, Any] = {
            "api_key": "see _options",
            "admin_api_key": "",
            "webhook_secret": "",
            "max_retries": 0,
            "timeout": self.timeout,
            "http_client": http,
            "default_headers": headers,
        }
        if self.api_version is None:
            return openai.AsyncOpenAI(base_url=self.base_url, **common)
        return openai.AsyncAzureOpenAI(azure_endpoint=self.base_url, api_version=self.api_version, **common)

    @property
    def _options(self) -> Any:
        """Of each request: the key, or that there is none, since the client would look for one in the environment."""
        key = "" if self.api_key is None else self.api_key.get_secret_value()
        if self.api_version is not None:
            return {"headers": {"api-key": key, "Authorization": openai.Omit()}}
        return {"headers": {"Authorization": f"Bearer {key}" if key else openai.Omit()}}

    def _retried(self, attempt: Callable[[], T], before_attempt: Callable[[], None] | None = None) -> T:
        def translated() -> T:
            if before_attempt is not None:
                before_attempt()
            with self._translating():
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

    def _whole(self, send: Callable[[], Awaitable[httpx2.Response]]) -> dict[str, Any]:
        """The object that comes back at once. It is parsed in the caller's thread: others share the loop."""

        async def answer() -> httpx2.Response:
            async with self._in_all(self.total):
                return await send()

        return self._object(loop.run(answer()))

    @asynccontextmanager
    async def _in_all(self, seconds: float) -> AsyncIterator[None]:
        """Raises EndpointError where the block takes longer than what is left of :attr:`total`."""
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                yield
        except TimeoutError:
            if not limit.expired():
                raise
            raise EndpointError(f"{self.host} was not done within {self.total:g} s") from None

    async def _objects(
        self, path: str, body: Mapping[str, Any], ended: Callable[[], None]
    ) -> AsyncGenerator[dict[str, Any], None]:
        """The objects of a stream. ``ended`` is called where the endpoint says that they are all."""
        async with await self._client.post(
            path,
            body=body,
            cast_to=object,
            options=self._options,
            stream=True,
            stream_cls=openai.AsyncStream[object],
        ) as stream:
            if not is_stream(stream.response):
                await stream.response.aread()
                ended()
                yield self._object(stream.response)
                return
            bounded = stream.response.stream
            async for event in stream:
                yield self._checked(event, stream.response)
            if isinstance(bounded, BoundedStream) and bounded.said_done:
                ended()

    def _object(self, response: httpx2.Response) -> dict[str, Any]:
        try:
            value = json.loads(response.content)
        except (ValueError, RecursionError):
            value = None
        return self._checked(value, response)

    def _checked(self, value: object, response: httpx2.Response) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise EndpointError(f"{self.host} answered with something that is not a JSON object", 200)
        if value.get("error") is not None:
            raise self._refusal(value["error"], response)
        return value

    @contextmanager
    def _translating(self) -> Iterator[None]:
        """Turns the client's errors into EndpointError or PassingEndpointError."""
        try:
            yield
        except (openai.APITimeoutError, httpx2.TimeoutException, TimeoutError) as error:
            raise PassingEndpointError(f"{self.host} did not answer within {self.timeout:g} s") from error
        except (openai.APIConnectionError, httpx2.RequestError) as error:
            name = type(error.__cause__ or error).__name__
            raise PassingEndpointError(f"{self.host} cannot be reached or hung up ({name})") from error
        except openai.APIStatusError as error:  # its text may hold the key
            fault = error.body if _is_json(error.response) else None
            raise self._refusal(fault, error.response) from None
        except openai.APIError as error:  # an event of a stream
            raise EndpointError(f"{self.host} broke off: {self._printable(error.message)}") from None
        except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):  # as well
            raise EndpointError(f"{self.host} answered with something that is not JSON", 200) from None

    def _refusal(self, fault: object, response: httpx2.Response) -> EndpointError | PassingEndpointError:
        """What an answer that is an error means. ``fault`` is what the endpoint says about it."""
        reason = fault.get("message") or fault.get("detail") if isinstance(fault, dict) else fault
        code = fault.get("code") if isinstance(fault, dict) else None
        parameter = fault.get("param") if isinstance(fault, dict) else None
        status = response.status_code
        # A stream that has begun well can still end in an error.
        how = f"answered {status}" if status != httpx2.codes.OK else "broke off"
        message = f"{self.host} {how}: {self._printable(str(reason or response.reason_phrase or 'no reason given'))}"
        message += _hint(status, code)
        # An exhausted quota is a 429 as well, but waiting does not refill it.
        if status in _RETRIED and code != "insufficient_quota":
            return PassingEndpointError(message, status, retry_after(response.headers.get("Retry-After")))
        return EndpointError(message, status, parameter if isinstance(parameter, str) else None)

    def _printable(self, text: str) -> str:
        """A server's words in one line, without the key."""
        text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        secret = "" if self.api_key is None else self.api_key.get_secret_value()
        return (text.replace(secret, "***") if secret else text)[:_MESSAGE_CHARACTERS]


class JsonStream:
    """The objects of a stream, each as it comes; the first one has come when this has been made. One thread at a time.

    ``ended``: whether the endpoint said that it was done (``[DONE]``), known after the last object. Iterating raises
    EndpointError. Who leaves early closes it, which hangs up."""

    def __init__(self, endpoint: Endpoint, path: str, body: Mapping[str, Any]) -> None:
        """Sends the request and waits for the first object. Raises EndpointError or, where another attempt may succeed,
        PassingEndpointError."""
        self.ended = False
        self._endpoint = endpoint
        self._until = time.monotonic() + endpoint.total
        self._objects = endpoint._objects(path, body, self._end)
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
                with self._endpoint._translating():
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
        async with self._turn, self._endpoint._in_all(left), asyncio.timeout(self._endpoint.timeout):
            try:
                return await anext(self._objects, None)
            except BaseException as error:
                # Its frames hold generators of the client that are not at their end. They are let go of in this thread:
                # when the collector of garbage finds them in another one, this one may be at work on some of them.
                traceback.clear_frames(error.__traceback__)
                raise

    async def _close(self) -> None:
        async with self._turn:  # one that was cancelled may still be hanging up
            await self._objects.aclose()


def _hint(status: int, code: object) -> str:
    if status in (401, 403):
        return " (check the API key)"
    if code == "context_length_exceeded":
        return " (set TRIVIUM_CHAT_CONTEXT_TOKENS to what the model reads)"
    return " (check the name of the model and the base url)" if status == httpx2.codes.NOT_FOUND else ""


def _is_json(response: httpx2.Response) -> bool:
    try:
        json.loads(response.content)
    except (ValueError, RecursionError):
        return False
    return True


def _hang_up(http: httpx2.AsyncClient) -> None:
    loop.begin(http.aclose())
