"""Runs independent work on another, idle processor core.

Python runs one thread at a time, but the most expensive parts of a search release the lock: the embedder, compiled
loops and the vector index. A thread can start such work elsewhere and continue with what does not depend on it.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from threading import BoundedSemaphore
from types import TracebackType
from typing import Any, Self, TypeVar

from trivium.common.cache import Memo

T = TypeVar("T")
R = TypeVar("R")

_alone: ContextVar[bool] = ContextVar("alone", default=False)


@contextmanager
def alone(wanted: bool = True) -> Iterator[None]:
    """Begin no work in other threads in this block, if that is ``wanted``. For callers who know that other work, also of
    other processes, keeps all cores busy.
    """
    before = _alone.set(wanted or _alone.get())
    try:
        yield
    finally:
        _alone.reset(before)


def is_alone() -> bool:
    """Whether work is to stay in this thread, see :func:`alone`."""
    return _alone.get()


class Beside:
    """Context manager around work that is partly done by other threads. On exit, also after an error, it waits for
    them, so that none continues to use something that has been closed. Their errors are kept for the code that needs
    their results.
    """

    def __init__(self) -> None:
        self._begun: list[Future[Any]] = []

    def begin(self, work: Callable[[], object]) -> bool:
        """Run ``work`` in an idle thread, in a copy of this context. Returns False, without starting anything, if none
        is idle; the work is then done when its result is needed. ``work`` must not wait for anything started later.
        """
        doing = None if _alone.get() else _HELPERS.begin(work)
        if doing is not None:
            self._begun.append(doing)
        return doing is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        wait(self._begun)


def for_each(items: Sequence[T], work: Callable[[T], R]) -> list[R]:
    """Return ``work`` of every item, in their order, one item at a time on each idle core. After an error no further
    items are begun, and the error of the first item that failed is raised.
    """
    if len(items) < 2:
        return [work(item) for item in items]
    answers = Memo()
    places = iter(range(len(items)))  # shared by the threads: each takes the next one

    def answer(place: int) -> R:
        return answers.of(place, lambda: work(items[place]))

    def go() -> None:
        with alone():
            for place in places:
                try:
                    answer(place)
                except BaseException:  # kept with the answers, and raised below
                    deque(places, maxlen=0)  # leave nothing to begin

    with Beside() as beside:
        for _ in range(available_cores() - 1):
            beside.begin(go)
        go()
    return [answer(place) for place in range(len(items))]


def available_cores() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Helpers:
    """One thread per core except the caller's; more would only wait for each other."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start over, as in a forked process, which inherits none of the threads."""
        count = available_cores() - 1
        self._idle = BoundedSemaphore(count) if count else None
        self._threads = ThreadPoolExecutor(max(1, count), thread_name_prefix="beside")

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
        except RuntimeError:  # the interpreter is shutting down
            idle.release()
            return None


_HELPERS = _Helpers()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_HELPERS.forget)
