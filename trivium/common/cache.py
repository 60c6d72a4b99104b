"""Values that are computed once, or kept while there is room."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, Generic, TypeVar, cast

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """A thread-safe LRU cache of at most ``capacity`` values, all derived from the same state. With ``size`` (of a key
    and its value) the capacity limits the sum of these sizes instead.
    """

    def __init__(self, capacity: int, size: Callable[[K, V], int] | None = None) -> None:
        if capacity < 1:
            raise ValueError(f"capacity must be at least 1, got {capacity}")
        self._capacity = capacity
        self._size = size
        self._taken = 0
        self._lock = threading.Lock()
        self._state: Hashable = None
        self._values: OrderedDict[K, V] = OrderedDict()

    def find(self, state: Hashable, keys: Iterable[K]) -> dict[K, V]:
        """Return the cached values among the keys."""
        found: dict[K, V] = {}
        with self._lock:
            if state != self._state:
                return found
            for key in keys:
                if key in self._values:
                    self._values.move_to_end(key)
                    found[key] = self._values[key]
        return found

    def all_keys(self) -> list[K]:
        """Return the keys of the cached values, those used last at the end."""
        with self._lock:
            return list(self._values)

    def put(self, state: Hashable, values: Mapping[K, V]) -> None:
        """Cache values derived from ``state``. Values of another state are dropped."""
        with self._lock:
            if state != self._state:
                self._drop_all(state)
            for key, value in values.items():
                if key in self._values:
                    self._taken -= self._size_of(key, self._values.pop(key))
                self._values[key] = value
                self._taken += self._size_of(key, value)
            while self._taken > self._capacity:
                self._taken -= self._size_of(*self._values.popitem(last=False))

    def clear(self) -> None:
        """Drop all values."""
        with self._lock:
            self._drop_all(None)

    @property
    def taken(self) -> int:
        """How much of the capacity is taken."""
        return self._taken

    def _drop_all(self, state: Hashable) -> None:
        self._values.clear()
        self._state, self._taken = state, 0

    def _size_of(self, key: K, value: V) -> int:
        return 1 if self._size is None else self._size(key, value)


class SingleFlight(Generic[K, V]):
    """Computes each answer once: if several threads need it at the same time, one computes it and the others wait. The
    last ``capacity`` answers are kept (None: all). Thread-safe.

    If the computation fails, waiting threads get the same error, and the next request tries again.
    """

    def __init__(self, capacity: int | None = None) -> None:
        if capacity is not None and capacity < 1:
            raise ValueError(f"capacity must be at least 1, got {capacity}")
        self._capacity = capacity
        self._lock = threading.Lock()
        self._answers: OrderedDict[K, Future[V]] = OrderedDict()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return the answer for a key, computed by ``make`` if nobody has done so yet.

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
        """Yield the answers for distinct keys, in order, and those of them that no other thread is computing. The
        caller must set the results of the latter within the block, before it waits for the others. If the block raises,
        waiting threads get the same error, and the keys can be claimed again.
        """
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
