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
from types import FrameType
from typing import NoReturn

import uvicorn
from fastapi import FastAPI
from threadpoolctl import threadpool_limits

from trivium.common.worker_processes import kill_workers
from trivium.errors import ConfigurationError
from trivium.server.settings import ServerSettings

CLOSE_SECONDS = 5.0
"""Seconds a server may take to close its store and processes after the last request."""
CONNECTIONS = 512
"""Requests beyond as many connections are refused."""
_IDLE_SECONDS = 20
_HEAD_BYTES = 16 << 10
_SWITCH_SECONDS = 1e-4
"""A search lets go of the interpreter a hundred times. Beside a thread that computes in Python it would wait for each of
them as long as the interpreter's own interval, 5 ms."""

_log = logging.getLogger(__name__)


class Server(uvicorn.Server):
    """Uvicorn's server, but a second signal of either kind ends the process, and so does its time limit after the first
    one. No signal is raised again at the end.
    """

    def __init__(self, app: FastAPI, settings: ServerSettings) -> None:
        """``app`` is an application of :func:`~trivium.server.app.create_app`."""
        self._seconds = settings.shutdown_timeout + CLOSE_SECONDS
        config = uvicorn.Config(
            app,
            http="h11",
            loop="asyncio",
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            # X-Forwarded-For is believed only from proxies that uvicorn's own variable names.
            proxy_headers="FORWARDED_ALLOW_IPS" in os.environ,
            limit_concurrency=CONNECTIONS,
            h11_max_incomplete_event_size=_HEAD_BYTES,
            timeout_keep_alive=_IDLE_SECONDS,
            timeout_graceful_shutdown=max(1, round(settings.shutdown_timeout)),
        )
        super().__init__(config)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - as uvicorn calls it
        if self.should_exit:
            _end_at_once(0, "a second signal has come")
        self.should_exit = True
        late = f"it has not ended within {self._seconds:g} s of the signal"
        limit = threading.Timer(self._seconds, _end_at_once, (1, late))
        limit.daemon = True
        limit.start()


def _end_at_once(code: int, why: str) -> NoReturn:
    _log.error("the process ends at once: %s", why)
    with suppress(Exception):  # a stopped process would not notice the end of this one
        kill_workers()
    os._exit(code)


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
    with bound(settings) as listener, threadpool_limits(limits=1):
        for number in (signal.SIGINT, signal.SIGTERM):  # uvicorn does so a moment later
            signal.signal(number, server.handle_exit)
        listening(
            _address(listener)
        )  # clients that connect from now on are answered as soon as the server has started
        server.run(sockets=[listener])


@contextmanager
def bound(settings: ServerSettings) -> Iterator[socket.socket]:
    """Listen on the address of the settings. Raises ConfigurationError when it cannot be used."""
    try:
        family, kind, protocol, *_ = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM
        )[0]
        # With the protocol, because asyncio sets TCP_NODELAY only on sockets that name it.
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((settings.host, settings.port))
        listener.listen()
    except OSError as error:
        raise ConfigurationError(
            f"cannot listen on {settings.host} port {settings.port}: {error.strerror or error};"
            " name another with --host and --port (0 takes any free port)"
        ) from error
    with listener:
        yield listener


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound to
        host = socket.gethostname()
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
