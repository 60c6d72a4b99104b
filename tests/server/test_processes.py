"""Processes answer as the server itself does, from the state it shows, and one that ends is replaced."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.server.world import HTML, QUESTION, build_store, finished, until
from trivium.server.app import create_app
from trivium.server.settings import ServerSettings

SEARCHES = (
    {"question": QUESTION, "k": 3, "explain": True},
    {"question": QUESTION, "retrievers": ["walk"]},
    {"question": "Mars", "fusion": "rrf", "k": 1},
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small store."""
    return build_store(tmp_path_factory.mktemp("processes"))


@pytest.fixture(scope="module")
def client(store: Path) -> Iterator[TestClient]:
    """Of a server whose questions two processes answer."""
    app = create_app(store, ServerSettings(processes=2))
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        until(lambda: client.get("/ready").status_code == 200)
        assert app.state.service.processes.ready
        yield client
    assert not multiprocessing.active_children()


def test_they_answer_as_the_server_itself_does(store: Path, client: TestClient) -> None:
    app = create_app(store)
    with TestClient(app, base_url="http://localhost") as alone:
        until(lambda: app.state.service.collection.ready)
        for given in SEARCHES:
            expected, got = alone.post("/search", json=given), client.post("/search", json=given)
            assert got.status_code == 200 and got.json() == expected.json()
            for header in ("X-Trivium-Scores", "Content-Type"):
                assert got.headers[header] == expected.headers[header]
        for path, given in (
            ("/explain", {"question": QUESTION, "uri": "Phobos#chunk-1"}),
            ("/explain", {"question": QUESTION, "uri": "Vulcan#chunk-1"}),
            ("/ask", {"question": QUESTION}),
        ):
            expected, got = alone.post(path, json=given), client.post(path, json=given)
            assert (got.status_code, got.json()) == (expected.status_code, expected.json())
    assert b'trivium_search_stage_seconds_count{stage="walk"} 0.0' not in client.get("/metrics").content


def test_what_is_added_shows_in_the_next_answer_of_every_process(client: TestClient) -> None:
    """The states follow each other: none of four questions may be answered from before."""
    for _ in range(2):
        job = client.post("/documents", files={"files": ("vulcan.html", HTML.encode(), "text/html")}).json()
        assert finished(client, job)["state"] == "done"
        for _ in range(4):
            found = client.post("/search", json={"question": "Who looked for Vulcan?"}).json()
            assert "Vulcan" in {hit["page"] for hit in found["hits"]}
        assert finished(client, client.delete("/documents/Vulcan").json())["state"] == "done"
        for _ in range(4):
            found = client.post("/search", json={"question": "Who looked for Vulcan?"}).json()
            assert "Vulcan" not in {hit["page"] for hit in found["hits"]}


def test_one_that_ends_over_a_question_is_replaced(client: TestClient) -> None:
    """Who asked is told to try again; the next answers come as before."""
    victim = multiprocessing.active_children()[0].pid
    assert victim is not None
    os.kill(victim, signal.SIGKILL)
    statuses = [client.post("/search", json={"question": QUESTION}) for _ in range(4)]
    assert sorted(answer.status_code for answer in statuses) == [200, 200, 200, 503]
    (refused,) = (answer for answer in statuses if answer.status_code == 503)
    assert refused.headers["Retry-After"] == "1"
    assert len(multiprocessing.active_children()) == 2
