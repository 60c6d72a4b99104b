"""Threads for work that keeps a processor busy, with a queue of limited length."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

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
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix=name)

    @property
    def taken(self) -> int:
        """Places taken, running and waiting."""
        return self._taken

    async def run(self, work: Callable[[], T]) -> T:
        """What ``work`` returns, done in a thread. Cancelled before a thread took it up, it is never done; afterwards
        it is done to its end, and keeps its place till then. Raises PoolFullError."""
        self.check()
        loop = asyncio.get_running_loop()
        self._taken += 1
        # The context carries the request's id and span into the thread.
        future = self._threads.submit(copy_context().run, work)
        future.add_done_callback(lambda _: _call_soon(loop, self._leave))
        return await asyncio.wrap_future(future)

    def check(self) -> None:
        """Raises PoolFullError where there is no place left."""
        if self._taken >= self._places:
            raise PoolFullError(self.name)

    def close(self) -> None:
        """Drop what waits, and wait for what runs."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _leave(self) -> None:
        self._taken -= 1


def _call_soon(loop: asyncio.AbstractEventLoop, callback: Callable[[], Any]) -> None:
    try:
        loop.call_soon_threadsafe(callback)
    except RuntimeError:
        return  # the loop has ended
