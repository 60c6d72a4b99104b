"""Processes answer as the server itself does, from the state it shows, and one that ends is replaced."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

import pytest
from starlette.testclient import TestClient

from tests.fakes.cross_encoder_files import write_cross_encoder
from tests.server.world import HTML, QUESTION, finished
from tests.waiting import until
from trivium.common.worker_processes import Worker, running
from trivium.server import processes
from trivium.server.app import create_app
from trivium.server.errors import ApiError
from trivium.server.schemas import SearchBody
from trivium.server.service import Service
from trivium.server.settings import ServerSettings

SEARCHES: tuple[dict[str, Any], ...] = (
    {"question": QUESTION, "k": 3, "explain": True},
    {"question": QUESTION, "retrievers": ["walk"]},
    {"question": "Mars", "fusion": "rrf", "k": 1},
)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A reranker that the server was told of."""
    return f"cross-encoder:{write_cross_encoder(tmp_path_factory.mktemp('model'))}"


@pytest.fixture(scope="module")
def client(store: Path, encoder: str) -> Iterator[TestClient]:
    """Of a server whose questions two processes answer."""
    app = create_app(store, ServerSettings(processes=2, cache_bytes=0, rerankers=(encoder,)))
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        until(lambda: client.get("/ready").status_code == 200)
        until(lambda: app.state.service.processes.answering == 2)
        yield client
    assert not searching()


def test_they_answer_as_the_server_itself_does(store: Path, client: TestClient, encoder: str) -> None:
    app = create_app(store, ServerSettings(rerankers=(encoder,)))
    with TestClient(app, base_url="http://localhost") as alone:
        until(lambda: app.state.service.collection.ready)
        for given in (*SEARCHES, {"question": QUESTION, "k": 2, "rerank": encoder}):
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


def test_a_question_costs_one_message_each_way(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    sent, received = [], []
    send, receive = Connection.send_bytes, Connection.recv_bytes

    def count_sent(self: Connection, message: bytes) -> None:
        sent.append(message)
        send(self, message)

    def count_received(self: Connection) -> bytes:
        received.append(receive(self))
        return received[-1]

    monkeypatch.setattr(Connection, "send_bytes", count_sent)
    monkeypatch.setattr(Connection, "recv_bytes", count_received)
    for _ in range(3):
        assert client.post("/search", json={"question": QUESTION}).status_code == 200
    assert (len(sent), len(received)) == (3, 3)


@pytest.mark.skipif(sys.platform != "linux", reason="the variable is read by the C library of Linux")
def test_they_have_large_pages_unless_the_variable_is_set(client: TestClient) -> None:
    """At most one core each, with the model and the indexes in pages of 2 MB where the system allows them."""
    for process in searching():
        environment = Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
        assert f"GLIBC_TUNABLES={os.environ['GLIBC_TUNABLES']}".encode() in environment
    assert "GLIBC_TUNABLES" in os.environ


def test_one_that_ends_over_a_question_is_replaced(client: TestClient) -> None:
    """Who asked is told to try again; the next answers come as before."""
    processes = service(client).processes
    assert processes is not None
    until(lambda: processes.answering == 2)
    victim = searching()[0].pid
    assert victim is not None
    for process in searching():
        os.kill(process.pid or 0, signal.SIGSTOP)  # so that the question is under way when the process ends
    with ThreadPoolExecutor() as threads:
        asked = [threads.submit(client.post, "/search", json={"question": QUESTION}) for _ in range(2)]
        until(lambda: service(client).searching.taken == 2)
        time.sleep(1)  # both have been sent
        os.kill(victim, signal.SIGKILL)
        for process in searching():
            os.kill(process.pid or 0, signal.SIGCONT)
        answers = [one.result() for one in asked]
    assert sorted(answer.status_code for answer in answers) == [200, 503]
    (refused,) = (answer for answer in answers if answer.status_code == 503)
    assert refused.headers["Retry-After"] == "1"
    assert all(client.post("/search", json={"question": QUESTION}).status_code == 200 for _ in range(4))
    until(lambda: len(searching()) == 2)


def test_those_that_end_while_nobody_asks_are_replaced_for_the_next_question(client: TestClient) -> None:
    until(lambda: service(client).processes.answering == 2)  # type: ignore[union-attr]
    before = {process.pid for process in searching()}
    for pid in before:
        os.kill(pid or 0, signal.SIGKILL)
    until(lambda: not searching())
    until(lambda: client.post("/search", json={"question": QUESTION}).status_code == 200)
    assert not before & {process.pid for process in searching()}


def test_one_that_is_stuck_is_killed_and_replaced_and_gives_its_thread_back(store: Path) -> None:
    """And keeps no server from ending."""
    others = searching()
    app = create_app(store, ServerSettings(processes=1, timeout=1.5, cache_bytes=0))
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        until(lambda: client.get("/ready").status_code == 200)
        (process,) = set(searching()) - set(others)
        stuck = process.pid or 0
        os.kill(stuck, signal.SIGSTOP)
        stopped = time.monotonic()
        refused = client.post("/search", json={"question": QUESTION})
        assert time.monotonic() - stopped < 1.5 + 1.0
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "timeout")
        until(lambda: service(client).searching.taken == 0)
        until(lambda: client.get("/ready").status_code == 200)
        assert process.pid != stuck
        assert client.post("/search", json={"question": QUESTION}).status_code == 200
        os.kill(process.pid or 0, signal.SIGSTOP)
        stopped = time.monotonic()
    assert time.monotonic() - stopped < 20 and not process.is_alive


def test_processes_that_never_open_the_store_are_never_ready_and_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no store, so every process ends; whoever asks is told, and another is started."""
    monkeypatch.setattr(processes, "_PAUSE_SECONDS", 0.01)
    (tmp_path / "store").mkdir()
    started = processes.Processes(tmp_path / "store", 1, lambda _: None)
    started.start()
    with pytest.raises(ApiError):
        started.ask("search", SearchBody(question=QUESTION, k=3, explain=False), None, time.monotonic() + 0.5)
    until(lambda: caplog.text.count("cannot open the store") > 1)
    assert started.answering == 0
    started.close()


def searching() -> list[Worker]:
    """The processes that search."""
    return running(processes.FUNCTION)


def service(client: TestClient) -> Service:
    """The parts of its server."""
    return cast(Service, client.app.state.service)  # type: ignore[attr-defined]
