"""Threads for work that keeps a processor busy, with a queue of limited length."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from trivium.common.stopping import Stop

T = TypeVar("T")


class PoolFullError(Exception):
    """All threads are busy and the queue is full: nothing was begun."""


class Pool:
    """``workers`` threads with a queue of ``queue`` places. Belongs to one event loop, and is asked from there only."""

    def __init__(self, name: str, workers: int, queue: int) -> None:
        self.name = name
        self.workers = workers
        self._places = workers + queue
        self._taken = 0
        self._stops: set[Stop] = set()
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix=name)

    @property
    def taken(self) -> int:
        """Places taken, running and waiting."""
        return self._taken

    async def run(self, work: Callable[[], T]) -> T:
        """What ``work`` returns, done in a thread. Cancelled before a thread took it up, it is never done; afterwards it
        is asked to stop (:mod:`trivium.common.stopping`), and keeps its place till it does. Raises PoolFullError."""
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
        """Raises PoolFullError where there is no place left."""
        if self._taken >= self._places:
            raise PoolFullError(self.name)

    def close(self) -> None:
        """Drop what waits, stop what runs, and wait for its end."""
        for stop in tuple(self._stops):
            stop.ask()
        self._threads.shutdown(wait=True, cancel_futures=True)


def _call_soon(loop: asyncio.AbstractEventLoop, callback: Callable[[], Any]) -> None:
    try:
        loop.call_soon_threadsafe(callback)
    except RuntimeError:
        return  # the loop has ended
