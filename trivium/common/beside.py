"""Work that a second processor does meanwhile, where there is one and it is idle.

Python runs one thread at a time, but what takes most of a search does not hold its lock: the embedder, compiled loops
and the vector index. A thread that has begun such work elsewhere goes on with what does not depend on it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from threading import BoundedSemaphore
from types import TracebackType
from typing import Any, Self


class Beside:
    """A context manager around work of which other threads do some. When it is left they have ended, also where an error
    leaves it, so that none goes on with what has been closed. Their errors are kept for whoever asks for what they
    were to make."""

    def __init__(self) -> None:
        self._begun: list[Future[Any]] = []

    def begin(self, work: Callable[[], object]) -> bool:
        """Have an idle thread do ``work``, in a copy of this context. False, and nothing is begun, where none is idle:
        who needs the outcome makes it then. ``work`` must not wait for anything that begins later."""
        doing = _HELPERS.begin(work)
        if doing is not None:
            self._begun.append(doing)
        return doing is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        wait(self._begun)


def available_cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def end_threads() -> None:
    """End the threads, which wait for work; the next one starts others. For who wants to fork this process."""
    _HELPERS.end()


class _Helpers:
    """One thread for every core but that of the thread that asks; more would only wait for each other."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew, as in a forked process, which has none of the threads."""
        count = available_cores() - 1
        self._idle = BoundedSemaphore(count) if count else None
        self._threads = ThreadPoolExecutor(max(1, count), thread_name_prefix="beside")

    def end(self) -> None:
        self._threads.shutdown()
        self.forget()

    def begin(self, work: Callable[[], object]) -> Future[None] | None:
        idle = self._idle
        if idle is None or not idle.acquire(blocking=False):
            return None

        def do() -> None:
            try:
                work()
            finally:
                idle.release()

        try:
            return self._threads.submit(copy_context().run, do)
        except RuntimeError:  # the interpreter is about to end
            idle.release()
            return None


_HELPERS = _Helpers()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_HELPERS.forget)
