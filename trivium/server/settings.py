"""What a server can be told."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from trivium.embedding.workers import available_cores
from trivium.errors import ConfigurationError

SHORTEST_KEY = 16
"""Characters an API key must have."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How to serve. Sizes are in bytes, times in seconds; raises ConfigurationError where a value makes no sense.

    ``api_keys``: any of them opens the API, none leaves it open. ``cors_origins``: pages of which other origins may use
    it (``https://host[:port]``). ``hosts``: names under which the server may be addressed, besides the loopback ones;
    only looked at where it listens on loopback: there a foreign name means that a page of the web rebound its own.
    ``request_bytes``: of a request's JSON; ``upload_bytes``: of one with documents. ``timeout``: until a request is
    given up, ``answer_timeout`` one that waits for a language model. ``workers``: questions answered at once (default:
    one a core), and ``queue`` how many may wait for them before more are refused; ``answer_workers`` and ``answer_queue``
    the same for answers of a language model. ``processes``: how many processes search beside the one that serves (0: it
    searches itself). ``rate_limit``: requests a client may make in a minute, None for any
    number. ``shutdown_timeout``: how long requests under way may take to end.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    api_keys: tuple[str, ...] = field(default=(), repr=False)
    cors_origins: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    request_bytes: int = 256 << 10
    upload_bytes: int = 64 << 20
    timeout: float = 30.0
    answer_timeout: float = 180.0
    workers: int = field(default_factory=available_cores)
    queue: int = 256
    processes: int = 0
    answer_workers: int = 4
    answer_queue: int = 16
    rate_limit: int | None = None
    shutdown_timeout: float = 15.0

    def __post_init__(self) -> None:
        counts = {
            "request_bytes": self.request_bytes,
            "upload_bytes": self.upload_bytes,
            "workers": self.workers,
            "queue": self.queue,
            "answer_workers": self.answer_workers,
            "answer_queue": self.answer_queue,
        }
        if self.rate_limit is not None:
            counts["rate_limit"] = self.rate_limit
        for name, count in counts.items():
            if count < 1:
                raise ConfigurationError(f"{name} must be at least 1, got {count}")
        if self.processes < 0:
            raise ConfigurationError(f"processes must be at least 0, got {self.processes}")
        for name, seconds in (
            ("timeout", self.timeout),
            ("answer_timeout", self.answer_timeout),
            ("shutdown_timeout", self.shutdown_timeout),
        ):
            if not seconds > 0:
                raise ConfigurationError(f"{name} must be more than 0 seconds, got {seconds:g}")
        if not 0 <= self.port <= 65535:
            raise ConfigurationError(f"a port is a number from 0 (any free one) to 65535, got {self.port}")
        for key in self.api_keys:
            _check_key(key)
        for origin in self.cors_origins:
            _check_origin(origin)

    @property
    def on_loopback(self) -> bool:
        """Whether only programs of this machine can reach the server."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def read_keys(file: Path) -> tuple[str, ...]:
    """The API keys in a file, one a line; blank lines and lines that begin with ``#`` are left out. Raises
    ConfigurationError where it holds none, and OSError where it cannot be read."""
    lines = [line.strip() for line in file.read_text("utf-8").splitlines()]
    keys = tuple(line for line in lines if line and not line.startswith("#"))
    if not keys:
        raise ConfigurationError(f"expected an API key a line in {file}, got none")
    return keys


def _check_key(key: str) -> None:
    # Never with the key itself.
    if len(key) < SHORTEST_KEY or not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigurationError(
            f"an API key needs {SHORTEST_KEY} or more printable ASCII characters without spaces, got {len(key)}"
            " characters: make one with  openssl rand -hex 24"
        )


def _check_origin(origin: str) -> None:
    parts = urlsplit(origin)
    if (
        parts.scheme not in ("http", "https")
        or not parts.netloc
        or origin != f"{parts.scheme}://{parts.netloc}"
    ):
        raise ConfigurationError(f"expected an origin like https://example.org:8443, got {origin!r}")
