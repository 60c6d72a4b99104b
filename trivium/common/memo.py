"""Thread-safe memoisation."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

T = TypeVar("T")


class Memo:
    """Answers by key, each computed once. Thread-safe.

    A search asks dozens of times and rarely waits: one lock and one condition for all keys are cheaper than a future
    for each.
    """

    def __init__(self) -> None:
        self._made: dict[Hashable, Any] = {}
        self._failed: dict[Hashable, BaseException] = {}
        self._going: set[Hashable] = set()
        self._changed = threading.Condition(threading.Lock())

    def of(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result of ``make``, called once per key by the first thread that asks; others wait for it. If it
        raises, everyone who asks for the key gets that error.
        """
        made = self._made.get(key, self)  # the common case
        if made is not self:
            return cast(T, made)
        with self._changed:
            while key in self._going:
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
        with self._changed:
            outcomes[key] = outcome
            self._going.discard(key)
            self._changed.notify_all()
