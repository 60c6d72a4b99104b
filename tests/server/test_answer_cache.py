"""A question that is repeated is answered from memory until the documents change, and never with an old answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.server.world import QUESTION, finished, serving
from trivium.server import service
from trivium.server.answer_cache import AnswerCache
from trivium.server.question_kinds import KINDS, Kind, Reply
from trivium.server.schemas import ExplainBody, SearchBody
from trivium.server.settings import ServerSettings

PAGE = (
    b"<!doctype html><title>Zerzura</title><h1>Zerzura</h1><p>Zerzura is a city that moons of Mars hide.</p>"
)


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The questions that were searched for."""
    asked: list[str] = []
    work = KINDS["search"].work

    def watched(engine: Any, given: Any) -> Reply:
        asked.append(given.question)
        return work(engine, given)

    monkeypatch.setattr(service, "KINDS", {**KINDS, "search": Kind(SearchBody, watched)})
    return asked


@pytest.fixture
def client(store: Path, searched: list[str]) -> Iterator[TestClient]:
    with serving(store) as client:
        searched.clear()
        yield client


def counted(client: TestClient) -> dict[str, int]:
    found = re.findall(r'trivium_answer_cache_total\{result="(\w+)"\} (\d+)', client.get("/metrics").text)
    return {name: int(count) for name, count in found}


def test_the_same_question_is_searched_for_once(client: TestClient, searched: list[str]) -> None:
    first, second = (client.post("/search", json={"question": QUESTION}) for _ in range(2))
    assert searched == [QUESTION]
    assert second.content == first.content
    assert second.headers["x-trivium-scores"] == first.headers["x-trivium-scores"]
    assert counted(client) == {"hit": 1, "miss": 1}


def test_another_option_is_another_question(client: TestClient, searched: list[str]) -> None:
    for options in ({}, {"k": 2}, {"explain": True}, {"retrievers": ["lexical"]}, {"where": "title = Mars"}):
        client.post("/search", json={"question": QUESTION, **options})
    assert len(searched) == 5


def test_after_a_change_the_new_document_is_found(client: TestClient, searched: list[str]) -> None:
    question = {"question": "Where is the city of Zerzura among the moons?", "retrievers": ["lexical"]}

    def pages() -> set[str]:
        return {hit["page"] for hit in client.post("/search", json=question).json()["hits"]}

    assert "Zerzura" not in pages()
    job = client.post("/documents", files={"files": ("zerzura.html", PAGE, "text/html")}).json()
    assert finished(client, job)["state"] == "done"
    assert "Zerzura" in pages()
    assert finished(client, client.delete("/documents/Zerzura").json())["state"] == "done"
    assert "Zerzura" not in pages()
    assert len(searched) == 3


def test_errors_are_not_kept(client: TestClient) -> None:
    for _ in range(2):
        assert client.post("/search", json={"question": QUESTION, "fusion": "nosuch"}).status_code == 422
    assert counted(client)["hit"] == 0


def test_it_can_be_switched_off(store: Path, searched: list[str]) -> None:
    with serving(store, ServerSettings(cache_bytes=0)) as client:
        searched.clear()
        for _ in range(2):
            client.post("/search", json={"question": QUESTION})
        assert searched == [QUESTION, QUESTION]
        assert counted(client) == {"hit": 0, "miss": 0}


@pytest.mark.parametrize(
    "fields", [{"sources": ["weather"]}, {"rerank": "mmr"}], ids=["live sources", "rerankers"]
)
def test_what_asks_others_than_the_store_is_not_kept(fields: dict[str, Any]) -> None:
    cache = AnswerCache(1 << 20)
    assert cache.key("search", SearchBody(question="a", **fields), "state") is None
    assert cache.key("search", SearchBody(question="a"), None) is None
    assert cache.key("explain", ExplainBody(question="a", uri="b#chunk-1"), "state") is not None


def test_an_answer_that_would_displace_many_others_is_not_kept() -> None:
    cache = AnswerCache(20_000)
    cache.put("a", ("search", "0"), Reply(b"x" * 2_000))
    assert cache.find("a", ("search", "0")) is None
