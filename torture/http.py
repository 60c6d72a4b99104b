"""Hostile requests to a server: every answer must be HTTP and say what is wrong, and other clients must be served."""

from __future__ import annotations

import json
import shutil
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

import requests

from torture.cases import Kind, Outcome, dice, told
from torture.http_answers import answers
from torture.http_exchange import Exchange
from torture.http_requests import exchange
from torture.served import Server, build_store, serving

CASES_A_SERVER = 400
CASES_A_CHECK = 25
PATIENCE = 6.0
"""Seconds in which the server has to say something."""
_NO_HTTP = b"Invalid HTTP request received."
"""What uvicorn says to what is no HTTP."""
PAUSE = 0.6
"""Seconds without a word that mean that it waits for more."""


def outcomes(seeds: Iterator[int], scratch: Path) -> Iterator[Outcome]:
    """See :data:`torture.cases.Outcomes`."""
    original = build_store(scratch)
    store = scratch / "store"
    while group := list(islice(seeds, CASES_A_SERVER)):
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(original, store)
        try:
            with serving(store, "--timeout", "10") as server:
                yield from _exchanges(group, server)
        except AssertionError as error:
            yield Outcome(group[-1], f"server: of {group[0]} to {group[-1]}", told(error))


def _exchanges(seeds: list[int], server: Server) -> Iterator[Outcome]:
    api = requests.get(f"{server.address}/openapi.json", timeout=60).json()
    server.note_usual()
    for number, seed in enumerate(seeds, 1):
        case = exchange(dice("http", seed), api, f"{server.host}:{server.port}")
        what = case.what
        try:
            _check(case, _sent(case, server))
            server.check_alive()
            server.check_log()
            if number % CASES_A_CHECK == 0 or number == len(seeds):
                what = f"{case.what}: and the {min(number, CASES_A_CHECK)} up to it"
                server.check_search()
                server.check_resources()
            yield Outcome(seed, case.what)
        except (AssertionError, requests.RequestException) as error:
            yield Outcome(seed, what, told(error))
            server.check_alive()


def _sent(case: Exchange, server: Server) -> bytes:
    """Return what the server sends in an exchange."""
    with socket.create_connection((server.host, server.port), timeout=PATIENCE) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with suppress(ConnectionError, BrokenPipeError):  # the server need not listen to the end
            for piece in case.pieces:
                if isinstance(piece, float):
                    time.sleep(piece)
                else:
                    client.sendall(piece)
        if case.end in ("leave", "reset", "peek"):
            if case.end == "peek":
                client.settimeout(0.2)
                with suppress(TimeoutError, ConnectionError):
                    client.recv(20)
            if case.end != "leave":
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return b""
        received = _first_of(client)
        with suppress(OSError):
            client.shutdown(socket.SHUT_WR)
        return received + _rest_of(client)


def _first_of(client: socket.socket) -> bytes:
    """What comes before the server waits. To a server like this one a client that says no more has left, so that is not
    said before."""
    received = b""
    client.settimeout(PAUSE)
    with suppress(TimeoutError, ConnectionError):
        while piece := client.recv(1 << 16):
            received += piece
            client.settimeout(PAUSE / 10)
    client.settimeout(PATIENCE)
    return received


def _rest_of(client: socket.socket) -> bytes:
    received = b""
    deadline = time.monotonic() + 3 * PATIENCE
    try:
        while piece := client.recv(1 << 16):
            received += piece
            assert time.monotonic() < deadline, f"still answering: {received[-200:]!r}"
    except TimeoutError:
        raise AssertionError(
            f"the connection stays open, and nothing comes; so far {received[:300]!r}"
        ) from None
    except ConnectionError:
        pass  # it closed before it had read all
    return received


def _check(case: Exchange, received: bytes) -> None:
    for answer in answers(received, heads=case.heads):
        if not answer.whole:
            continue  # the server closed, having not read all
        assert b"x-injected" not in received.lower().partition(b"\r\n\r\n")[0], "a header was injected"
        assert answer.status != 500, f"HTTP 500: {answer.body[:300]!r}"
        if answer.body == _NO_HTTP and answer.status == 400:
            continue
        if answer.status >= 400 and not case.heads:
            assert answer.headers.get("content-type", "").startswith("application/json"), answer
            error = json.loads(answer.body)["error"]
            assert isinstance(error["code"], str) and isinstance(error["message"], str)
            assert len(error["message"]) < 20_000, f"a message of {len(error['message'])} characters"


KIND = Kind("http", 2.0, 16, outcomes)
