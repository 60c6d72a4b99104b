"""Requests to services and pages on other machines: bounded in time and size, and ended when nobody waits for them.

A page whose address comes from outside is only fetched from a public address (``public``): the name is looked up once,
every address that it has is checked, and the connection is made to an address that was checked, after redirects too. A
name that means something else a moment later (DNS rebinding) leads nowhere else.
"""

from __future__ import annotations

import ipaddress
import os
import platform
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from trivium.common import stopping
from trivium.errors import InputError

_CONNECT_SECONDS = 5.0
_MAX_REDIRECTS = 5
_BLOCK = 1 << 16
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a server answered: its ``status``, and the ``body``, unpacked. ``address`` is where redirects led."""

    address: str
    status: int
    content_type: str
    body: bytes = field(repr=False)
    retry_after: str | None = None


def fetch(
    address: str,
    *,
    params: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    json: Any = None,
    seconds: float,
    max_bytes: int,
    public: bool = False,
    redirects: bool = False,
) -> Fetched:
    """What is at an address; with ``json`` it is sent there (POST). ``seconds`` are for all of it, from the look-up of
    the name to the last byte. Raises InputError where there is no whole answer within the limits, and where a
    ``public`` address is asked for and it is none; StoppedError where nobody waits any more."""
    stopping.check()
    _check_address(address)
    until = time.monotonic() + seconds
    open_lines = _Lines()
    ending = threading.Timer(seconds, open_lines.cut)
    ending.daemon = True
    with requests.Session() as session, stopping.calling(open_lines.cut), _timed(ending):
        session.max_redirects = _MAX_REDIRECTS
        session.trust_env = not public  # a proxy would look names up by itself
        session.headers["User-Agent"] = user_agent()
        adapter = _Adapter(open_lines, public, until)
        session.mount("http://", adapter)
        session.mount("https://", adapter)
        try:
            with session.request(
                "GET" if json is None else "POST",
                address,
                params=params,
                headers=headers,
                json=json,
                stream=True,
                timeout=(min(_CONNECT_SECONDS, seconds), seconds),
                allow_redirects=redirects,
            ) as response:
                return Fetched(
                    address=response.url,
                    status=response.status_code,
                    content_type=response.headers.get("Content-Type", "").partition(";")[0].strip().lower(),
                    body=_body(response, max_bytes, until, seconds),
                    retry_after=response.headers.get("Retry-After"),
                )
        except (requests.RequestException, OSError, ValueError) as error:
            stopping.check()
            raise InputError(_reason(error, seconds, late=time.monotonic() >= until)) from error
        finally:
            open_lines.close()


def package_version() -> str:
    """The version of Trivium that is installed."""
    try:
        return metadata.version("trivium")
    except metadata.PackageNotFoundError:  # run from a source tree
        return "dev"


def user_agent(contact: str | None = None) -> str:
    """How requests name themselves."""
    told = f" ({contact})" if contact else ""
    return f"trivium/{package_version()}{told} requests/{requests.__version__} Python/{platform.python_version()}"


def is_public(address: str) -> bool:
    """Whether an IP address is one of the open internet: no loopback, private, link-local, shared, multicast or reserved
    one, nor one that leads to such an address by a translation between IPv4 and IPv6.

    >>> is_public("93.184.215.14"), is_public("127.0.0.1"), is_public("::ffff:10.0.0.1"), is_public("64:ff9b::7f00:1")
    (True, False, False, False)
    """
    try:
        own = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(own, ipaddress.IPv6Address):
        inner = own.ipv4_mapped or own.sixtofour or (own.teredo[1] if own.teredo else None)
        if inner is None and own in _NAT64:
            inner = ipaddress.IPv4Address(int(own) & 0xFFFFFFFF)
        if inner is not None:
            own = inner
    return own.is_global and not (own.is_multicast or own.is_reserved or own.is_unspecified)


class _Lines:
    """The connections of one request, which may be cut from another thread. What is kept are second handles: a connection
    that begins TLS gives its own one up."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._handles: list[socket.socket] = []
        self._cut = False

    def add(self, line: socket.socket) -> None:
        with self._lock:
            self._handles.append(socket.socket(fileno=os.dup(line.fileno())))
            cut = self._cut
        if cut:
            self.cut()

    def cut(self) -> None:
        """Have what waits for these connections fail."""
        with self._lock:
            self._cut = True
            for handle in self._handles:
                with suppress(OSError):
                    handle.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Let go of the handles."""
        with self._lock:
            for handle in self._handles:
                handle.close()
            self._handles.clear()


class _Adapter(HTTPAdapter):
    """Makes the connections of one request."""

    def __init__(self, lines: _Lines, public: bool, until: float) -> None:
        class Plain(HTTPConnection):
            def _new_conn(self) -> socket.socket:
                return _connect(self.host, self.port, lines, public, until)

        class Encrypted(HTTPSConnection):
            def _new_conn(self) -> socket.socket:
                return _connect(self.host, self.port, lines, public, until)

        class PlainPool(HTTPConnectionPool):
            ConnectionCls = Plain

        class EncryptedPool(HTTPSConnectionPool):
            ConnectionCls = Encrypted

        self._pools = {"http": PlainPool, "https": EncryptedPool}
        super().__init__(max_retries=0)

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options)
        self.poolmanager.pool_classes_by_scheme = self._pools

    def proxy_manager_for(self, proxy: Any, **options: Any) -> Any:
        manager = super().proxy_manager_for(proxy, **options)
        manager.pool_classes_by_scheme = self._pools
        return manager


def _connect(host: str, port: int, lines: _Lines, public: bool, until: float) -> socket.socket:
    """A connection to one of the addresses that a name has, all of which must be public where one is asked for."""
    found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(place[0]) for *_, place in found))
    if public and not all(map(is_public, addresses)):
        raise InputError(f"{host} is not of the public internet: such addresses are not fetched")
    failure: OSError | None = None
    for address in addresses:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError("no time is left to connect")
        try:
            line = socket.create_connection((address, port), timeout=min(_CONNECT_SECONDS, left))
        except OSError as error:
            failure = error
            continue
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        lines.add(line)
        return line
    raise failure or OSError(f"{host} has no address")


@contextmanager
def _timed(ending: threading.Timer) -> Iterator[None]:
    ending.start()
    try:
        yield
    finally:
        ending.cancel()


def _check_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname)
        named = parts.username is not None or parts.password is not None
    except ValueError:
        sound = named = False
    if not sound or named:
        raise InputError("expected an http or https address without a user's name")


def _body(response: requests.Response, most: int, until: float, seconds: float) -> bytes:
    parts: list[bytes] = []
    size = 0
    for block in response.iter_content(_BLOCK):
        size += len(block)
        if size > most:
            raise InputError(f"the answer has more than {most:,} bytes, the limit")
        if time.monotonic() > until:
            raise InputError(_late(seconds))
        parts.append(block)
    return b"".join(parts)


def _late(seconds: float) -> str:
    return f"no answer within {seconds:g} s"


def _reason(error: Exception, seconds: float, late: bool) -> str:
    """What went wrong, never with the address, which may hold a key."""
    if late or isinstance(error, requests.Timeout | TimeoutError):
        return _late(seconds)
    if isinstance(error, requests.TooManyRedirects):
        return f"more than {_MAX_REDIRECTS} redirects"
    if isinstance(error, requests.exceptions.SSLError):
        return "the certificate of the server cannot be trusted"
    if isinstance(error, requests.exceptions.InvalidSchema | requests.exceptions.InvalidURL):
        return "it leads to no http or https address"
    if isinstance(error, requests.ConnectionError | OSError):
        return "there is no connection to the server, or it was broken off"
    return f"the answer cannot be read ({type(error).__name__})"
