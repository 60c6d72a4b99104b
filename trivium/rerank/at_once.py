"""Processes several passages in parallel, in threads that are abandoned when the time is up."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import TypeVar

from trivium.common import stopping
from trivium.rerank.base import Deadline

T = TypeVar("T")
R = TypeVar("R")


def at_once(work: Callable[[T], R], items: Sequence[T], threads: int, deadline: Deadline) -> list[R]:
    """Apply ``work`` to each item in ``threads`` threads and return the results in order. Raises the first error of an
    item, RerankError when the time is up, and StoppedError when asked to stop. In these cases no further item is
    started, and running ones are abandoned.
    """
    todo = iter(range(len(items)))
    made: dict[int, R] = {}
    errors: list[BaseException] = []
    lock = threading.Lock()
    told = threading.Event()

    def next_place() -> int | None:
        with lock:
            return None if errors or told.is_set() else next(todo, None)

    def work_through() -> None:
        try:
            while (place := next_place()) is not None:
                deadline.check()
                stopping.check()
                result = work(items[place])
                with lock:
                    made[place] = result
                    if len(made) == len(items):
                        told.set()
        except BaseException as error:  # raised by the waiting thread
            errors.append(error)
            told.set()

    for _ in range(min(threads, len(items))):
        context = copy_context()  # contains the stop in force, so that requests to an endpoint are aborted
        threading.Thread(target=lambda context=context: context.run(work_through), daemon=True).start()
    if items:
        with stopping.calling(told.set):
            told.wait()
        stopping.check()
    if errors:
        raise errors[0]
    return [made[place] for place in range(len(items))]
