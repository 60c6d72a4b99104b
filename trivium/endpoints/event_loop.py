"""The event loop in which requests to endpoints wait. Unlike a waiting thread, a task can be cancelled at any time.

One thread runs it for the entire process. Callers block in their own threads until their coroutine has ended, is
cancelled by the stop in force (:mod:`trivium.common.stopping`), or they are interrupted themselves (Ctrl-C).
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from trivium.common import stopping

T = TypeVar("T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_process = 0


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run ``work`` and return its result. Raises its errors, and StoppedError when it was stopped."""
    future = asyncio.run_coroutine_threadsafe(work, _running())
    try:
        with stopping.calling(future.cancel):
            return future.result()
    except CancelledError:
        stopping.check()
        raise
    except BaseException:
        future.cancel()  # no effect if it has ended
        raise


def begin(work: Coroutine[Any, Any, object]) -> None:
    """Start ``work`` without waiting for it. It cannot be stopped."""
    asyncio.run_coroutine_threadsafe(work, _running())


def _running() -> asyncio.AbstractEventLoop:
    global _loop, _process
    with _lock:
        if _loop is None or _process != os.getpid():  # a forked process does not inherit other threads
            _loop, _process = asyncio.new_event_loop(), os.getpid()
            threading.Thread(target=_loop.run_forever, name="endpoints", daemon=True).start()
        return _loop
