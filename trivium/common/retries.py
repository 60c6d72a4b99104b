"""Requests that are tried again: how often, and after which delays; and how far apart requests are."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from itertools import count
from typing import TypeVar

FIRST_WAIT = 0.5

_log = logging.getLogger(__name__)

T = TypeVar("T")


class PassingError(Exception):
    """An attempt failed, and a retry may succeed. ``wait`` is the delay requested by the server, in seconds;
    ``attempts`` is how many there were when :func:`retried` gave up.
    """

    attempts = 1

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


def retried(
    attempt: Callable[[], T],
    retries: int,
    wait: Callable[[PassingError, int], float],
    *,
    sleep: Callable[[float], None] = time.sleep,
    again: Callable[[PassingError, int], bool] = lambda *_: True,
) -> T:
    """Return the result of the first attempt that raises no PassingError, or raise the last one after so many
    ``retries``, or where ``again`` says no. ``wait`` gives the seconds until the next attempt. Both are called with the
    error and the number of attempts so far.
    """
    for number in count(1):
        try:
            return attempt()
        except PassingError as error:
            error.attempts = number
            if number > retries or not again(error, number):
                raise
            seconds = wait(error, number)
            _log.info("%s: trying again in %.1f s", error, seconds)
        sleep(seconds)
    raise AssertionError("counting has no end")


def wait_between(longest: float) -> Callable[[PassingError, int], float]:
    """Return the delays for :func:`retried`: what the server asks for, else 0.5 s, 1 s, 2 s ... times a random factor of
    0.5 to 1, so that many clients do not retry simultaneously. Never more than ``longest`` seconds.
    """

    def wait(error: PassingError, number: int) -> float:
        if error.wait is not None:
            return min(error.wait, longest)
        growing = min(FIRST_WAIT * 2.0 ** (number - 1), longest)
        return growing * random.uniform(0.5, 1.0)  # noqa: S311 - nothing secret

    return wait


class Pace:
    """Keeps requests to a service at least ``interval`` seconds apart. For one thread."""

    def __init__(
        self,
        interval: float,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._interval, self._sleep, self._clock = interval, sleep, clock
        self._next = clock()

    def postpone(self, seconds: float) -> None:
        """Delay the next request, whatever for, by this time."""
        self._next = max(self._next, self._clock() + seconds)

    def wait(self) -> None:
        """Wait until the next request may be sent."""
        wait = self._next - self._clock()
        if wait > 0:
            self._sleep(wait)
        self._next = self._clock() + self._interval


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
