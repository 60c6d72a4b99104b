"""A thread pool for CPU-bound work with a bounded queue."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from trivium.common.stopping import Stop

T = TypeVar("T")


class PoolFullError(Exception):
    """All threads are busy and the queue is full. Nothing was started."""


class Pool:
    """``workers`` threads with a queue of ``queue`` places. It belongs to one event loop and must only be used from
    there.
    """

    def __init__(self, name: str, workers: int, queue: int) -> None:
        self.name = name
        self._places = workers + queue
        self._taken = 0
        self._stops: set[Stop] = set()
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix=name)

    @property
    def taken(self) -> int:
        """Number of places taken by running and waiting work."""
        return self._taken

    async def run(self, work: Callable[[], T]) -> T:
        """Run ``work`` in a thread and return its result. If cancelled before a thread has started it, it never runs;
        later it is asked to stop (:mod:`trivium.common.stopping`) and keeps its place until it does. Raises
        PoolFullError.
        """
        self.check()
        loop = asyncio.get_running_loop()
        self._taken += 1
        stop = Stop()
        self._stops.add(stop)

        def leave() -> None:
            self._taken -= 1
            self._stops.discard(stop)

        def stoppable() -> T:
            with stop.in_force():
                return work()

        # The context carries the request's id and span into the thread.
        future = self._threads.submit(copy_context().run, stoppable)
        future.add_done_callback(lambda _: _call_soon(loop, leave))
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            stop.ask()
            raise

    def check(self) -> None:
        """Raise PoolFullError if no place is free."""
        if self._taken >= self._places:
            raise PoolFullError(self.name)

    def close(self) -> None:
        """Drop waiting work, stop running work, and wait for its end."""
        for stop in tuple(self._stops):
            stop.ask()
        self._threads.shutdown(wait=True, cancel_futures=True)


def _call_soon(loop: asyncio.AbstractEventLoop, callback: Callable[[], Any]) -> None:
    try:
        loop.call_soon_threadsafe(callback)
    except RuntimeError:
        return  # the loop has ended
