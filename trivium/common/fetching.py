"""HTTP requests to other machines, limited in time and size, and cancelled when their result is no longer needed.

A page whose address is untrusted is fetched only from a public address (``public``): the name is resolved once, all its
addresses are checked, and the connection is made to a checked address, also after redirects. This prevents DNS
rebinding.
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
from email.message import Message
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from trivium.common import stopping
from trivium.common.package_version import package_version
from trivium.errors import InputError

_CONNECT_SECONDS = 5.0
_MAX_REDIRECTS = 5
_BLOCK = 1 << 16
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
_SPECIAL = tuple(
    ipaddress.ip_network(network)
    for network in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15"),
        *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        *("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"),
    )
)
"""Special-purpose addresses (the registries of IANA), because the table of an old Python is incomplete."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A server's response. ``address`` is the address after redirects, ``body`` is decompressed."""

    address: str
    status: int
    content_type: str
    body: bytes = field(repr=False)
    retry_after: str | None = None
    charset: str | None = None


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
    """Fetch an address; with ``json``, POST it. ``seconds`` is the time limit from name resolution to the last byte.
    Raises InputError when there is no complete response within the limits, or when ``public`` is set and the address is
    not public; StoppedError when the result is no longer needed.
    """
    stopping.check()
    _check_address(address)
    until = time.monotonic() + seconds
    with limited_session(seconds, public) as session:
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
                    charset=charset_of(response),
                )
        except (requests.RequestException, OSError, ValueError) as error:
            stopping.check()
            raise InputError(_reason(error, seconds, late=time.monotonic() >= until)) from error


def charset_of(response: requests.Response) -> str | None:
    """Return the encoding that a server names; None if it names none (for which requests assumes Latin-1)."""
    head = Message()
    head["Content-Type"] = response.headers.get("Content-Type", "")
    return head.get_content_charset()


@contextmanager
def limited_session(seconds: float, public: bool) -> Iterator[requests.Session]:
    """A session whose connections are all cut after ``seconds``, or when the work is stopped. With ``public`` it connects
    to public addresses only, and raises InputError for others.
    """
    lines = _Lines()
    ending = threading.Timer(seconds, lines.cut)
    ending.daemon = True
    with requests.Session() as session, stopping.calling(lines.cut), _timed(ending):
        session.max_redirects = _MAX_REDIRECTS
        session.trust_env = not public  # a proxy would resolve names itself
        session.headers["User-Agent"] = user_agent()
        adapter = _Adapter(lines, public, time.monotonic() + seconds)
        session.mount("http://", adapter)
        session.mount("https://", adapter)
        try:
            yield session
        finally:
            lines.close()


def leads_to_public(address: str) -> bool:
    """Whether the host of an address is of the public internet, as far as this machine can tell: it resolves to public
    addresses only, and no proxy stands between.
    """
    host = urlsplit(address).hostname or ""
    if requests.utils.get_environ_proxies(address):
        return False
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    return all(is_public(str(place[0])) for *_, place in found)


def user_agent(contact: str | None = None) -> str:
    """Return the user agent of requests."""
    told = f" ({contact})" if contact else ""
    return f"trivium/{package_version()}{told} requests/{requests.__version__} Python/{platform.python_version()}"


def is_public(address: str) -> bool:
    """Whether an IP address is globally routable: not loopback, private, link-local, shared, multicast or reserved, and
    not a translation of such an address between IPv4 and IPv6.

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
    special = any(own in network for network in _SPECIAL if network.version == own.version)
    unicast = own.version == 4 or own in _GLOBAL_UNICAST
    return own.is_global and unicast and not (special or own.is_multicast or own.is_reserved)


class _Lines:
    """The connections of one request, which can be aborted from another thread. Duplicated handles are kept because a
    connection that starts TLS gives up its own.
    """

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
        """Abort everything that waits for these connections."""
        with self._lock:
            self._cut = True
            for handle in self._handles:
                with suppress(OSError):
                    handle.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the handles."""
        with self._lock:
            for handle in self._handles:
                handle.close()
            self._handles.clear()


class _Adapter(HTTPAdapter):
    """Creates the connections of one request."""

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
    """Connect to one of the addresses of a host. With ``public`` all of them must be public."""
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
    if time.monotonic() > until:  # a body without a length seems complete when its connection is cut
        raise InputError(_late(seconds))
    return b"".join(parts)


def _late(seconds: float) -> str:
    return f"no answer within {seconds:g} s"


def _reason(error: Exception, seconds: float, late: bool) -> str:
    """Describe an error without the address, which may contain a key."""
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
