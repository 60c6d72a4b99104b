"""The event loop in which requests to endpoints wait: unlike a thread that waits, a task can be ended at any moment.

One thread runs it for the whole process. Callers block in threads of their own until their coroutine has ended, is
cancelled by the stop in force (:mod:`trivium.common.stopping`), or they are interrupted themselves (Ctrl-C)."""

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
    """What ``work`` returns. Raises what it raises, and StoppedError where it was stopped."""
    future = asyncio.run_coroutine_threadsafe(work, _running())
    try:
        with stopping.calling(future.cancel):
            return future.result()
    except CancelledError:
        stopping.check()
        raise
    except BaseException:
        future.cancel()  # of one that has ended does nothing
        raise


def begin(work: Coroutine[Any, Any, object]) -> None:
    """Have ``work`` done, stopped by nothing, without waiting for it."""
    asyncio.run_coroutine_threadsafe(work, _running())


def _running() -> asyncio.AbstractEventLoop:
    global _loop, _process
    with _lock:
        if _loop is None or _process != os.getpid():  # a forked process has no other thread
            _loop, _process = asyncio.new_event_loop(), os.getpid()
            threading.Thread(target=_loop.run_forever, name="endpoints", daemon=True).start()
        return _loop
