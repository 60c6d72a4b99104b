"""Clients that are slow, many, send something else than HTTP or go away do no harm and are told why if they listen."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import requests

from tests.server.world import QUESTION, listening
from tests.waiting import until
from trivium.server import connection
from trivium.server.app import create_app
from trivium.server.running import Server
from trivium.server.settings import ServerSettings

BODY = json.dumps({"question": QUESTION}).encode()
HEAD = b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def address(store: Path) -> Iterator[tuple[str, int]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "HEAD_SECONDS", 0.4)
        with listening(store, ServerSettings(request_bytes=2000, upload_bytes=1 << 20)) as url:
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


def said(address: tuple[str, int], *parts: bytes) -> bytes:
    """What the server says to these bytes until it hangs up."""
    with socket.create_connection(address, timeout=10) as client:
        for part in parts:
            client.sendall(part)
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


def test_who_sends_the_body_too_slowly_is_told(store: Path) -> None:
    """By a server of its own: the same time limit holds for the questions of the others, which may have to wait."""
    with listening(store, ServerSettings(timeout=0.5)) as url:
        host, _, port = url.removeprefix("http://").partition(":")
        assert error(said((host, int(port)), HEAD + b"Content-Length: 100\r\n\r\n", BODY[:5])) == (
            408,
            "too_slow",
        )


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
    assert error(said(address, b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000)) == (431, "too_large")


def test_a_body_that_is_announced_too_large_is_not_waited_for(address: tuple[str, int]) -> None:
    assert error(said(address, HEAD + b"Content-Length: 99999999999\r\n\r\n")) == (413, "too_large")


def test_a_body_that_grows_too_large_is_cut_off(address: tuple[str, int]) -> None:
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


def test_whoever_uploads_too_much_is_told_so(address: tuple[str, int], tmp_path: Path) -> None:
    """By the server as it is, which does not read the rest before it closes the connection."""
    (tmp_path / "large.txt").write_bytes(b"x" * (50 << 20))
    with (tmp_path / "large.txt").open("rb") as file:
        answer = requests.post(
            f"http://{address[0]}:{address[1]}/documents", files={"files": file}, timeout=30
        )
    assert answer.status_code == 413 and answer.json()["error"]["code"] == "too_large"


def test_who_goes_on_sending_for_ever_is_hung_up_on(address: tuple[str, int]) -> None:
    started = time.monotonic()
    with socket.create_connection(address, timeout=10) as client, pytest.raises(OSError):
        client.sendall(HEAD + b"Content-Length: 99999999999\r\n\r\n")
        while time.monotonic() - started < 10:
            client.sendall(b"x" * 1000)
            time.sleep(0.01)
    assert time.monotonic() - started < 3


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (
            "POST /search HTTP/1.1|Host: localhost|Content-Length: 4|Transfer-Encoding: chunked",
            (400, "bad_request"),
        ),
        (
            "POST /search HTTP/1.1|Host: localhost|Content-Length: 4|Transfer-Encoding:| chunked",
            (400, "bad_request"),
        ),
        ("POST /search HTTP/1.1|Host: localhost|Content-Length: 4|Content-Length: 5", (400, "bad_request")),
        ("GET /stats HTTP/1.1|Host: localhost|Host: evil.example", (400, "bad_request")),
        ("GET /stats HTTP/1.1", (400, "bad_request")),
        ("GET http://localhost/stats HTTP/1.1|Host: localhost", (400, "bad_request")),
        ("CONNECT localhost:1 HTTP/1.1|Host: localhost", (400, "bad_request")),
        (
            "GET /stats HTTP/1.1|Host: localhost|" + "|".join(f"X-{n}: x" for n in range(120)),
            (431, "too_large"),
        ),
        ("GET /stats HTTP/1.1|Host: localhost|X: " + "x" * 40_000, (431, "too_large")),
    ],
)
def test_a_request_that_may_be_understood_in_two_ways_is_refused_and_nothing_after_it_heard(
    address: tuple[str, int], head: str, expected: tuple[int, str]
) -> None:
    """What follows would be another request to a server that understands the first one otherwise (smuggling)."""
    smuggled = b"0\r\n\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answer = said(address, head.replace("|", "\r\n").encode() + b"\r\n\r\n" + smuggled)
    assert answer.count(b"HTTP/1.1 ") == 1 and error(answer) == expected
    assert b"connection: close" in answer.lower()


def test_a_body_that_nobody_waits_for_has_to_come_in_time_too(address: tuple[str, int]) -> None:
    """The answer does not depend on it."""
    head = b"GET /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"
    assert said(address, head, b"x").startswith(b"HTTP/1.1 200")


def test_more_connections_than_may_be_open_are_told_so(store: Path) -> None:
    """Whoever has one keeps it."""
    with listening(store, ServerSettings(connections=4)) as url, ExitStack() as stack:
        host, _, port = url.removeprefix("http://").partition(":")
        address = host, int(port)
        first = [stack.enter_context(socket.create_connection(address, timeout=10)) for _ in range(4)]
        for client in first:
            client.sendall(HEAD + f"Content-Length: {len(BODY)}\r\nExpect: 100-continue\r\n\r\n".encode())
            assert client.recv(1000).startswith(b"HTTP/1.1 100")
        for _ in range(20):
            refused = requests.get(f"{url}/health", timeout=10)
            assert refused.status_code == 503 and refused.json()["error"]["code"] == "busy"
            assert refused.headers["retry-after"] == "1"
        for client in first:
            client.sendall(BODY)
            assert client.recv(100).startswith(b"HTTP/1.1 200")
        for client in first:
            client.close()
        until(lambda: requests.get(f"{url}/health", timeout=10).status_code == 200)
        until(lambda: "trivium_connections 1.0" in requests.get(f"{url}/metrics", timeout=10).text)


def test_the_event_loop_leaves_the_signals_to_the_server(store: Path) -> None:
    """Uvicorn would choose uvloop where it is installed, which takes the descriptor that signals are written to."""
    app = create_app(store)
    assert Server(app, ServerSettings()).config.loop == "asyncio"
    app.state.service.collection.close()
