"""Every adapter reads the format of its API, and tells what is wrong where something else comes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.live_server import (
    ARXIV,
    BRAVE,
    MEDIAWIKI,
    SEARXNG,
    SERPAPI,
    TAVILY,
    Known,
    LiveServer,
    Reply,
    arxiv_error,
    live_server,
)
from trivium.errors import ConfigurationError, InputError
from trivium.live.registry import make_source, source_states, usual_sources
from trivium.live.source import LiveDocument
from trivium.parser.sources import arxiv
from trivium.settings.settings import Settings

MOON = Known(
    "A new moon", "A survey & its camera found a <small> moon of Saturn.", page="<p>A new moon was found.</p>"
)
RING = Known("A ring", "The ring is made of ice.")
PATHS = {
    "searxng": SEARXNG,
    "serpapi": SERPAPI,
    "brave": BRAVE,
    "tavily": TAVILY,
    "arxiv": ARXIV,
    "mediawiki": MEDIAWIKI,
}
JSON_SOURCES = [name for name in PATHS if name != "arxiv"]


@pytest.fixture
def server() -> Iterator[LiveServer]:
    with live_server(MOON, RING) as server:
        yield server


def settings_of(server: LiveServer, home: Path, **others: object) -> Settings:
    return Settings(**server.settings(home=home, **others))


def found(server: LiveServer, home: Path, name: str, k: int = 10, seconds: float = 5.0) -> list[LiveDocument]:
    return make_source(name, settings_of(server, home)).search("Which moons are new?", k, seconds)


@pytest.mark.parametrize("name", PATHS)
def test_what_an_api_answers_becomes_documents_in_its_order(
    server: LiveServer, tmp_path: Path, name: str
) -> None:
    moon, ring = found(server, tmp_path, name)
    assert (moon.title, ring.title) == ("A new moon", "A ring")
    assert moon.text.startswith("A survey & its camera found a ") and moon.text.rstrip(".").endswith(
        ("moon of Saturn", "A further snippet of the page")
    )
    assert moon.address.startswith(("http://127.0.0.1:", "https://arxiv.org/abs/2602.00001"))
    assert moon.published is None or moon.published.startswith("2026-02-03")
    assert (moon.published is None) == (name == "tavily")  # which does not say


@pytest.mark.parametrize("name", PATHS)
def test_no_more_documents_than_asked_for(server: LiveServer, tmp_path: Path, name: str) -> None:
    assert [document.title for document in found(server, tmp_path, name, k=1)] == ["A new moon"]


@pytest.mark.parametrize("name", PATHS)
def test_an_api_that_knows_nothing_gives_nothing(server: LiveServer, tmp_path: Path, name: str) -> None:
    server.documents.clear()
    assert found(server, tmp_path, name) == []


def test_keys_go_where_each_api_wants_them_and_the_question_with_them(
    server: LiveServer, tmp_path: Path
) -> None:
    for name in PATHS:
        found(server, tmp_path, name)
    asked = {name: server.asked(path)[0] for name, path in PATHS.items()}
    assert asked["searxng"].query == {"q": "Which moons are new?", "format": "json", "pageno": "1"}
    assert asked["serpapi"].query["q"] == asked["brave"].query["q"] == asked["tavily"].body["query"]
    assert asked["mediawiki"].query["gsrsearch"] == "Which moons are new?"
    assert asked["arxiv"].query["search_query"].startswith("(all:moons OR all:new) AND submittedDate:[")
    assert asked["arxiv"].query["max_results"] == "10"


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize(
    "reply",
    [
        Reply(b"<html>busy</html>", 503, "text/html"),
        Reply(b"", 429),
        Reply(b"", 302, location="http://127.0.0.1:1/elsewhere"),
        Reply(b"not what was asked for"),
        Reply(b"[1, 2]"),
        Reply(b'"text"'),
        Reply(b"\xff\xfe\x00"),
        Reply(b"[" * 100_000),
    ],
)
def test_an_answer_of_another_kind_is_an_error_that_says_so(
    server: LiveServer, tmp_path: Path, name: str, reply: Reply
) -> None:
    server.replies[PATHS[name]] = reply
    with pytest.raises(InputError, match=r"answers HTTP|expected"):
        found(server, tmp_path, name)


@pytest.mark.parametrize("name", JSON_SOURCES)
def test_results_that_are_none_are_left_out(server: LiveServer, tmp_path: Path, name: str) -> None:
    server.replies[PATHS[name]] = Reply(
        b'{"results": [1, null, {"url": 3, "title": ["x"]}], "organic_results": "no", "web": {"results": {}},'
        b' "query": {"pages": [7, {"title": 1, "fullurl": "javascript:alert(1)"}]}}'
    )
    assert all(document.address == "" for document in found(server, tmp_path, name))


def test_a_refused_key_is_told_and_never_shown(server: LiveServer, tmp_path: Path) -> None:
    for name, hint in (
        ("serpapi", "is the key right"),
        ("tavily", "is the key right"),
        ("brave", "HTTP 422"),
    ):
        settings = settings_of(server, tmp_path, **{f"{name}_key": "a-secret-key"})
        source = make_source(name, settings)
        with pytest.raises(InputError, match=hint) as error:
            source.search("moons", 3, 5.0)
        assert "a-secret-key" not in f"{error.value}{source!r}"


def test_a_key_that_is_missing_is_told_at_once(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    for name in ("serpapi", "brave", "tavily", "searxng", "web"):
        with pytest.raises(ConfigurationError, match=r"needs the setting \w+: set TRIVIUM_"):
            make_source(name, settings)
    with pytest.raises(InputError, match="unknown live source 'bing': expected some of web, searxng"):
        make_source("bing", settings)


def test_web_is_the_first_source_that_is_configured(tmp_path: Path) -> None:
    assert usual_sources(Settings(home=tmp_path)) == ("mediawiki",)
    settings = Settings(home=tmp_path, tavily_key="k")
    assert make_source("web", settings).name == "tavily" and usual_sources(settings) == ("web",)
    lacking = {state.name for state in source_states(settings) if state.lacks is not None}
    assert lacking == {"searxng", "brave", "serpapi"}


def test_a_paper_is_one_text_with_an_address_without_version(server: LiveServer, tmp_path: Path) -> None:
    server.documents[:] = [Known("Long", "A sentence of an abstract. " * 400)]
    (paper,) = found(server, tmp_path, "arxiv")
    assert paper.whole and paper.address == "https://arxiv.org/abs/2602.00001"


def test_errors_of_arxiv_and_declared_entities_are_refused(server: LiveServer, tmp_path: Path) -> None:
    server.replies[ARXIV] = arxiv_error("incorrect id format for x")
    with pytest.raises(InputError, match="refused the query: incorrect id format"):
        found(server, tmp_path, "arxiv")
    bomb = b'<?xml version="1.0"?><!DOCTYPE f [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><feed>&b;</feed>'
    for body in (bomb, bomb.decode().encode("utf-16")):
        with pytest.raises(InputError, match="expected an Atom feed"):
            arxiv.read_feed(body)


def test_the_best_pages_of_a_wiki_are_read_whole(server: LiveServer, tmp_path: Path) -> None:
    source = make_source("mediawiki", settings_of(server, tmp_path, live_pages=2))
    moon, ring = source.search("moons", 5, 5.0)
    assert [passage.text for passage in moon.passages] == ["A new moon was found."]
    assert ring.passages == () and ring.text == "The ring is made of ice."  # it has no page
    assert moon.names == ("wiki:A new moon",)
