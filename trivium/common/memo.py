"""What is made once, whoever asks for it and from which thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any, TypeVar, cast

T = TypeVar("T")


class Memo:
    """Answers by key. Any number of threads may use it."""

    def __init__(self) -> None:
        self._made: dict[Hashable, Any] = {}
        self._answers: dict[Hashable, Future[Any]] = {}
        self._lock = threading.Lock()

    def of(self, key: Hashable, make: Callable[[], T]) -> T:
        """What ``make`` answers, made once per key by the first that asks; who asks meanwhile waits for it. Where it
        raises, all that ask for the key get that error."""
        made = self._made.get(key, self)  # most who ask come later
        if made is not self:
            return cast(T, made)
        with self._lock:
            answer = self._answers.get(key)
            mine = answer is None
            if answer is None:
                answer = self._answers[key] = Future()
        if mine:
            try:
                made = self._made[key] = make()
            except BaseException as error:
                answer.set_exception(error)
                raise
            answer.set_result(made)
            return made
        return cast(T, answer.result())
