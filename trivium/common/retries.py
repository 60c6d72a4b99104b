"""Delays before a request is retried: as requested by the server, else with exponential backoff. The retry loops are
tenacity's.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime

from tenacity import RetryCallState, wait_exponential

FIRST_WAIT = 0.5


class PassingError(Exception):
    """An attempt failed, and a retry may succeed. ``wait`` is the delay requested by the server, in seconds."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


def wait_between(longest: float) -> Callable[[RetryCallState], float]:
    """Return the wait function for tenacity after a PassingError: the delay requested by the server, else 0.5 s, 1 s, 2
    s ... times a random factor of 0.5 to 1, so that many clients do not retry simultaneously. Never more than
    ``longest`` seconds.
    """
    growing = wait_exponential(multiplier=FIRST_WAIT, max=longest)

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome is not None else None
        if isinstance(error, PassingError) and error.wait is not None:
            return min(error.wait, longest)
        return growing(state) * random.uniform(0.5, 1.0)  # noqa: S311 - nothing secret

    return wait


def retry_after(header: str | None) -> float | None:
    """Parse a ``Retry-After`` header, which contains seconds or a date, to seconds (0 for a date in the past). None if
    it is missing or invalid.

    >>> retry_after("7"), retry_after("-3"), retry_after("soon"), retry_after(None)
    (7.0, None, None, None)
    """
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            return max(parsedate_to_datetime(header).timestamp() - time.time(), 0.0)
        except (ValueError, TypeError, OverflowError):
            return None
    return seconds if seconds >= 0 else None  # also rejects NaN
