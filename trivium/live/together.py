"""Work done at the same time within a time limit: what is late is told to stop, and nobody waits for it."""

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
"""Requests under way in a process: further ones are refused rather than have threads pile up."""

_places = threading.BoundedSemaphore(MOST_AT_ONCE)


def run_together(tasks: Mapping[K, Callable[[], T]], seconds: float) -> dict[K, T | Exception]:
    """What each task returns, or what it raises; InputError for one that is not done in time. Raises StoppedError where
    nobody waits any more. Threads of late tasks end with them; they keep no process alive."""
    done: dict[K, T | Exception] = {}
    stops: dict[K, stopping.Stop] = {}
    all_done = threading.Event()
    lock = threading.Lock()

    def run(key: K, task: Callable[[], T]) -> None:
        outcome: T | Exception
        try:
            with stops[key].in_force():
                outcome = task()
        except Exception as error:  # also what a source that a package adds may raise
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
