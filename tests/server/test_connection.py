"""Clients that are slow, send too much or what may be understood in two ways, or go away, do no harm."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.server.world import QUESTION, listening
from trivium.server.settings import ServerSettings

BODY = json.dumps({"question": QUESTION}).encode()
HEAD = b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def address(store: Path) -> Iterator[tuple[str, int]]:
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


def test_who_sends_the_body_too_slowly_is_told(store: Path) -> None:
    """By a server of its own: the same time limit holds for the questions of the others, which may have to wait."""
    with listening(store, ServerSettings(timeout=0.5)) as url:
        host, _, port = url.removeprefix("http://").partition(":")
        assert error(said((host, int(port)), HEAD + b"Content-Length: 100\r\n\r\n", BODY[:5])) == (
            408,
            "too_slow",
        )


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
    "head",
    [
        "POST /search HTTP/1.1|Host: localhost|Content-Length: 4|Transfer-Encoding: chunked",
        "POST /search HTTP/1.1|Host: localhost|Content-Length: 4|Transfer-Encoding:| chunked",
        "POST /search HTTP/1.1|Host: localhost|Content-Length: 4|Content-Length: 5",
        "GET /stats HTTP/1.1|Host: localhost|Host: evil.example",
        "GET /stats HTTP/1.1",
        "GET http://localhost/stats HTTP/1.1|Host: localhost",
        "CONNECT localhost:1 HTTP/1.1|Host: localhost",
        "no http at all",
    ],
)
def test_a_request_that_may_be_understood_in_two_ways_is_refused_and_nothing_after_it_heard(
    address: tuple[str, int], head: str
) -> None:
    """What follows would be another request to a server that understands the first one otherwise (smuggling)."""
    smuggled = b"0\r\n\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answer = said(address, head.replace("|", "\r\n").encode() + b"\r\n\r\n" + smuggled)
    assert answer.count(b"HTTP/1.1 ") == 1 and answer.startswith(b"HTTP/1.1 400")
    assert b"connection: close" in answer.lower()
