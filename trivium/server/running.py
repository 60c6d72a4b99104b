"""Runs the server until it is told to stop, and ends its process on signals, within a time limit."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NoReturn, cast

import uvicorn
from fastapi import FastAPI
from threadpoolctl import threadpool_limits

from trivium.common.workers import kill_workers
from trivium.errors import ConfigurationError
from trivium.server.connection import ACCEPTED_AT_ONCE, HEAD_SECONDS, TimedConnection, connection_limit
from trivium.server.logs import write_log
from trivium.server.settings import ServerSettings

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


CLOSE_SECONDS = 5.0
"""Seconds a server may take to close its store and processes after the last request."""
_BACKLOG = 1024


class Server(uvicorn.Server):
    """Uvicorn's server without its signal handling, which :func:`run` does: uvicorn would raise the received signal
    again at the end, and would keep waiting on a second SIGTERM.
    """

    def __init__(self, app: FastAPI, settings: ServerSettings) -> None:
        """``app`` is an application of :func:`~trivium.server.app.create_app`. Raises ConfigurationError when the
        process may open too few files.
        """
        super().__init__(_configured(app, settings))
        app.state.service.metrics.watch_connections(lambda: len(self.server_state.connections))

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            # The configured backlog is also how many connections are accepted at once.
            listener.listen(_BACKLOG)


def _configured(app: FastAPI, settings: ServerSettings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=cast(Any, partial(TimedConnection, most=connection_limit(settings))),
        # Not uvloop, which uvicorn prefers where it is installed: it would take the signals (server/ending.py).
        loop="asyncio",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        # X-Forwarded-For is believed only from proxies that uvicorn's own variable names.
        proxy_headers="FORWARDED_ALLOW_IPS" in os.environ,
        timeout_keep_alive=HEAD_SECONDS,
        timeout_graceful_shutdown=max(1, round(settings.shutdown_timeout)),
        backlog=ACCEPTED_AT_ONCE,
    )


_SWITCH_SECONDS = 1e-4
"""A search lets go of the interpreter a hundred times. Beside a thread that computes in Python it would wait for each of
them as long as the interpreter's own interval, 5 ms."""


def run(app: FastAPI, settings: ServerSettings, listening: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM.

    Running requests are completed first, within the time of the settings; accepted changes are on disk and continue
    after a restart. ``listening`` is called with the address of the page once connections are accepted. Raises
    ConfigurationError when the address cannot be used.

    For a dedicated process: it is terminated :data:`CLOSE_SECONDS` after the time for requests if it has not ended by
    itself, and immediately by a second signal. Linear algebra libraries are limited to one thread, because questions
    already run in parallel.
    """
    sys.setswitchinterval(_SWITCH_SECONDS)
    app.state.own_process = True
    server = Server(app, settings)

    def stop() -> None:
        server.should_exit = True

    with _bound(settings) as listener, threadpool_limits(limits=1):
        end_by_signals(stop, settings.shutdown_timeout + CLOSE_SECONDS)
        listening(
            _address(listener)
        )  # clients that connect from now on are answered as soon as the server has started
        server.run(sockets=[listener])
    write_log()


@contextmanager
def _bound(settings: ServerSettings) -> Iterator[socket.socket]:
    try:
        family, kind, protocol, *_ = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM
        )[0]
        # With the protocol, because asyncio sets TCP_NODELAY only on sockets that name it.
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise _unusable(settings, error) from error
    with listener:
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((settings.host, settings.port))
            listener.listen(_BACKLOG)
        except OSError as error:
            raise _unusable(settings, error) from error
        yield listener


def _unusable(settings: ServerSettings, error: OSError) -> ConfigurationError:
    return ConfigurationError(
        f"cannot listen on {settings.host} port {settings.port}: {error.strerror or error};"
        " name another with --host and --port (0 takes any free port)"
    )


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound to
        host = socket.gethostname()
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
