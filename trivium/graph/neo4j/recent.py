"""Answers that several threads want at the same time: one of them asks, the others wait for it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """The last answers, there or under way. Any number of threads may use it."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._lock = threading.Lock()
        self._answers: OrderedDict[K, Future[V]] = OrderedDict()

    @contextmanager
    def claim(self, keys: Sequence[K]) -> Iterator[tuple[list[Future[V]], dict[K, Future[V]]]]:
        """The answers to distinct keys, in their order, and those of them that nobody works on yet: the caller gives
        these their results within the block, before it waits for others. Should it fail, those who wait fail with
        it, and the keys are free again."""
        with self._lock:
            mine: dict[K, Future[V]] = {key: Future() for key in keys if key not in self._answers}
            self._answers |= mine
            answers = [self._answers[key] for key in keys]
            while len(self._answers) > self._capacity:
                self._answers.popitem(last=False)
        try:
            yield answers, mine
        except BaseException as error:
            with self._lock:
                for key, future in mine.items():
                    if self._answers.get(key) is future and not future.done():
                        del self._answers[key]
            for future in mine.values():
                if not future.done():
                    future.set_exception(error)
            raise
