"""Runs tasks concurrently within a time limit. Late tasks are asked to stop and abandoned."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Mapping
from typing import TypeVar

from trivium.common import stopping
from trivium.errors import InputError

K = TypeVar("K")
T = TypeVar("T")

MOST_AT_ONCE = 64
"""Maximum number of tasks running in a process. Further ones are rejected, so that threads do not pile up."""

_places = threading.BoundedSemaphore(MOST_AT_ONCE)


def run_together(tasks: Mapping[K, Callable[[], T]], seconds: float) -> dict[K, T | Exception]:
    """Return the result or the exception of each task; InputError for a task that is not finished in time. Raises
    StoppedError when the search was abandoned. Threads of late tasks end with them and do not keep the process alive.
    """
    done: dict[K, T | Exception] = {}
    stops: dict[K, stopping.Stop] = {}
    all_done = threading.Event()
    lock = threading.Lock()

    def run(key: K, task: Callable[[], T]) -> None:
        outcome: T | Exception
        try:
            with stops[key].in_force():
                outcome = task()
        except Exception as error:  # including anything that a third-party source may raise
            outcome = error
        finally:
            _places.release()
        with lock:
            done[key] = outcome
            if len(done) == len(tasks):
                all_done.set()

    def end() -> None:
        for stop in list(stops.values()):
            stop.ask()
        all_done.set()

    with stopping.calling(end):
        for key, task in tasks.items():
            if not _places.acquire(blocking=False):
                with lock:
                    done[key] = InputError("too many requests to live sources are under way")
                continue
            stops[key] = stopping.Stop()
            context = contextvars.copy_context()
            threading.Thread(
                target=context.run, args=(run, key, task), name=f"live {key}", daemon=True
            ).start()
        with lock:
            if len(done) == len(tasks):
                all_done.set()
        all_done.wait(seconds)
    stopping.check()
    with lock:
        found = dict(done)
    for key in tasks:
        if key not in found or isinstance(found[key], stopping.StoppedError):
            stops[key].ask()
            found[key] = InputError(f"no answer within {seconds:g} s")
    return {key: found[key] for key in tasks}
