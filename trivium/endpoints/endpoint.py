"""An OpenAI-compatible endpoint, based on the ``openai`` package, shared by chat models and embedders: JSON is sent, and
JSON or a stream of it received.

There is one client and connection pool for the lifetime of an endpoint. In addition to the package, this module limits
the size and duration of an answer and the delays of retries, limits the rate of attempts, supports cancellation at any
time (:mod:`trivium.common.stopping`), and raises one kind of error, whose messages never contain the key even if a
server repeats it.
"""

from __future__ import annotations

import asyncio
import json
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pydantic import SecretStr

from trivium.common import stopping
from trivium.common.retries import retried, retry_after, wait_between
from trivium.endpoints import event_loop as loop
from trivium.endpoints.endpoint_errors import EndpointError, PassingEndpointError
from trivium.endpoints.stream import JsonStream, let_go
from trivium.errors import ConfigurationError, MissingExtraError

try:
    import httpx2
    import openai

    from trivium.endpoints.response_limit import BoundedStream, bound, is_stream
except ImportError as error:
    raise MissingExtraError("a model behind an OpenAI-compatible endpoint", "openai") from error

RETRIES = 6
"""Default number of retries."""
LONGEST_WAIT = 60.0
"""Maximum seconds between two attempts, whatever the endpoint requests."""

_RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_MESSAGE_CHARACTERS = 300

T = TypeVar("T")


@dataclass(frozen=True)
class Endpoint:
    """Address and time limits of an endpoint. Thread-safe.

    - ``timeout``: seconds without a byte, or in a stream without an event.
    - ``total``: maximum seconds of one attempt.
    - ``retries``: number of retries.
    - ``direct``: ignore the proxies of the environment, for a server in this process.
    - ``api_version``: of Azure OpenAI; then the base url is that of a resource (``https://NAME.openai.azure.com``), and
      models are named by deployment.

    All methods raise StoppedError and disconnect when the stop in force is requested.
    """

    base_url: str
    api_key: SecretStr | None = None
    timeout: float = 60.0
    total: float = 900.0
    retries: int = RETRIES
    direct: bool = False
    sleep: Callable[[float], None] = field(default=stopping.sleep, repr=False)
    api_version: str | None = None

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

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send ``body`` and return the JSON object of the response.

        Rate limiting (429), server errors, timeouts and broken connections are retried after the time the endpoint
        requests (Retry-After, up to a minute), else after 0.5 s, 1 s, 2 s ... up to a minute, times a random factor of
        0.5 to 1. Raises EndpointError.
        """

        async def answered() -> httpx2.Response:
            return await self._client.post(path, body=body, cast_to=httpx2.Response, options=self._options)

        return self.retried(lambda: self.whole(answered))

    def stream(self, path: str, body: Mapping[str, Any]) -> JsonStream:
        """Send ``body`` and return a stream of the JSON objects of the response events.

        Failures before the first object are retried as by :meth:`post`. Later ones are final, because objects that have
        been read cannot be taken back. An endpoint that does not stream yields a single object. Raises EndpointError,
        here or while the stream is read.
        """
        return self.retried(lambda: JsonStream(self, path, body))

    def get(self, path: str) -> dict[str, Any]:
        """Return the JSON object at ``path``, with retries as in :meth:`post`. Raises EndpointError."""

        async def answered() -> httpx2.Response:
            return await self._client.get(path, cast_to=httpx2.Response, options=self._options)

        return self.retried(lambda: self.whole(answered))

    def close(self) -> None:
        """Close pooled connections. The next request opens new ones."""
        client = self.__dict__.pop("_client", None)
        if client is not None:
            loop.begin(client.close())

    async def objects(
        self, path: str, body: Mapping[str, Any], ended: Callable[[], None]
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Send ``body`` and yield the objects of the response stream. ``ended`` is called if the endpoint marks the end
        other than by one of the objects. One attempt. Raises the client's errors.
        """
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
                yield self.object_of(stream.response)
                return
            bounded = stream.response.stream
            async for event in stream:
                yield self.checked(event, stream.response)
            if isinstance(bounded, BoundedStream) and bounded.said_done:
                ended()

    def _http_client(self) -> httpx2.AsyncClient:
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

    def retried(self, attempt: Callable[[], T]) -> T:
        """Return the result of the first successful attempt. Raises EndpointError."""

        self._client  # noqa: B018 - in the caller's thread: loading certificates can be slow, the loop is shared

        def translated() -> T:
            with self.translating():
                return attempt()

        try:
            return retried(translated, self.retries, wait_between(LONGEST_WAIT), sleep=self.sleep)
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
                    let_go(error)
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
            meaning = self._translated(error)
            if meaning is None:
                raise
            raise meaning from None  # for the same reason

    def _translated(self, error: Exception) -> EndpointError | PassingEndpointError | None:
        """Translate an error of the client; None for other errors."""
        match error:
            case openai.APITimeoutError():
                return self.too_slow()
            case openai.APIConnectionError():
                return self.unreachable(error.__cause__ or error)
            case openai.APIStatusError():
                return self.refusal(error.body if _is_json(error.response) else None, error.response)
            case openai.APIError():  # an error event in a stream
                return EndpointError(f"{self.host} broke off: {self.printable(error.message)}")
        return None

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

    @cached_property
    def _client(self) -> openai.AsyncOpenAI:
        # Every option is set or omitted explicitly, so that nothing is taken from variables meant for another endpoint.
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
            "http_client": self._http_client(),
            "default_headers": headers,
        }
        if self.api_version is None:
            return openai.AsyncOpenAI(base_url=self.base_url, **common)
        return openai.AsyncAzureOpenAI(azure_endpoint=self.base_url, api_version=self.api_version, **common)

    @property
    def _options(self) -> Any:
        """Options of each request: the key, or its explicit absence, because the client would otherwise look for one in
        the environment.
        """
        if self.api_version is not None:
            return {"headers": {"api-key": self.key, "Authorization": openai.Omit()}}
        return {"headers": {"Authorization": f"Bearer {self.key}" if self.key else openai.Omit()}}


def _hint(status: int, code: object) -> str:
    if status in (401, 403):
        return " (check the API key)"
    if code == "context_length_exceeded":
        return " (set TRIVIUM_CHAT_CONTEXT_TOKENS to what the model reads)"
    return " (check the name of the model and the base url)" if status == httpx2.codes.NOT_FOUND else ""


def _is_json(response: httpx2.Response) -> bool:
    """Whether the body of a response is JSON."""
    try:
        json.loads(response.content)
    except (ValueError, RecursionError):
        return False
    return True


def _hang_up(http: httpx2.AsyncClient) -> None:
    loop.begin(http.aclose())
