"""An OpenAI-compatible endpoint over HTTP: JSON out, JSON in, with retries.

The chat model and the OpenAI embedder stand on it. Keys travel in the Authorization header only; they are in
no repr and no message, even when a server repeats them. Answers are read up to a bound."""

from __future__ import annotations

import json
import logging
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import requests
from pydantic import SecretStr

from trivium.errors import ConfigurationError, TriviumError

_RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_FIRST_WAIT = 0.5
_LONGEST_WAIT = 60.0
_MOST_BYTES = 256 << 20
_MOST_ERROR_CHARACTERS = 300
_PIECE = 1 << 16

_log = logging.getLogger(__name__)


class EndpointError(TriviumError):
    """A request failed for good. Adapters translate it into the error of their seam.

    ``status`` is the HTTP status, None when there was no answer; ``parameter`` names the parameter of the
    request that the endpoint objects to, where it says so."""

    def __init__(self, message: str, status: int | None = None, parameter: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.parameter = parameter


@dataclass(frozen=True, slots=True)
class _Failure:
    """An attempt that failed. ``wait`` is what the endpoint asked for (seconds); ``final``: do not try
    again."""

    message: str
    final: bool
    status: int | None = None
    parameter: str | None = None
    wait: float | None = None


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
    first."""

    base_url: str
    api_key: SecretStr | None = None
    timeout: float = 60.0
    retries: int = 6
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
        attempts = 0
        while True:
            if before is not None:
                before()
            result = self._attempt(path, body)
            if not isinstance(result, _Failure):
                return result
            attempts += 1
            if result.final or attempts > self.retries:
                tried = "" if result.final else f" ({attempts} attempts)"
                raise EndpointError(result.message + tried, result.status, result.parameter)
            wait = result.wait
            if wait is None:
                longest = min(_FIRST_WAIT * 2 ** (attempts - 1), _LONGEST_WAIT)
                wait = longest * random.uniform(0.5, 1.0)  # noqa: S311 - so that clients do not march in step
            _log.info("%s: trying again in %.1f s", result.message, wait)
            self.sleep(wait)

    def _attempt(self, path: str, body: Mapping[str, Any]) -> dict[str, Any] | _Failure:
        try:
            with requests.post(
                f"{self.base_url.rstrip('/')}/{path}",
                json=body,
                auth=_Bearer(self.api_key),
                timeout=self.timeout,
                stream=True,
                allow_redirects=False,  # a redirected POST becomes a GET, or takes the texts elsewhere
            ) as response:
                content = bytearray()
                for piece in response.iter_content(_PIECE):
                    content += piece
                    if len(content) > _MOST_BYTES:
                        return _Failure(f"{self.host} answered with more than {_MOST_BYTES >> 20} MiB", True)
        except requests.Timeout:
            return _Failure(f"{self.host} did not answer within {self.timeout:g} s", False)
        except requests.RequestException as error:
            return _Failure(f"{self.host} cannot be reached or hung up ({type(error).__name__})", False)
        answer = _object(bytes(content))
        if response.status_code != requests.codes.ok:
            return self._refusal(response, answer)
        if answer is None:
            return _Failure(f"{self.host} answered with something that is not a JSON object", True)
        return answer

    def _refusal(self, response: requests.Response, answer: dict[str, Any] | None) -> _Failure:
        fault = (answer or {}).get("error")
        fault = fault if isinstance(fault, dict) else {"message": fault}
        said = str(fault.get("message") or response.reason or "no reason given")
        said = " ".join("".join(c if c.isprintable() else " " for c in said).split())
        if self.api_key is not None and self.api_key.get_secret_value():
            said = said.replace(self.api_key.get_secret_value(), "***")
        status = response.status_code
        message = f"{self.host} answered {status}: {said[:_MOST_ERROR_CHARACTERS]}"
        if status in (401, 403):
            message += " (check the API key)"
        # An exhausted quota is a 429 as well, but waiting does not refill it.
        final = status not in _RETRIED or fault.get("code") == "insufficient_quota"
        parameter = fault.get("param")
        return _Failure(
            message,
            final,
            status,
            parameter if isinstance(parameter, str) else None,
            _retry_after(response.headers.get("Retry-After")),
        )


def _object(content: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _retry_after(header: str | None) -> float | None:
    """Seconds from a Retry-After header, which gives seconds or a date; None when it makes no sense."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    # Not a number compares false.
    return min(max(seconds, 0.0), _LONGEST_WAIT) if seconds == seconds else None
