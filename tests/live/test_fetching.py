"""Requests end in time, stay within their size, and pages from outside are fetched from public addresses only."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.live_server import LiveServer, Reply, live_server
from trivium.common import fetching, stopping
from trivium.common.fetching import fetch, is_public
from trivium.errors import InputError


@pytest.fixture
def server() -> Iterator[LiveServer]:
    with live_server() as server:
        server.replies["/small"] = Reply(b"hello", type="text/plain; charset=utf-8")
        yield server


def get(address: str, **options: Any) -> bytes:
    return fetch(address, **{"seconds": 5.0, "max_bytes": 1_000, **options}).body


def test_what_is_there_is_fetched(server: LiveServer) -> None:
    answer = fetch(f"{server.address}/small", seconds=5, max_bytes=5)
    assert (answer.body, answer.status, answer.content_type) == (b"hello", 200, "text/plain")


@pytest.mark.parametrize(
    "reply",
    [
        Reply(b"x", pause=30.0),
        Reply(b"x" * 900, drip=0.02),
        Reply(b"x", endless=True, drip=0.02),
    ],
    ids=["late", "slow", "endless"],
)
def test_a_slow_server_costs_no_more_than_the_time_it_has(server: LiveServer, reply: Reply) -> None:
    server.replies["/slow"] = reply
    began = time.monotonic()
    with pytest.raises(InputError, match=r"no answer within 0\.4 s"):
        get(f"{server.address}/slow", seconds=0.4)
    assert time.monotonic() - began < 2


def test_an_answer_beyond_the_limit_is_refused_also_packed(server: LiveServer) -> None:
    server.replies["/big"] = Reply(b"x" * 100_000, endless=True)
    with pytest.raises(InputError, match="more than 1,000 bytes"):
        get(f"{server.address}/big")


def test_nobody_waits_for_a_request_that_is_stopped(server: LiveServer) -> None:
    server.replies["/late"] = Reply(b"x", pause=30.0)
    stop = stopping.Stop()
    threading.Timer(0.2, stop.ask).start()
    began = time.monotonic()
    with stop.in_force(), pytest.raises(stopping.StoppedError):
        get(f"{server.address}/late", seconds=20.0)
    assert time.monotonic() - began < 5


def test_redirects_are_followed_only_where_they_are_wanted(server: LiveServer) -> None:
    server.replies["/from"] = Reply(b"", 302, location="/small")
    assert fetch(f"{server.address}/from", seconds=5, max_bytes=100).status == 302
    assert get(f"{server.address}/from", redirects=True) == b"hello"
    server.replies["/round"] = Reply(b"", 302, location="/round")
    with pytest.raises(InputError, match="more than 5 redirects"):
        get(f"{server.address}/round", redirects=True)
    for elsewhere in ("file:///etc/passwd", "ftp://example.org/x", "gopher://127.0.0.1/"):
        server.replies["/other"] = Reply(b"", 302, location=elsewhere)
        with pytest.raises(InputError, match="no http or https address"):
            get(f"{server.address}/other", redirects=True)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1%eth0",
        "fc00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "2002:7f00:1::",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "::10.0.0.1",
        "192.0.0.192",
        "192.0.2.7",
        "198.18.0.1",
        "198.51.100.7",
        "203.0.113.7",
        "240.0.0.1",
        "fec0::1",
        "3fff::1",
        "2001:db8::1",
        "2001::1",
        "100::1",
        "5f00::1",
        "ff0e::1",
        "::ffff:192.0.0.192",
        "64:ff9b::c0a8:101",
        "no address",
    ],
)
def test_addresses_that_are_not_of_the_internet_are_known(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:4700:4700::1111", "::ffff:93.184.215.14"])
def test_public_addresses_are_let_through(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1", "[::1]", "[::ffff:7f00:1]"]
)
def test_no_spelling_of_a_private_address_is_connected_to(server: LiveServer, host: str) -> None:
    port = server.address.rpartition(":")[2]
    with pytest.raises(InputError, match=r"is not of the public internet|no connection"):
        get(f"http://{host}:{port}/small", public=True)
    assert server.sent == []


@pytest.mark.parametrize(
    "address", ["http://user:word@example.org/", "file:///etc/passwd", "http://", "//x", "http://[::"]
)
def test_what_is_no_plain_web_address_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="expected an http or https address"):
        get(address, public=True)


class Names:
    """A resolver that gives each look-up of a name the next list of addresses."""

    def __init__(self, *answers: list[str]) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, host: str, port: int, *args: Any, **options: Any) -> list[Any]:
        self.asked.append(host)
        found = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]


def test_a_name_with_one_private_address_is_refused(
    server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching.socket, "getaddrinfo", Names(["93.184.215.14", "127.0.0.1"]))
    with pytest.raises(InputError, match=r"example\.org is not of the public internet"):
        get("http://example.org/", public=True)


def test_a_name_that_changes_its_meaning_leads_to_the_address_that_was_checked(
    server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DNS rebinding: public when it is looked at, private a moment later."""
    names = Names(["93.184.215.14"], ["127.0.0.1"])
    connected: list[str] = []

    def connect(place: tuple[str, int], timeout: float) -> socket.socket:
        connected.append(place[0])
        raise OSError("nobody is there")

    monkeypatch.setattr(fetching.socket, "getaddrinfo", names)
    monkeypatch.setattr(fetching.socket, "create_connection", connect)
    with pytest.raises(InputError, match="no connection"):
        get("http://rebound.example/", public=True)
    assert connected == ["93.184.215.14"] and names.asked == ["rebound.example"]


def test_a_redirect_to_a_private_address_is_refused(
    server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first server passes for a public one; the second is what it is."""
    port = server.address.rpartition(":")[2]
    server.replies["/from"] = Reply(b"", 302, location=f"http://inner.example:{port}/small")
    monkeypatch.setattr(fetching, "is_public", lambda address: address == "127.0.0.1")

    real = socket.getaddrinfo

    def names(host: str, *args: Any, **options: Any) -> Any:
        return real("127.0.0.2" if host == "inner.example" else "127.0.0.1", *args, **options)

    monkeypatch.setattr(fetching.socket, "getaddrinfo", names)
    with pytest.raises(InputError, match=r"inner\.example is not of the public internet"):
        get(f"http://outer.example:{port}/from", public=True, redirects=True)
    assert [sent.path for sent in server.sent] == ["/from"]
