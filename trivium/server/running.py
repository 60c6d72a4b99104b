"""A process that serves until it is told to stop."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI
from threadpoolctl import threadpool_limits

from trivium.errors import ConfigurationError
from trivium.server.connection import KEEP_ALIVE_SECONDS, TimedConnection
from trivium.server.settings import ServerSettings


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
    """Serve until SIGINT or SIGTERM; requests under way are answered first, for as long as the settings say.
    ``listening`` is told the address of the page once connections are accepted. Raises ConfigurationError where the
    address cannot be used.

    The libraries of linear algebra get one thread: questions run side by side, and theirs would wait for each other.
    """
    server = _Server(configured(app, settings))
    with _bound(settings) as listener, _stopped_by_signals(server), threadpool_limits(limits=1):
        listening(
            _address(listener)
        )  # who connects from now on is answered as soon as the server has started
        server.run(sockets=[listener])


@contextmanager
def _stopped_by_signals(server: uvicorn.Server) -> Iterator[None]:
    """Have SIGINT and SIGTERM stop the server; the second signal, of either kind, does not wait for requests."""

    def stop(*_: object) -> None:
        server.force_exit = server.should_exit
        server.should_exit = True

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


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
