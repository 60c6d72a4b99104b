"""What went wrong with a request, and whether it is worth another try."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import requests
from urllib3.exceptions import TimeoutError

LONGEST_WAIT = 60.0
_RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_MOST_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Failure:
    """An attempt that failed. ``wait`` is what the endpoint asked for (seconds); ``final``: do not try
    again. ``parameter`` is what of the request it objects to, where it says so."""

    message: str
    final: bool
    status: int | None = None
    parameter: str | None = None
    wait: float | None = None


class FailedError(Exception):
    """Carries a failure to whoever decides whether to try again."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def unreachable(host: str, timeout: float, error: requests.RequestException) -> Failure:
    """A connection that failed or broke."""
    # A pause in the middle of a body comes as a connection error around urllib3's own.
    inner = error.args[0] if error.args else None
    if isinstance(error, requests.Timeout) or isinstance(inner, TimeoutError):
        return Failure(f"{host} did not answer within {timeout:g} s", False)
    return Failure(f"{host} cannot be reached or hung up ({type(error).__name__})", False)


def refusal(host: str, secret: str, response: requests.Response, answer: Mapping[str, Any] | None) -> Failure:
    """An answer that is an error. ``secret`` is kept out of the message."""
    fault = (answer or {}).get("error")
    fault = fault if isinstance(fault, dict) else {"message": fault}
    said = str(fault.get("message") or response.reason or "no reason given")
    said = " ".join("".join(c if c.isprintable() else " " for c in said).split())
    if secret:
        said = said.replace(secret, "***")
    status = response.status_code
    # A stream that has begun well can still end in an error.
    how = f"answered {status}" if status != requests.codes.ok else "broke off"
    message = f"{host} {how}: {said[:_MOST_CHARACTERS]}"
    if status in (401, 403):
        message += " (check the API key)"
    # An exhausted quota is a 429 as well, but waiting does not refill it.
    final = status not in _RETRIED or fault.get("code") == "insufficient_quota"
    parameter = fault.get("param")
    return Failure(
        message,
        final,
        status,
        parameter if isinstance(parameter, str) else None,
        _retry_after(response.headers.get("Retry-After")),
    )


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
    return min(max(seconds, 0.0), LONGEST_WAIT) if seconds == seconds else None
