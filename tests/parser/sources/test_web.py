"""Documents at addresses are fetched once, within limits, and read as what they are."""

import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from typing import ClassVar

import pytest

from tests.fakes.local_server import LocalServer, QuietHandler
from tests.fakes.memory_store import MemoryStore
from trivium.common import fetching
from trivium.errors import InputError
from trivium.graph.schema import Hop
from trivium.index.load import load
from trivium.parser.sources import web
from trivium.parser.sources.discover import discover, read
from trivium.parser.sources.source_items import Problem
from trivium.settings.limits import DEFAULT_LIMITS

HTML = "text/html; charset=utf-8"


class Site(QuietHandler):
    """Answers what is set: path -> (status, headers, body)."""

    answers: ClassVar[dict[str, list[tuple[int, dict[str, str], bytes]]]] = {}
    asked: ClassVar[list[tuple[str, str]]] = []

    def do_GET(self) -> None:
        self.asked.append((self.path, self.headers["User-Agent"]))
        several = self.answers.get(self.path, [(404, {}, b"none")])
        status, headers, body = several.pop(0) if len(several) > 1 else several[0]
        if "Drip" in headers:
            self.drip(f"HTTP/1.1 {status} slow\r\n".encode() + body)
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def drip(self, data: bytes) -> None:
        """Send a byte every twentieth of a second, until the client has gone."""
        with suppress(OSError):
            for byte in data:
                self.wfile.write(bytes([byte]))
                time.sleep(0.05)


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(web, "_WAIT_SECONDS", 0.0)
    handler: type[BaseHTTPRequestHandler] = Site
    Site.answers.clear()
    Site.asked.clear()
    with LocalServer(handler) as server:
        yield server.address


def answer(path: str, body: str | bytes, type: str = HTML, status: int = 200, **headers: str) -> None:
    data = body.encode() if isinstance(body, str) else body
    Site.answers.setdefault(path, []).append((status, {"Content-Type": type, **headers}, data))


def test_pages_of_a_site_are_read_and_linked(site: str) -> None:
    answer("/docs/", "<title>Home</title><main><p>See <a href='setup#x'>setup</a>.</p></main>")
    answer(
        "/docs/setup",
        f"<h1>Setup</h1><p>Back <a href='{site}/docs/'>home</a>, <a href='/n.md'>notes</a>.</p>",
    )
    answer("/n.md", "# Notes\n\nOf [setup](/docs/setup).", "text/markdown")
    store = MemoryStore()
    report = load([f"{site}/docs/", f"{site}/docs/setup", f"{site}/n.md"], store, workers=1)
    assert report.problems == []
    pages = {page.uri: page for page in store.pages()}
    assert {page.path for page in pages.values()} == {
        f"{site}/docs/",
        f"{site}/docs/setup",
        f"{site}/n.md",
    }
    assert pages["Notes"].source == f"{site}/n.md"
    chunks = store.expand(list(pages), Hop.BELOW)
    cited = {
        page: {uri for chunk in below for uri in store.cited(below)[chunk]} for page, below in chunks.items()
    }
    assert cited["Setup"] >= {"Notes"}
    assert "trivium/" in Site.asked[0][1]


@pytest.mark.parametrize(
    ("path", "body", "type", "format"),
    [
        ("/a", "<!doctype html><p>Text", HTML, "html"),
        ("/a", "# Heading", "text/markdown; charset=utf-8", "markdown"),
        ("/a.md", "# Heading", "text/plain", "markdown"),
        ("/a", "Plain words.", "text/plain", "text"),
        ("/a.md", "<!doctype html><p>Text", HTML, "html"),
    ],
)
def test_a_document_is_what_it_is_and_what_its_server_says(
    site: str, path: str, body: str, type: str, format: str
) -> None:
    answer(path, body, type)
    item = web.fetch(site + path)
    assert (item.format, item.content) == (format, body.encode())


@pytest.mark.parametrize(
    ("path", "type", "body"),
    [
        ("/a", "text/html", "<html><head><title>T</title></head><body><p>{}</p></body></html>"),
        ("/a.md", "text/plain", "# Heading\n\n{}"),
        ("/a.txt", "text/plain", "{}"),
        ("/a.csv", "text/csv", "word;number\n{};1\n"),
    ],
)
def test_the_charset_of_the_answer_is_believed_where_the_bytes_agree(
    site: str, path: str, type: str, body: str
) -> None:
    for word, charset, encoding in (
        ("þorp", "iso-8859-1", "iso-8859-1"),
        ("кот", "koi8-r", "koi8-r"),
        ("þorp", "utf-8", "cp1252"),
        ("кот", "iso-8859-1", "utf-8"),
    ):
        Site.answers.clear()
        answer(path, body.format(word).encode(encoding), f"{type}; charset={charset}")
        assert word in read(web.fetch(site + path))[0].text


