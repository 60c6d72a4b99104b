"""Ends the server's process on signals, within a time limit."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

from trivium.common.workers import kill_workers
from trivium.server.logs import write_log

_SIGNALS = (signal.SIGINT, signal.SIGTERM)

_log = logging.getLogger(__name__)


def end_by_signals(stop: Callable[[], None], seconds: float) -> None:
    """Install handlers for SIGINT and SIGTERM. Must be called once, in the main thread.

    The first signal calls ``stop`` in another thread; the process then has ``seconds`` to end by itself. After that, or
    on a second signal, it is terminated.

    Signals are received through a socket in a separate thread: the main thread may be busy in a library indefinitely,
    and at exit the interpreter would wait for threads that are stuck.
    """
    heard, told = socket.socketpair()
    told.setblocking(False)
    for number in _SIGNALS:
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(told.detach(), warn_on_full_buffer=False)
    threading.Thread(target=_listen, args=(heard, stop, seconds), name="signals", daemon=True).start()


def _listen(heard: socket.socket, stop: Callable[[], None], seconds: float) -> None:
    _wait_for_signal(heard)
    stop()
    heard.settimeout(seconds)
    try:
        _wait_for_signal(heard)
    except TimeoutError:
        _end_at_once(1, f"it has not ended within {seconds:g} s of the signal")
    _end_at_once(0, "a second signal has come")


def _wait_for_signal(heard: socket.socket) -> None:
    """Wait for one of the signals. Raises TimeoutError."""
    while heard.recv(1)[0] not in _SIGNALS:
        pass


def _end_at_once(code: int, why: str) -> NoReturn:
    _log.error("the process ends at once: %s", why)
    with suppress(Exception):  # a stopped process would not notice the end of this one
        kill_workers()
    write_log()
    os._exit(code)
