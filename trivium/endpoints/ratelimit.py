"""Limits the rate of requests per minute."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from trivium.common import stopping

_WINDOW = 60.0


class MinuteLimit:
    """Admits at most ``limit`` units (requests or tokens) in any 60 seconds. Thread-safe.

    Uses a sliding window because a full token bucket would admit twice the limit in its first minute.
    """

    def __init__(
        self,
        limit: int,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = stopping.sleep,
    ) -> None:
        self._limit = limit
        self._clock = clock
        self._sleep = sleep
        self._taken: deque[tuple[float, int]] = deque()
        self._sum = 0
        self._lock = threading.Lock()

    def take(self, amount: int) -> None:
        """Wait until ``amount`` fits. An amount above the limit counts as the limit."""
        amount = min(amount, self._limit)
        while (wait := self._reserve(amount)) > 0:
            self._sleep(wait)

    def _reserve(self, amount: int) -> float:
        """Reserve the amount and return 0, or return the seconds after which to retry."""
        with self._lock:
            now = self._clock()
            while self._taken and self._taken[0][0] <= now - _WINDOW:
                self._sum -= self._taken.popleft()[1]
            if self._sum + amount <= self._limit:
                self._taken.append((now, amount))
                self._sum += amount
                return 0.0
            return max(self._taken[0][0] + _WINDOW - now, 1e-3)