def test_redirects_are_followed_and_the_page_lies_where_they_lead(site: str) -> None:
    answer("/old", "", status=301, Location="/new.html")
    answer("/new.html", "<p>Text</p>")
    item = web.fetch(f"{site}/old")
    assert (item.location, item.path) == (f"{site}/old", f"{site.removeprefix('http://')}/new.html")


@pytest.mark.parametrize(
    ("location", "reason"),
    [("/loop", "more than 5 redirects"), ("file:///etc/passwd", "no http or https address")],
)
def test_redirects_lead_nowhere_else(site: str, location: str, reason: str) -> None:
    answer("/loop", "", status=302, Location=location)
    with pytest.raises(InputError, match=reason):
        web.fetch(f"{site}/loop")


def test_what_passes_is_tried_once_more(site: str) -> None:
    answer("/a", "busy", status=503)
    answer("/a", "<p>Text</p>")
    assert web.fetch(f"{site}/a").format == "html"
    assert len(Site.asked) == 2


@pytest.mark.parametrize(("status", "times"), [(404, 1), (403, 1), (500, 2)])
def test_errors_of_the_server_are_reported(site: str, status: int, times: int) -> None:
    answer("/a", "no", status=status)
    [found] = discover([f"{site}/a"])
    assert isinstance(found, Problem)
    assert (found.location, str(status) in found.reason) == (f"{site}/a", True)
    assert len(Site.asked) == times


def test_a_document_beyond_the_limit_is_refused(site: str) -> None:
    answer("/a", b"x" * 1_001)
    with pytest.raises(InputError, match="more than 1,000 bytes"):
        web.fetch(f"{site}/a", limits=DEFAULT_LIMITS.model_copy(update={"document_bytes": 1_000}))


def test_a_server_that_takes_too_long_is_given_up(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "_WHOLE_SECONDS", -1.0)
    answer("/a", "<p>Text</p>")
    started = time.monotonic()
    with pytest.raises(InputError, match="takes more than"):
        web.fetch(f"{site}/a")
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    ("status", "reply"),
    [
        (200, b"X-Slow: " + b"s" * 900),
        (200, b"Content-Type: text/html\r\n\r\n" + b"<p>slow</p>" * 90),
        (200, b"Content-Length: 900\r\n\r\n" + b"s" * 900),
        (302, b"Location: /a\r\nContent-Length: 900\r\n\r\n" + b"s" * 900),
    ],
    ids=["head", "body", "sized", "redirect"],
)
def test_a_server_that_drips_is_given_up(
    site: str, monkeypatch: pytest.MonkeyPatch, status: int, reply: bytes
) -> None:
    monkeypatch.setattr(web, "_WHOLE_SECONDS", 0.3)
    answer("/slow", reply, status=status, Drip="yes")
    started = time.monotonic()
    with pytest.raises(InputError, match=r"takes more than 0\.3 seconds"):
        web.fetch(f"{site}/slow")
    assert time.monotonic() - started < 5


def test_no_redirect_leads_from_the_internet_to_this_network(
    site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first address passes for a public one."""
    inner = f"http://127.0.0.2:{site.rpartition(':')[2]}/b"
    answer("/a", "", status=302, Location=inner)
    answer("/b", "<p>Text</p>")
    with monkeypatch.context() as patch:
        patch.setattr(fetching, "is_public", lambda address: address == "127.0.0.1")
        with pytest.raises(InputError, match="not of the public internet"):
            web.fetch(f"{site}/a")
    assert [path for path, _ in Site.asked] == ["/a"]


@pytest.mark.parametrize(
    ("body", "type", "reason"),
    [
        ('{"title": "a", "text": "b"}', "application/json", "got records"),
        (b"\0\1\2\3" * 99, "application/octet-stream", "."),
        ("", HTML, "empty"),
    ],
)
def test_what_is_no_document_is_refused(site: str, body: str | bytes, type: str, reason: str) -> None:
    answer("/a", body, type)
    with pytest.raises(InputError, match=reason):
        web.fetch(f"{site}/a")


def test_a_server_that_is_not_there_is_reported() -> None:
    with LocalServer(Site) as server:
        address = server.address
    [found] = discover([f"{address}/a"])
    assert isinstance(found, Problem)
    assert "no connection" in found.reason
