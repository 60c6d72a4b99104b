"""Where to explore a store is found without guessing, and the guide is a page that a web browser shows."""

from __future__ import annotations

import json
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

import pytest
from selectolax.lexbor import LexborHTMLParser

from tests.guide import guide_queries
from trivium.errors import StoreError
from trivium.graph.neo4j.address import Address
from trivium.graph.neo4j.browser_guide import (
    Exploration,
    candidates,
    explore,
    guide_folder,
    show,
    web_address,
    write_guide,
)
from trivium.graph.neo4j.connection import Connection

FOUND = Exploration("http://localhost:7474/browser/", "neo4j", Path("/guide.html"), Path("/trivium.grass"))


@dataclass(frozen=True)
class Server:
    """Stands for a connection to a server with these settings."""

    settings: dict[str, str]
    address = Address("bolt://127.0.0.1:7687", None, "neo4j", "secret")

    def read(self, query: str) -> list[list[str]]:
        """The settings, as the server lists them."""
        return [[name, value] for name, value in self.settings.items()]


@contextmanager
def serving(answer: Any) -> Iterator[int]:
    """A port of this machine where every GET is answered with one JSON document."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def http(listens: str, advertised: str = "localhost:7474") -> dict[str, str]:
    """Settings of a server with plain HTTP only, as the real one gives them."""
    return {
        "server.http.enabled": "true",
        "server.http.listen_address": listens,
        "server.http.advertised_address": advertised,
        "server.https.enabled": "false",
        "server.https.listen_address": "127.0.0.1:7473",
        "server.https.advertised_address": "localhost:7473",
    }


def test_a_folder_cannot_be_explored_and_the_error_says_how_to_go_on() -> None:
    """Nothing is asked of any server."""
    with pytest.raises(StoreError, match=r"folder 'my-store'.*trivium export .* --store my-store"):
        explore("my-store")


def test_addresses_are_tried_from_the_port_that_is_listened_on() -> None:
    """The advertised address is the default where nobody set it, and another server may be there."""
    assert candidates(http("127.0.0.1:17474"), "db.example.org") == [
        "http://db.example.org:17474",
        "http://db.example.org:7474",
        "http://localhost:7474",
    ]
    assert candidates(http("[::]:7474"), "::1") == ["http://[::1]:7474", "http://localhost:7474"]
    assert candidates({"server.http.enabled": "false"}, "localhost") == []


def test_what_is_not_neo4j_is_passed_over() -> None:
    """A stranger has the port that comes first."""
    with serving(["hello"]) as stranger, serving({"neo4j_version": "5.26.30"}) as neo4j:
        server = Server(http(f"0.0.0.0:{stranger}", f"127.0.0.1:{neo4j}"))
        assert web_address(cast(Connection, server)) == f"http://127.0.0.1:{neo4j}"


def test_a_server_without_web_pages_is_an_error_that_names_what_was_tried() -> None:
    """Here somebody else has the port."""
    with (
        serving({"status": "fine"}) as stranger,
        pytest.raises(StoreError, match=f"no web pages .*:{stranger}"),
    ):
        web_address(cast(Connection, Server(http(f"127.0.0.1:{stranger}", ""))))


def test_the_guide_becomes_a_page_with_every_query_as_it_stands(tmp_path: Path) -> None:
    """Characters like < and & survive; pictures and links resolve from the guide's folder."""
    page = LexborHTMLParser(write_guide(tmp_path / "home" / "explore.html").read_text("utf-8"))
    shown = [node.text() for node in page.css("code.language-cypher")]
    assert shown == [query.cypher for query in guide_queries()]
    base = page.css_first("base")
    assert base is not None
    assert base.attributes["href"] == f"{guide_folder().as_uri()}/"


def test_guide_and_browser_are_opened_where_there_is_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both, the guide first."""
    opened: list[str] = []

    def note(url: str) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(webbrowser, "open", note)
    assert show(FOUND)
    assert opened == ["file:///guide.html", FOUND.browser]


def test_nothing_is_opened_without_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text browser would take the terminal over."""
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(webbrowser, "open", lambda url: pytest.fail("opened"))
    assert not show(FOUND)
