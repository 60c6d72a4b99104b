"""Thread-safe memoisation."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

T = TypeVar("T")


class Memo:
    """Answers by key, each computed once. Thread-safe.

    A search asks dozens of times and rarely waits: one lock for all keys, and a condition only once a thread has to
    wait, are cheaper than a future for each.
    """

    def __init__(self) -> None:
        self._made: dict[Hashable, Any] = {}
        self._failed: dict[Hashable, BaseException] = {}
        self._going: set[Hashable] = set()
        self._lock = threading.Lock()
        self._changed: threading.Condition | None = None
        """Notified when an answer has been computed; made by the first thread that waits."""

    def of(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result of ``make``, called once per key by the first thread that asks; others wait for it. If it
        raises, everyone who asks for the key gets that error.
        """
        made = self._made.get(key, self)  # the common case
        if made is not self:
            return cast(T, made)
        with self._lock:
            while key in self._going:
                self._changed = self._changed or threading.Condition(self._lock)
                self._changed.wait()
            if key in self._failed:
                raise self._failed[key]
            if key in self._made:
                return cast(T, self._made[key])
            self._going.add(key)
        try:
            answer = make()
        except BaseException as error:
            self._end(self._failed, key, error)
            raise
        self._end(self._made, key, answer)
        return answer

    def _end(self, outcomes: dict[Hashable, Any], key: Hashable, outcome: object) -> None:
        with self._lock:
            outcomes[key] = outcome
            self._going.discard(key)
            if self._changed is not None:
                self._changed.notify_all()
