"""What was worked out before: values kept in memory, and answers that several threads want at the same time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """The values used last, at most ``capacity`` of them, all of one state of what they come from. Any number of threads
    may use it."""

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"capacity must be at least 1, got {capacity}")
        self._capacity = capacity
        self._lock = threading.Lock()
        self._state: Hashable = None
        self._values: OrderedDict[K, V] = OrderedDict()

    def find(self, state: Hashable, keys: Iterable[K]) -> dict[K, V]:
        """Those of the keys that are known, with their values."""
        found: dict[K, V] = {}
        with self._lock:
            if state != self._state:
                return found
            for key in keys:
                if key in self._values:
                    self._values.move_to_end(key)
                    found[key] = self._values[key]
        return found

    def put(self, state: Hashable, values: Mapping[K, V]) -> None:
        """Keep what was read after ``state`` was seen. Values of another state are dropped."""
        with self._lock:
            if state != self._state:
                self._values.clear()
                self._state = state
            for key, value in values.items():
                self._values[key] = value
                self._values.move_to_end(key)
            while len(self._values) > self._capacity:
                self._values.popitem(last=False)

    def clear(self) -> None:
        """Drop everything."""
        with self._lock:
            self._values.clear()
            self._state = None


class SingleFlight(Generic[K, V]):
    """Answers that several threads want at the same time: one thread works them out, the others wait for it. The last
    ``capacity`` answers are kept (None: all). Any number of threads may use it.

    Should the work fail, those who wait get the same error, and the next one to ask tries again.
    """

    def __init__(self, capacity: int | None = None) -> None:
        if capacity is not None and capacity < 1:
            raise ValueError(f"capacity must be at least 1, got {capacity}")
        self._capacity = capacity
        self._lock = threading.Lock()
        self._answers: OrderedDict[K, Future[V]] = OrderedDict()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The answer to one key, worked out by ``make`` if nobody has done so yet.

        >>> SingleFlight().get("key", lambda: 1)
        1
        """
        with self._lock:
            answer = self._answers.get(key)
        if answer is None:
            with self.claim([key]) as ((answer,), mine):
                if mine:
                    answer.set_result(make())
        return answer.result()

    @contextmanager
    def claim(self, keys: Sequence[K]) -> Iterator[tuple[list[Future[V]], dict[K, Future[V]]]]:
        """The answers to distinct keys, in their order, and those of them that no other thread works on. The caller
        must set the results of the latter within the block, before it waits for the others. If the block raises,
        threads that wait for them get the same error, and the keys can be claimed again."""
        with self._lock:
            mine: dict[K, Future[V]] = {key: Future() for key in keys if key not in self._answers}
            self._answers |= mine
            answers = [self._answers[key] for key in keys]
            while self._capacity is not None and len(self._answers) > self._capacity:
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
