"""The table of a server's connections: limits their number, and closes idle ones when there are too many."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import sys
import time
from collections import Counter, OrderedDict
from collections.abc import Sequence
from typing import Protocol

from trivium.errors import ConfigurationError
from trivium.server.settings import ServerSettings

STALL_SECONDS = 20.0
"""Seconds after which a client that reads nothing of its answer is disconnected."""
ACCEPTED_AT_ONCE = 16
"""Connections accepted before any of them is checked. A few times as many may be open beyond the limit."""
_MAX_REFUSED = 32
"""Rejected connections that are being sent an error. Further ones are closed without an answer."""
_RESERVED = 128
"""File descriptors for the store, uploaded files and connections being rejected, in addition to those below."""
_PER_READER = 6
"""File descriptors per reader of a folder store: a database with its log, at two states while documents change."""
_PER_PROCESS = 4
_LEAST = 16
_IPV6_NETWORK = 64

_log = logging.getLogger(__name__)


class Held(Protocol):
    """A connection as the table sees it."""

    @property
    def address(self) -> str:
        """Address of the client."""
        ...

    def drop(self) -> None:
        """Close the connection immediately."""
        ...

    def unsent(self) -> int:
        """Return the number of bytes of answers that the client has not read."""
        ...


class Connections:
    """The open connections of a server. Belongs to one event loop."""

    def __init__(self, most: int, per_client: int, trusted: Sequence[str] = ()) -> None:
        """``most`` and ``per_client`` are the limits. ``trusted`` contains addresses or networks of proxies, which are
        exempt from ``per_client``.
        """
        self._most = most
        self._per_client = per_client
        self._trusted = [ipaddress.ip_network(network, strict=False) for network in trusted]
        self._all: dict[Held, str] = {}  # with their clients
        self._idle: OrderedDict[Held, None] = OrderedDict()  # longest idle first
        self._clients: Counter[str] = Counter()
        self._unsent: dict[Held, tuple[int, float]] = {}
        self._refused_now: set[Held] = set()
        self._refused_last: float | None = None
        self._sweep: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._all)

    @property
    def most(self) -> int:
        """Maximum number of connections."""
        return self._most

    def refused_within(self, seconds: float) -> bool:
        """Whether a connection was rejected within the last ``seconds``."""
        return self._refused_last is not None and time.monotonic() - self._refused_last <= seconds

    def admit(self, connection: Held) -> bool:
        """Return whether a new connection may stay. An idle one may be closed to make room for it."""
        client = client_of(connection.address)
        full = len(self._all) >= self._most
        own = self._clients[client] >= self._per_client and not self._trusts(connection.address)
        if (full or own) and not self._make_room(client if own else None):
            self._refused_last = time.monotonic()
            whose = f"{self._per_client} of its client" if own else str(self._most)
            _log.warning("a connection was refused: all %s are in use", whose)
            return False
        self._all[connection] = client
        self._clients[client] += 1
        self.idle(connection)
        if self._sweep is None:
            self._watch()
        return True

    def may_be_told(self, connection: Held) -> bool:
        """Return whether a rejected connection may be sent an error. It must be reported to :meth:`removed` like any
        other.
        """
        if len(self._refused_now) >= _MAX_REFUSED:
            return False
        self._refused_now.add(connection)
        return True

    def idle(self, connection: Held) -> None:
        """Mark a connection as having no request in progress."""
        if connection in self._all:
            self._idle[connection] = None

    def busy(self, connection: Held) -> None:
        """Mark a connection as having a request in progress."""
        self._idle.pop(connection, None)

    def removed(self, connection: Held) -> None:
        """Remove a closed connection. Does nothing if it was removed before."""
        self._refused_now.discard(connection)
        self._idle.pop(connection, None)
        self._unsent.pop(connection, None)
        client = self._all.pop(connection, None)
        if client is not None:
            self._clients[client] -= 1
            if not self._clients[client]:
                del self._clients[client]

    def _make_room(self, client: str | None) -> bool:
        """Close the longest idle connection, of one client or of all. Returns False if none is idle."""
        for connection in self._idle:
            if client is None or self._all[connection] == client:
                self.removed(connection)
                connection.drop()
                return True
        return False

    def _trusts(self, address: str) -> bool:
        try:
            own = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(own in network for network in self._trusted)

    def _watch(self) -> None:
        """Close connections whose clients do not read their answers."""
        now = time.monotonic()
        for connection in list(self._all):
            unsent = connection.unsent()
            before, since = self._unsent.get(connection, (0, now))
            if unsent != before or not unsent:
                since = now
            self._unsent[connection] = (unsent, since)
            if now - since >= STALL_SECONDS:
                _log.warning("a connection was closed whose client took nothing for %g s", STALL_SECONDS)
                self.removed(connection)
                connection.drop()
        self._sweep = None
        if self._all:
            self._sweep = asyncio.get_running_loop().call_later(STALL_SECONDS / 10, self._watch)


def client_of(address: str) -> str:
    """Return the client of an address: an IPv4 address itself, and for IPv6 its /64 network, because one client may own
    all addresses of it.

    >>> client_of("203.0.113.7"), client_of("2001:db8::1"), client_of("2001:db8::2"), client_of("::ffff:203.0.113.7")
    ('203.0.113.7', '2001:db8::/64', '2001:db8::/64', '203.0.113.7')
    """
    try:
        own = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(own, ipaddress.IPv4Address):
        return address
    if own.ipv4_mapped is not None:
        return str(own.ipv4_mapped)
    return str(ipaddress.ip_network((own, _IPV6_NETWORK), strict=False))


def connections_for(settings: ServerSettings) -> Connections:
    """Create the table for a server. Its size is limited by the settings and by the number of files the process may
    open; that limit is raised as needed. Raises ConfigurationError when almost no file descriptors are left for
    connections.
    """
    reserved = _RESERVED + _PER_READER * (settings.workers + settings.answer_workers)
    reserved += _PER_PROCESS * settings.processes
    files = _raise_file_limit(settings.connections + reserved)
    most = settings.connections if files is None else min(settings.connections, files - reserved)
    if most < min(_LEAST, settings.connections):
        raise ConfigurationError(
            f"expected to be allowed to open {reserved + _LEAST} files at once or more, got {files}:"
            " raise the limit with  ulimit -n"
        )
    if most < settings.connections:
        _log.warning(
            "%d connections at once instead of %d: the process may open %d files (ulimit -n)",
            most,
            settings.connections,
            files,
        )
    trusted = settings.trusted_proxies
    return Connections(most, settings.connections_per_client, trusted)


def _raise_file_limit(wanted: int) -> int | None:
    """Return how many files this process may open, after raising its limit towards ``wanted``."""
    if sys.platform == "win32":
        return None
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    if soft == unlimited or soft >= wanted:
        return wanted if soft == unlimited else soft
    raised = wanted if hard == unlimited else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    return raised
