"""A cluster as a client sees it, made of one real server: a router that names other addresses for reading and for
writing, and at each of them a member that hands messages on.

The server is the same behind all of them, so that nothing lags. What this shows is who is asked what, and what happens
when a member goes away, lags or is no longer the leader. Bolt 5 and 4.4:
https://neo4j.com/docs/bolt/current/bolt/message/
"""

from __future__ import annotations

import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

_RUN, _BEGIN, _ROUTE, _RESET, _GOODBYE = 0x10, 0x11, 0x66, 0x0F, 0x02
_ASKING = (_RUN, _BEGIN)
_RECORD, _SUCCESS, _FAILURE, _IGNORED = 0x71, 0x70, 0x7F, 0x7E
_FOR_READING = b"\x84mode\x81r"
"""How a query or transaction says that it only reads."""
_MANIFEST = b"\x00\x00\x01\xff"
"""A proposal to negotiate in more steps, which is withheld from the server."""

Refusal = tuple[str, str]
"""The code and message of an error."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A query or the beginning of a transaction that a member was sent."""

    reads: bool
    query: bytes


@dataclass(eq=False)
class Member:
    """One address of the cluster; ``refuse`` gives the error that it answers with instead of the server."""

    port: int
    listener: socket.socket
    asked: list[Asked] = field(default_factory=list)
    refuse: Callable[[Asked], Refusal | None] = lambda _: None
    connections: list[socket.socket] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"127.0.0.1:{self.port}"

    def stop(self) -> None:
        """It goes away, with the connections it has."""
        # A thread that waits in accept() keeps the socket open until it is shut down.
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in self.connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()


class Cluster:
    """A router, a leader and secondaries in front of the server at ``bolt``. ``writers`` and ``readers`` are who the
    router names; they may be changed."""

    def __init__(self, bolt: str, secondaries: int) -> None:
        where = urlsplit(bolt)
        self._server = (where.hostname or "127.0.0.1", where.port or 7687)
        self._members: list[Member] = []
        self.router = self.member()
        self.leader = self.member()
        self.secondaries = [self.member() for _ in range(secondaries)]
        self.writers = [self.leader]
        self.readers = list(self.secondaries)

    @property
    def address(self) -> str:
        """What a client is given."""
        return f"neo4j://{self.router.address}"

    def member(self) -> Member:
        """One more member."""
        listener = socket.create_server(("127.0.0.1", 0))
        member = Member(listener.getsockname()[1], listener)
        self._members.append(member)
        threading.Thread(target=self._accept, args=(member,), daemon=True).start()
        return member

    def forget(self) -> None:
        """What was asked until now is of no interest."""
        for member in self._members:
            member.asked.clear()

    def close(self) -> None:
        """All members go away."""
        for member in self._members:
            member.stop()

    def _accept(self, member: Member) -> None:
        while True:
            try:
                client, _ = member.listener.accept()
                server = socket.create_connection(self._server)
            except OSError:
                return
            member.connections += [client, server]
            threading.Thread(target=_Conversation(self, member, client, server).run, daemon=True).start()

    def routing_table(self) -> bytes:
        """The answer to the question who is who."""
        roles = {"ROUTE": [self.router], "WRITE": self.writers, "READ": self.readers}
        servers = [
            {"role": role, "addresses": [each.address for each in members]} for role, members in roles.items()
        ]
        return _message(_SUCCESS, {"rt": {"ttl": 1, "db": "neo4j", "servers": servers}})


class _Conversation:
    """One client of a member."""

    def __init__(
        self, cluster: Cluster, member: Member, client: socket.socket, server: socket.socket
    ) -> None:
        self._cluster, self._member = cluster, member
        self._client, self._server = client, server
        self._waiting: deque[int] = deque()
        """Messages that the server has not answered yet."""
        self._failed = False

    def run(self) -> None:
        with suppress(OSError, EOFError), self._client, self._server:
            hello = _exactly(self._client, 20)
            proposals = [hello[at : at + 4] for at in range(4, 20, 4)]
            self._server.sendall(hello[:4] + b"".join(bytes(4) if p == _MANIFEST else p for p in proposals))
            self._client.sendall(_exactly(self._server, 4))
            threading.Thread(target=self._answers, daemon=True).start()
            for message in _messages(self._client):
                self._take(message)

    def _take(self, message: bytes) -> None:
        kind = message[1]
        if self._failed and kind != _RESET:
            self._client.sendall(_framed(_message(_IGNORED, {})))
            return
        self._failed = False
        if kind in _ASKING:
            asked = Asked(_FOR_READING in message, message)
            self._member.asked.append(asked)
            if refusal := self._member.refuse(asked):
                self._failed = True
                code, text = refusal
                self._client.sendall(_framed(_message(_FAILURE, _error(code, text))))
                return
        if kind != _GOODBYE:
            self._waiting.append(kind)
        self._server.sendall(_framed(message))

    def _answers(self) -> None:
        with suppress(OSError, EOFError):
            for message in _messages(self._server):
                answer = message
                if message[1] != _RECORD and self._waiting.popleft() == _ROUTE:
                    answer = self._cluster.routing_table()
                self._client.sendall(_framed(answer))


@contextmanager
def cluster(bolt: str, secondaries: int = 2) -> Iterator[Cluster]:
    """A cluster in front of a server, gone at the end."""
    made = Cluster(bolt, secondaries)
    try:
        yield made
    finally:
        made.close()


# -- messages ----------------------------------------------------------------------------------------------------


def _exactly(source: socket.socket, count: int) -> bytes:
    parts = b""
    while len(parts) < count:
        part = source.recv(count - len(parts))
        if not part:
            raise EOFError
        parts += part
    return parts


def _messages(source: socket.socket) -> Iterator[bytes]:
    """Messages without their framing; empty chunks between them keep a connection alive."""
    parts = b""
    while True:
        (size,) = struct.unpack(">H", _exactly(source, 2))
        if size:
            parts += _exactly(source, size)
        elif parts:
            yield parts
            parts = b""


def _framed(message: bytes) -> bytes:
    chunks = [message[at : at + 0xFFFF] for at in range(0, len(message), 0xFFFF)]
    return b"".join(struct.pack(">H", len(chunk)) + chunk for chunk in chunks) + bytes(2)


def _error(code: str, text: str) -> dict[str, object]:
    """An error as old versions of the protocol name it, and as those from 5.7 on do."""
    status = {"gql_status": "50N42", "description": "error", "diagnostic_record": {}}
    return {"code": code, "neo4j_code": code, "message": text, **status}


def _message(kind: int, value: dict[str, object]) -> bytes:
    return bytes([0xB1, kind]) + _packed(value)


def _packed(value: object) -> bytes:
    """PackStream, as much of it as a routing table needs."""
    if isinstance(value, int):
        return b"\xc9" + struct.pack(">h", value)
    if isinstance(value, str):
        text = value.encode()
        return b"\xd0" + bytes([len(text)]) + text
    if isinstance(value, list):
        return b"\xd4" + bytes([len(value)]) + b"".join(map(_packed, value))
    assert isinstance(value, dict)
    return b"\xd8" + bytes([len(value)]) + b"".join(_packed(part) for item in value.items() for part in item)
