"""Pages by title, from a local server that speaks the API of MediaWiki."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.fakes.local_server import LocalServer, QuietHandler
from trivium.errors import InputError
from trivium.parser.sources.discover import discover, read
from trivium.parser.sources.mediawiki import MediaWiki, to_page
from trivium.parser.sources.source_items import Item, Problem

TEXT = """<div class="mw-parser-output">
<p><b>Earth</b> orbits the <a href="/wiki/Sun" title="Sun">Sun</a>.</p>
<h2><span class="mw-headline" id="Moons">Moons</span></h2>
<p>It has one <a href="/wiki/Moon">moon</a>.</p>
</div>"""

EARTH = {"parse": {"title": "Earth", "pageid": 9, "revid": 123, "redirects": [], "text": TEXT}}
MISSING = {"error": {"code": "missingtitle", "info": "The page you specified doesn't exist."}}
MAXLAG = {"error": {"code": "maxlag", "info": "Waiting for a database server: 6 seconds lagged."}}

Scripted = tuple[int, dict[str, str], object]


class Wiki(QuietHandler):
    """An API on localhost: scripted answers first, then the pages it has."""

    script: ClassVar[list[Scripted]] = []
    pages: ClassVar[dict[str, object]] = {}
    requests: ClassVar[list[dict[str, str]]] = []
    agents: ClassVar[list[str]] = []
    paths: ClassVar[list[str]] = []
    url: ClassVar[str] = ""
    is_down: ClassVar[bool] = False

    def do_GET(self) -> None:
        if self.is_down:
            return
        address = urlsplit(self.path)
        asked = {key: values[0] for key, values in parse_qs(address.query).items()}
        self.requests.append(asked)
        self.agents.append(self.headers["User-Agent"])
        self.paths.append(address.path)
        page = self.pages.get(asked.get("page", ""), MISSING)
        status, headers, body = self.script.pop(0) if self.script else (200, {}, page)
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def wiki() -> Iterator[type[Wiki]]:
    for kept in (Wiki.script, Wiki.requests, Wiki.agents, Wiki.paths):
        kept.clear()
    Wiki.pages, Wiki.is_down = {"Earth": EARTH}, False
    with LocalServer(Wiki) as server:
        Wiki.url = f"{server.address}/w/api.php"
        yield Wiki


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def __call__(self) -> float:
        return self.now


def client(wiki: type[Wiki], folder: Path, clock: Clock | None = None, **options: object) -> MediaWiki:
    clock = clock or Clock()
    return MediaWiki(wiki.url, cache=folder / "cache", sleep=clock.sleep, clock=clock, **options)  # type: ignore[arg-type]


def test_a_title_becomes_a_page_with_its_sections_links_and_revision(
    wiki: type[Wiki], tmp_path: Path
) -> None:
    page = client(wiki, tmp_path).page("Earth")
    assert (page.title, page.revision, page.source) == ("Earth", 123, "wiki:Earth")
    assert [section.heading for section in page.sections] == ["Moons"]
    assert [link.target for _, chunk in page.all_chunks() for link in chunk.links] == ["Sun", "Moon"]


def test_requests_ask_politely(wiki: type[Wiki], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVIUM_CONTACT", "mailto:someone@example.org")
    client(wiki, tmp_path).fetch("Earth")
    (asked,) = wiki.requests
    assert asked == {
        "action": "parse",
        "page": "Earth",
        "prop": "text|revid",
        "redirects": "1",
        "format": "json",
        "formatversion": "2",
        "maxlag": "5",
    }
    assert wiki.agents[0].startswith("trivium/")
    assert "mailto:someone@example.org" in wiki.agents[0]


def test_titles_that_redirect_become_aliases(wiki: type[Wiki], tmp_path: Path) -> None:
    redirects = [{"from": "Terra", "to": "The_Earth"}, {"from": "The_Earth", "to": "Earth"}]
    wiki.pages["Terra"] = {"parse": {**EARTH["parse"], "redirects": redirects}}
    page = client(wiki, tmp_path).page("Terra")
    assert (page.title, page.aliases) == ("Earth", ("Terra", "The Earth"))


def test_a_heading_inside_the_article_does_not_rename_the_page() -> None:
    text = "<div class='mw-parser-output'><h1>Another</h1><p>Text of the page.</p></div>"
    assert to_page({"parse": {"title": "A/wiki/B?", "revid": 1, "text": text}}).title == "A/wiki/B?"


def test_a_missing_page_is_a_clear_error_and_is_not_kept(wiki: type[Wiki], tmp_path: Path) -> None:
    one = client(wiki, tmp_path)
    for _ in range(2):
        with pytest.raises(InputError, match="there is no page titled 'Nowhere'"):
            one.fetch("Nowhere")
    assert len(wiki.requests) == 2


def test_requests_keep_their_distance(wiki: type[Wiki], tmp_path: Path) -> None:
    wiki.pages["Sun"] = EARTH
    clock = Clock()
    one = client(wiki, tmp_path, clock, interval=2.5)
    one.fetch("Earth")
    one.fetch("Sun")
    assert clock.slept == [2.5]


def test_it_waits_as_long_as_the_server_asks(wiki: type[Wiki], tmp_path: Path) -> None:
    wiki.script = [(429, {"Retry-After": "7"}, b"slow down"), (200, {"Retry-After": "5"}, MAXLAG)]
    clock = Clock()
    assert client(wiki, tmp_path, clock).page("Earth").title == "Earth"
    assert clock.slept == [7.0, 5.0]


def test_a_date_to_wait_for_is_understood(wiki: type[Wiki], tmp_path: Path) -> None:
    wiki.script = [(503, {"Retry-After": formatdate(time.time() + 60, usegmt=True)}, b"")]
    clock = Clock()
    client(wiki, tmp_path, clock).fetch("Earth")
    assert 50 <= clock.slept[0] <= 60


def test_without_a_wish_it_waits_twice_as_long_each_time_and_gives_up(
    wiki: type[Wiki], tmp_path: Path
) -> None:
    wiki.script = [(503, {}, b"")] * 4
    clock = Clock()
    with pytest.raises(InputError, match="in 4 attempts; the last: HTTP 503"):
        client(wiki, tmp_path, clock, retries=3).fetch("Earth")
    assert clock.slept == [1.0, 2.0, 4.0]
    assert len(wiki.requests) == 4


def test_a_very_long_wait_is_an_error_not_a_hang(wiki: type[Wiki], tmp_path: Path) -> None:
    wiki.script = [(429, {"Retry-After": "3600"}, b"")]
    clock = Clock()
    with pytest.raises(InputError, match="asks to wait 3600 s"):
        client(wiki, tmp_path, clock).fetch("Earth")
    assert clock.slept == []


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (404, b"<html>not found</html>", "expected JSON from the API, got HTTP 404"),
        (200, b"[1]", "expected a JSON object"),
        (200, b"[" * 100_000, "expected JSON"),
        (200, {"error": {"code": "permissiondenied", "info": "no"}}, "refused 'Earth': permissiondenied: no"),
        (200, {"batchcomplete": True}, "neither a page nor an error"),
    ],
)
def test_answers_that_are_no_page_are_explained(
    wiki: Wiki, tmp_path: Path, status: int, body: object, expected: str
) -> None:
    wiki.script = [(status, {}, body)]
    with pytest.raises(InputError, match=expected):
        client(wiki, tmp_path).fetch("Earth")


def test_a_wrong_address_is_named_at_once(tmp_path: Path) -> None:
    clock = Clock()
    one = MediaWiki("not an address", cache=tmp_path, sleep=clock.sleep, clock=clock)
    with pytest.raises(InputError, match="address of the API is not usable"):
        one.fetch("Earth")
    assert clock.slept == []


def test_answers_are_kept_and_serve_without_a_network(wiki: type[Wiki], tmp_path: Path) -> None:
    first = client(wiki, tmp_path).page("Earth")
    wiki.is_down = True
    assert client(wiki, tmp_path).page("Earth") == first
    assert client(wiki, tmp_path).page("Earth_").text == first.text
    with pytest.raises(InputError, match=r"no answer \(ConnectionError\)"):
        client(wiki, tmp_path, retries=1).fetch("Sun")


def test_a_damaged_or_foreign_cache_file_is_asked_for_again(wiki: type[Wiki], tmp_path: Path) -> None:
    client(wiki, tmp_path).fetch("Earth")
    (kept,) = (tmp_path / "cache").iterdir()
    for damage in ('{"key": ["x", "y"], "answer": {}}', "not json", "[]"):
        kept.write_text(damage)
        assert client(wiki, tmp_path).fetch("Earth") == EARTH
    assert len(wiki.requests) == 4


@pytest.mark.parametrize(
    "title", ["../../x", "/etc/passwd", "a\0b", "x" * 10_000, "'; --", "a|b&page=c", "\ud800"]
)
def test_malicious_titles_stay_inside_the_cache_folder(wiki: type[Wiki], tmp_path: Path, title: str) -> None:
    asked = "a b" if title == "a\0b" else title.replace("\ud800", "\ufffd")
    wiki.pages[asked] = {"parse": {**EARTH["parse"], "title": asked}}
    one = client(wiki, tmp_path)
    one.fetch(title)
    assert wiki.requests[0]["page"] == asked
    assert wiki.paths == ["/w/api.php"]
    assert [path.parent for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "cache"]


def test_an_empty_title_is_refused(wiki: type[Wiki], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected the title"):
        client(wiki, tmp_path).fetch(" \n")
    assert wiki.requests == []


@pytest.mark.parametrize("answer", [None, [], {}, {"parse": {"text": {"*": "old format"}}}])
def test_an_answer_without_text_is_an_input_error(answer: object) -> None:
    with pytest.raises(InputError, match="formatversion 2"):
        to_page(answer)


def test_wiki_sources_become_items_that_a_worker_reads(
    wiki: Wiki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIVIUM_MEDIAWIKI_API", wiki.url)
    monkeypatch.setenv("TRIVIUM_HOME", str(tmp_path))
    assert list(discover(["wiki:Nowhere"])) == [
        Problem("wiki:Nowhere", "there is no page titled 'Nowhere' (The page you specified doesn't exist.)")
    ]
    (item,) = discover(["wiki:Earth"])
    assert isinstance(item, Item)
    wiki.is_down = True
    (page,) = read(item)
    assert (page.title, page.source) == ("Earth", "wiki:Earth")


@pytest.mark.parametrize("revision", [1 << 63, -1, True, 1.5, "7", None])
def test_a_revision_that_no_store_can_keep_is_unknown(revision: object) -> None:
    assert to_page({"parse": {**EARTH["parse"], "revid": revision}}).revision is None
    assert to_page({"parse": {**EARTH["parse"], "revid": (1 << 63) - 1}}).revision == (1 << 63) - 1


def test_redirects_that_are_none_are_passed_over() -> None:
    redirects = ["Terra", None, {"from": 7}, {"from": "Blue Planet", "to": "Earth"}]
    page = to_page({"parse": {**EARTH["parse"], "redirects": redirects}})
    assert page.aliases == ("Blue Planet",)
