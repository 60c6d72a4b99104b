"""Cooperative cancellation of work whose result is no longer needed.

The caller puts a :class:`Stop` in force around the work and requests it when the result is not needed anymore. The work
checks it from time to time (:func:`check`), and waiting calls are ended immediately (:func:`sleep`, :func:`calling`).
The stop is a context variable, so it reaches a model's endpoint through all layers in between.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

_LOOK_SECONDS = 0.1
"""How often to look for a stop while waiting for a lock, which nothing can end."""

_in_force: ContextVar[Stop | None] = ContextVar("stop", default=None)


class StoppedError(Exception):
    """The result of this work is no longer needed. Not a TriviumError, because code that recovers from failures must
    not recover from this.
    """


class Stop:
    """Stops work in another thread. Thread-safe."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._lock = threading.Lock()
        self._calls: dict[object, Callable[[], object]] = {}

    @property
    def asked(self) -> bool:
        """Whether the stop has been requested."""
        return self._asked.is_set()

    def ask(self) -> None:
        """Request the stop. Waiting calls are ended from this thread."""
        with self._lock:
            calls = [] if self._asked.is_set() else list(self._calls.values())
            self._asked.set()
        for call in calls:
            call()

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Put the stop in force for all work in this block, and in contexts copied from it."""
        before = _in_force.set(self)
        try:
            yield
        finally:
            _in_force.reset(before)

    @contextmanager
    def calling(self, end: Callable[[], object]) -> Iterator[None]:
        """Call ``end`` once if the stop is requested before the block ends. It must be quick and must not raise."""
        key = object()
        with self._lock:
            self._calls[key] = end
            asked = self._asked.is_set()
        try:
            if asked:
                end()
            yield
        finally:
            with self._lock:
                del self._calls[key]

    def wait(self, seconds: float) -> None:
        """Wait until the stop is requested, at most ``seconds``."""
        self._asked.wait(seconds)


def check() -> None:
    """Raise StoppedError if the stop in force has been requested."""
    stop = _in_force.get()
    if stop is not None and stop.asked:
        raise StoppedError


def each(items: Iterable[T], every: int = 256) -> Iterator[T]:
    """Iterate over items, and :func:`check` before the first of them and of every ``every`` further ones.

    >>> sum(each([1, 2, 3]))
    6
    """
    for number, item in enumerate(items):
        if number % every == 0:
            check()
        yield item


def sleep(seconds: float) -> None:
    """Like :func:`time.sleep`. Raises StoppedError as soon as the stop in force is requested."""
    stop = _in_force.get()
    if stop is None:
        time.sleep(seconds)
        return
    stop.wait(seconds)
    check()


@contextmanager
def holding(lock: threading.Lock) -> Iterator[None]:
    """Hold a lock in this block. Raises StoppedError soon after the stop in force is requested while it waits."""
    if _in_force.get() is None:
        with lock:
            yield
        return
    while not lock.acquire(timeout=_LOOK_SECONDS):
        check()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def calling(end: Callable[[], object]) -> Iterator[None]:
    """Like :meth:`Stop.calling` of the stop in force; without one ``end`` is never called."""
    stop = _in_force.get()
    if stop is None:
        yield
        return
    with stop.calling(end):
        yield


async def in_thread(work: Callable[[], T]) -> T:
    """Like :func:`asyncio.to_thread`. If the caller is cancelled, the work is asked to stop."""
    stop = Stop()

    def stoppable() -> T:
        with stop.in_force():
            return work()

    try:
        return await asyncio.to_thread(stoppable)
    finally:
        stop.ask()


async def iterated(begin: Callable[[], Generator[T, None, None]]) -> AsyncGenerator[T, None]:
    """Iterate in a thread over what ``begin`` returns there. If the caller stops early, the work is asked to stop, and
    the generator is closed there.
    """
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[tuple[T] | None] = asyncio.Queue()

    def work() -> None:
        with closing(begin()) as items:
            for item in items:
                check()
                loop.call_soon_threadsafe(arrived.put_nowait, (item,))

    working = asyncio.ensure_future(in_thread(work))
    working.add_done_callback(lambda _: arrived.put_nowait(None))
    try:
        while (item := await arrived.get()) is not None:
            yield item[0]
        await working  # raises what it has raised
    finally:
        working.cancel()
