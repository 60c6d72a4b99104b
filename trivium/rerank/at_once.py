"""Several passages at once, by threads that are not waited for when the time is up."""

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
    """What ``work`` makes of each of the items, in their order, by so many threads. Raises the first error of one of
    them, RerankError where the time is up, StoppedError where it is asked to stop: no further item is begun then, and
    what is under way is not waited for."""
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
        except BaseException as error:  # it is raised by the thread that waits
            errors.append(error)
            told.set()

    for _ in range(min(threads, len(items))):
        context = copy_context()  # with the stop in force, so that an endpoint is hung up
        threading.Thread(target=lambda context=context: context.run(work_through), daemon=True).start()
    if items:
        with stopping.calling(told.set):
            told.wait()
        stopping.check()
    if errors:
        raise errors[0]
    return [made[place] for place in range(len(items))]
