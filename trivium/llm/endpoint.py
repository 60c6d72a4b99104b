"""An OpenAI-compatible endpoint over HTTP: JSON out, JSON or a stream of it in, with retries.

The chat model and the OpenAI embedder stand on it. Keys travel in the Authorization header only; they are in
no repr and no message, even when a server repeats them. Answers are read up to a bound."""

from __future__ import annotations

import json
import logging
import random
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

import requests
from pydantic import SecretStr

from trivium.errors import ConfigurationError, TriviumError
from trivium.llm.events import event_data
from trivium.llm.failures import LONGEST_WAIT, FailedError, Failure, refusal, unreachable

_FIRST_WAIT = 0.5
_MOST_BYTES = 256 << 20
_PIECE = 1 << 16
_END_OF_STREAM = b"[DONE]"

_log = logging.getLogger(__name__)

Objects = Generator[dict[str, Any], None, None]
T = TypeVar("T")


class EndpointError(TriviumError):
    """A request failed for good. Adapters translate it into the error of their seam.

    ``status`` is the HTTP status, None when there was no answer; ``parameter`` names the parameter of the
    request that the endpoint objects to, where it says so."""

    def __init__(self, message: str, status: int | None = None, parameter: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.parameter = parameter


@dataclass(frozen=True)
class _Bearer(requests.auth.AuthBase):
    """Sets the header itself: otherwise a ~/.netrc entry of the same host would replace the key."""

    key: SecretStr | None

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self.key is not None:
            request.headers["Authorization"] = f"Bearer {self.key.get_secret_value()}"
        return request


@dataclass(frozen=True)
class Endpoint:
    """Where requests go. ``timeout`` is seconds without a byte; ``retries`` counts attempts after the
    first. ``direct`` passes by the proxies of the environment, as for a server of this very process."""

    base_url: str
    api_key: SecretStr | None = None
    timeout: float = 60.0
    retries: int = 6
    direct: bool = False
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
            raise ConfigurationError(
                "the base url of an endpoint must look like https://host/v1, without a user or password"
            )

    @property
    def host(self) -> str:
        """Host and port, for messages."""
        return urlsplit(self.base_url).netloc

    def post(
        self, path: str, body: Mapping[str, Any], before: Callable[[], None] | None = None
    ) -> dict[str, Any]:
        """Send ``body`` and return the JSON object that comes back.

        Rate limiting (429), server errors, timeouts and broken connections are tried again: after the time
        the endpoint asks for (Retry-After, up to a minute), else after 0.5 s, 1 s, 2 s ... up to a minute,
        times a random factor of 0.5 to 1. ``before`` is called before every attempt. Raises EndpointError.
        """
        return self._retried(lambda: self._answer(path, body), before)

    def stream(self, path: str, body: Mapping[str, Any], before: Callable[[], None] | None = None) -> Objects:
        """Send ``body`` and return the JSON objects of the events that come back, as they come.

        Until the first one failures are tried again as by :meth:`post`; later ones are final, since what has been read
        cannot be taken back. An endpoint that does not stream gives its one object. Closing the generator hangs up.
        Raises EndpointError, here or while it is read.
        """
        return self._retried(lambda: self._begun(path, body), before)

    def _retried(self, attempt: Callable[[], T], before: Callable[[], None] | None) -> T:
        attempts = 0
        while True:
            if before is not None:
                before()
            try:
                return attempt()
            except FailedError as error:
                failure = error.failure
                attempts += 1
                if failure.final or attempts > self.retries:
                    tried = "" if failure.final else f" ({attempts} attempts)"
                    raise EndpointError(failure.message + tried, failure.status, failure.parameter) from error
            wait = failure.wait
            if wait is None:
                longest = min(_FIRST_WAIT * 2 ** (attempts - 1), LONGEST_WAIT)
                wait = longest * random.uniform(0.5, 1.0)  # noqa: S311 - so that clients do not march in step
            _log.info("%s: trying again in %.1f s", failure.message, wait)
            self.sleep(wait)

    def _answer(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        with closing(self._objects(path, body, streamed=False)) as objects:
            return next(objects)

    def _begun(self, path: str, body: Mapping[str, Any]) -> Objects:
        """The objects of a stream, of which the first has come."""
        objects = self._objects(path, body, streamed=True)
        try:
            first = next(objects)
        except StopIteration:
            raise FailedError(Failure(f"{self.host} ended its answer before it began", False)) from None
        return self._going_on(first, objects)

    def _going_on(self, first: dict[str, Any], objects: Objects) -> Objects:
        with closing(objects):
            yield first
            try:
                yield from objects
            except FailedError as error:
                failure = error.failure
                raise EndpointError(
                    f"{failure.message}, in the middle of an answer", failure.status
                ) from error

    def _objects(self, path: str, body: Mapping[str, Any], streamed: bool) -> Objects:
        """What one attempt gives. Raises FailedError."""
        try:
            with requests.post(
                f"{self.base_url.rstrip('/')}/{path}",
                json=body,
                auth=_Bearer(self.api_key),
                timeout=self.timeout,
                stream=True,
                allow_redirects=False,  # a redirected POST becomes a GET, or takes the texts elsewhere
                proxies={"no_proxy": urlsplit(self.base_url).hostname or ""} if self.direct else None,
            ) as response:
                events = response.headers.get("Content-Type", "").startswith("text/event-stream")
                if streamed and events and response.status_code == requests.codes.ok:
                    for data in event_data(self._pieces(response, waiting=False)):
                        if data == _END_OF_STREAM:
                            return
                        yield self._checked(response, data)
                else:
                    yield self._checked(response, b"".join(self._pieces(response, waiting=True)))
        except requests.RequestException as error:
            raise FailedError(unreachable(self.host, self.timeout, error)) from error

    def _checked(self, response: requests.Response, content: bytes) -> dict[str, Any]:
        value = _object(content)
        if response.status_code != requests.codes.ok or (value or {}).get("error") is not None:
            secret = "" if self.api_key is None else self.api_key.get_secret_value()
            raise FailedError(refusal(self.host, secret, response, value))
        if value is None:
            raise FailedError(Failure(f"{self.host} answered with something that is not a JSON object", True))
        return value

    def _pieces(self, response: requests.Response, waiting: bool) -> Iterator[bytes]:
        """The body, piece by piece; not ``waiting`` for more than has arrived."""
        # Chunks come as they were sent. Where a body has none, only single bytes are sure not to wait for the next event.
        chunked = response.headers.get("Transfer-Encoding", "").lower() == "chunked"
        size = 0
        for piece in response.iter_content(_PIECE if waiting else None if chunked else 1):
            size += len(piece)
            if size > _MOST_BYTES:
                raise FailedError(
                    Failure(f"{self.host} answered with more than {_MOST_BYTES >> 20} MiB", True)
                )
            yield piece


def _object(content: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
