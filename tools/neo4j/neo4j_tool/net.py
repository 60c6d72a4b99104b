"""Ports of the loopback interface, and whether Bolt answers on one."""

from __future__ import annotations

import socket

from .errors import ToolError

HOST = "127.0.0.1"
BOLT_PORT = 7687
HTTP_PORT = 7474

# Four proposals of four bytes each: Bolt 5.8 down to 5.0, 4.4, and two empty ones.
# https://neo4j.com/docs/bolt/current/bolt/handshake/
_HANDSHAKE = bytes.fromhex("6060b017 00080805 00000404 00000000 00000000")


def is_free(port: int) -> bool:
    """Whether a server could listen on a port now."""
    with socket.socket() as probe:
        # As servers do: a port whose last connections are still fading away is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def choose_port(asked: int | None, usual: int, *, taken: int | None = None) -> int:
    """The port asked for, else the usual one if it is free, else any free one but ``taken``.

    Raises ToolError when the port asked for is not free.
    """
    if asked is not None:
        if asked == taken or not is_free(asked):
            raise ToolError(
                f"port {asked} is taken by another program: choose another, or none for a free one"
            )
        return asked
    if usual != taken and is_free(usual):
        return usual
    while True:
        with socket.socket() as probe:
            probe.bind((HOST, 0))
            port = int(probe.getsockname()[1])
        if port != taken:
            return port


def bolt_answers(port: int, *, timeout: float = 2.0) -> bool:
    """Whether a Bolt server agrees to a protocol version on a port."""
    try:
        with socket.create_connection((HOST, port), timeout=timeout) as connection:
            connection.sendall(_HANDSHAKE)
            answer = b""
            while len(answer) < 4:
                piece = connection.recv(4 - len(answer))
                if not piece:
                    return False
                answer += piece
    except OSError:
        return False
    return answer[:2] == b"\0\0" and answer[3] in (4, 5)
