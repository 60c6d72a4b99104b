"""A process that serves until it is told to stop."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from fastapi import FastAPI
from threadpoolctl import threadpool_limits

from trivium.errors import ConfigurationError
from trivium.server.connection import PatientProtocol
from trivium.server.settings import ServerSettings

KEEP_ALIVE_SECONDS = 20


class _Server(uvicorn.Server):
    """Uvicorn's, which would raise the signal that stopped it once more when all is done, and says that it has
    started."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._say_started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._say_started()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        with super().capture_signals():
            try:
                yield
            finally:
                self._captured_signals.clear()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # The second signal, of either kind, does not wait any longer.
        self.force_exit = self.should_exit
        super().handle_exit(sig, frame)


def run(app: FastAPI, settings: ServerSettings, listening: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; requests under way are answered first, for as long as the settings say.
    ``listening`` is told the address of the page once connections are accepted. Raises ConfigurationError where the
    address cannot be used.

    The libraries of linear algebra get one thread: questions run side by side, and theirs would wait for each other.
    """
    config = uvicorn.Config(
        app,
        http=PatientProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=max(1, round(settings.shutdown_timeout)),
    )
    with _bound(settings) as listener, threadpool_limits(limits=1):
        _Server(config, lambda: listening(_address(listener))).run(sockets=[listener])


@contextmanager
def _bound(settings: ServerSettings) -> Iterator[socket.socket]:
    try:
        family = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.socket(family, socket.SOCK_STREAM)
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
