"""How often one client may ask."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

_CLIENTS = 10_000
"""Clients remembered; one that has not asked for long is as good as new."""


class Rates:
    """A bucket of tokens for each client: ``per_minute`` of them flow in evenly, and as many can be saved up. For one
    thread."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = float(per_minute)
        self._a_second = per_minute / 60
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str) -> float:
        """Take a token: 0, or the seconds until there is one."""
        now = self._clock()
        tokens, since = self._buckets.pop(client, (self._most, now))
        tokens = min(self._most, tokens + (now - since) * self._a_second)
        allowed = tokens >= 1
        self._buckets[client] = (tokens - 1 if allowed else tokens, now)
        if len(self._buckets) > _CLIENTS:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - tokens) / self._a_second
