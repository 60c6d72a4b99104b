"""Work that ends when nobody waits for it any more.

Whoever starts work puts a :class:`Stop` in force around it and asks it when the result is no longer wanted. The work
looks from time to time (:func:`check`), and what it waits for is ended at once (:func:`sleep`, :func:`calling`). The stop
travels in a context variable, so that it reaches a model's endpoint through all that lies between."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

_in_force: ContextVar[Stop | None] = ContextVar("stop", default=None)


class StoppedError(Exception):
    """Nobody waits for this work any more. Not a TriviumError: who makes up for failures must not make up for this."""


class Stop:
    """Ends work in another thread. Thread-safe."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._lock = threading.Lock()
        self._calls: dict[object, Callable[[], object]] = {}

    @property
    def asked(self) -> bool:
        """Whether the work is to end."""
        return self._asked.is_set()

    def ask(self) -> None:
        """Have the work end. What it waits for is told from this thread."""
        with self._lock:
            calls = [] if self._asked.is_set() else list(self._calls.values())
            self._asked.set()
        for call in calls:
            call()

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """The work: all that is done in this block, and in contexts copied from it."""
        before = _in_force.set(self)
        try:
            yield
        finally:
            _in_force.reset(before)

    @contextmanager
    def calling(self, end: Callable[[], object]) -> Iterator[None]:
        """Have ``end`` called, once, if the stop is asked before the block ends. It must be quick and must not raise."""
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
        """Wait for so long, or until the stop is asked."""
        self._asked.wait(seconds)


def check() -> None:
    """Raises StoppedError where the stop in force has been asked."""
    stop = _in_force.get()
    if stop is not None and stop.asked:
        raise StoppedError


def sleep(seconds: float) -> None:
    """As :func:`time.sleep`. Raises StoppedError as soon as the stop in force is asked."""
    stop = _in_force.get()
    if stop is None:
        time.sleep(seconds)
        return
    stop.wait(seconds)
    check()


@contextmanager
def calling(end: Callable[[], object]) -> Iterator[None]:
    """:meth:`Stop.calling` of the stop in force; without one ``end`` is never called."""
    stop = _in_force.get()
    if stop is None:
        yield
        return
    with stop.calling(end):
        yield


async def in_thread(work: Callable[[], T]) -> T:
    """As :func:`asyncio.to_thread`; where the caller is cancelled, the work is asked to stop."""
    stop = Stop()

    def stoppable() -> T:
        with stop.in_force():
            return work()

    try:
        return await asyncio.to_thread(stoppable)
    finally:
        stop.ask()
