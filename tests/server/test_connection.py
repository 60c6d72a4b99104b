"""Clients that are slow, send something else than HTTP or go away do no harm and are told why if they listen."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest
import requests

from tests.server.world import QUESTION, build_store, listening
from trivium.server import connection
from trivium.server.settings import ServerSettings

BODY = json.dumps({"question": QUESTION}).encode()
HEAD = b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    store = build_store(tmp_path_factory.mktemp("served"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "HEAD_SECONDS", 0.4)
        patch.setattr(connection, "KEEP_ALIVE_SECONDS", 0.6)
        with listening(store, ServerSettings(timeout=0.6, request_bytes=2000)) as url:
            host, _, port = url.removeprefix("http://").partition(":")
            yield host, int(port)


@pytest.fixture(autouse=True)
def unharmed(address: tuple[str, int]) -> Iterator[None]:
    """After whatever a test did, an ordinary question is answered."""
    yield
    answer = requests.post(
        f"http://{address[0]}:{address[1]}/search", json={"question": QUESTION}, timeout=10
    )
    assert answer.status_code == 200 and answer.json()["hits"]


def said(address: tuple[str, int], *parts: bytes, end: bool = False) -> bytes:
    """What the server says to these bytes until it hangs up."""
    with socket.create_connection(address, timeout=10) as client:
        for part in parts:
            client.sendall(part)
        if end:
            client.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := client.recv(65536):
            answer += piece
        return answer


def error(answer: bytes) -> tuple[int, str]:
    """Status and code of an answer."""
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]), json.loads(body)["error"]["code"]


@pytest.mark.parametrize("head", [b"", b"GET", b"GET / HTTP/1.1\r\nHost: loc"])
def test_who_does_not_finish_a_request_is_hung_up_on(address: tuple[str, int], head: bytes) -> None:
    assert said(address, head) == b""


def test_who_sends_the_body_too_slowly_is_told(address: tuple[str, int]) -> None:
    assert error(said(address, HEAD + b"Content-Length: 100\r\n\r\n", BODY[:5])) == (408, "too_slow")


@pytest.mark.parametrize("head", [b"", b"G", b"GET / HTTP/1.1\r\nHost: loc"])
def test_the_next_request_of_a_connection_has_to_come_in_time_too(
    address: tuple[str, int], head: bytes
) -> None:
    """The first is answered; the connection is closed while the second is waited for."""
    first = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answer = said(address, first, first + head)
    assert answer.count(b"HTTP/1.1 200") == 2 and answer.endswith(b'{"status":"ok"}')


@pytest.mark.parametrize("rubbish", [b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"no http at all\r\n\r\n"])
def test_what_is_no_request_is_answered_in_json(address: tuple[str, int], rubbish: bytes) -> None:
    assert error(said(address, rubbish)) == (400, "bad_request")


def test_a_head_without_end_is_refused(address: tuple[str, int]) -> None:
    assert error(said(address, b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000)) == (400, "bad_request")


def test_a_body_that_is_announced_too_large_is_not_waited_for(address: tuple[str, int]) -> None:
    assert error(said(address, HEAD + b"Content-Length: 99999999999\r\n\r\n")) == (413, "too_large")


def test_a_body_that_grows_too_large_is_cut_off(address: tuple[str, int]) -> None:
    # Nothing is sent after the piece that is too much: what a server has not read when it hangs up resets the
    # connection, and the answer may be lost with it.
    chunk = b"400\r\n" + b"x" * 1024 + b"\r\n"
    answer = said(address, HEAD + b"Transfer-Encoding: chunked\r\n\r\n", chunk, chunk)
    assert error(answer) == (413, "too_large")


@pytest.mark.parametrize("sent", [BODY[:10], BODY])
def test_who_leaves_early_is_forgotten(address: tuple[str, int], sent: bytes) -> None:
    """In the middle of the request, or before the answer."""
    with socket.create_connection(address, timeout=10) as client:
        client.sendall(HEAD + f"Content-Length: {len(BODY)}\r\n\r\n".encode() + sent)
    stats = requests.get(f"http://{address[0]}:{address[1]}/stats", timeout=10).json()
    assert stats["waiting"]["search"] <= 1
