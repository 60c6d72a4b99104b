"""A process that serves until it is told to stop."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import uvicorn
from fastapi import FastAPI
from threadpoolctl import threadpool_limits

from trivium.errors import ConfigurationError
from trivium.server.connection import KEEP_ALIVE_SECONDS, TimedConnection
from trivium.server.settings import ServerSettings

CLOSING_SECONDS = 2.0
"""How long the process may take to end after its last request, before it is ended."""

_log = logging.getLogger(__name__)


class _Server(uvicorn.Server):
    """Uvicorn's, for which :func:`run` handles the signals: uvicorn would raise the one that stopped it once more at the
    end, and answer a second SIGTERM by waiting as before."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def configured(app: FastAPI, settings: ServerSettings) -> uvicorn.Config:
    """How uvicorn serves the app."""
    return uvicorn.Config(
        app,
        http=TimedConnection,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=max(1, round(settings.shutdown_timeout)),
    )


def run(app: FastAPI, settings: ServerSettings, listening: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; requests under way are answered first, for as long as the settings say. A little
    later the process has ended, whatever it is doing then, and at a second signal it ends at once: what was accepted is
    on the disk. ``listening`` is told the address of the page once connections are accepted. Raises ConfigurationError
    where the address cannot be used.

    The libraries of linear algebra get one thread: questions run side by side, and theirs would wait for each other.
    """
    server = _Server(configured(app, settings))
    with _bound(settings) as listener, _stopped_by_signals(server, settings), threadpool_limits(limits=1):
        listening(
            _address(listener)
        )  # who connects from now on is answered as soon as the server has started
        server.run(sockets=[listener])


@contextmanager
def _stopped_by_signals(server: uvicorn.Server, settings: ServerSettings) -> Iterator[None]:
    """Have SIGINT and SIGTERM stop the server in its time; the second signal, of either kind, ends the process."""
    last = threading.Timer(settings.shutdown_timeout + CLOSING_SECONDS, _end_late)
    last.daemon = True

    def stop(*_: object) -> None:
        if server.should_exit:
            _end()
        server.should_exit = True
        last.start()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        last.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_late() -> None:
    _log.warning(
        "not everything has ended in time: the process ends; changes that were accepted are made after a restart"
    )
    _end()


def _end() -> None:
    """End the process without waiting for its threads."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # the signal may have come while it was being written
            stream.flush()
    os._exit(0)


@contextmanager
def _bound(settings: ServerSettings) -> Iterator[socket.socket]:
    try:
        family, kind, protocol, *_ = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM
        )[0]
        # With the protocol: asyncio sends without delay (TCP_NODELAY) only on sockets that name it.
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise _unusable(settings, error) from error
    with listener:
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((settings.host, settings.port))
            listener.listen(1024)
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
