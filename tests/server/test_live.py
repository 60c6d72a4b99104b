"""Live sources over HTTP: off unless the server allows them, beside the collection where a question names them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.fakes.live_server import SEARXNG, Known, LiveServer, Reply, live_server
from tests.server.world import QUESTION, serving
from trivium.server.keys import new_key
from trivium.server.settings import ServerSettings

TITAN = Known("Titan", "Titan is the largest moon of Saturn. Christiaan Huygens discovered it.")
OF_TITAN = "Who discovered Titan, the largest moon of Saturn?"


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveServer]:
    """A SearXNG that the settings name, and nothing else."""
    with live_server(TITAN) as server:
        monkeypatch.setenv("TRIVIUM_SEARXNG_URL", f"{server.address}/searxng")
        monkeypatch.setenv("TRIVIUM_HOME", str(tmp_path / "home"))
        monkeypatch.setenv("TRIVIUM_LIVE_PAGES", "0")
        yield server


def mode(client: TestClient, wanted: str) -> None:
    answer = client.post("/live", json={"mode": wanted})
    assert answer.status_code == 200 and answer.json()["mode"] == wanted


def test_off_nothing_is_asked_and_naming_a_source_is_refused(store: Path, web: LiveServer) -> None:
    with serving(store, extracts=True) as client:
        state = client.get("/live").json()
        assert state["mode"] == "off" and state["usual"] == ["web"]
        assert {"name": "web", "stands_for": "searxng", "ready": True, "lacks": None} in state["sources"]
        lacking = {source["name"]: source["lacks"] for source in state["sources"] if not source["ready"]}
        assert lacking["brave"] == "needs the setting brave_key: set TRIVIUM_BRAVE_KEY"
        for path in ("/search", "/ask"):
            refused = client.post(path, json={"question": QUESTION, "sources": ["web"]})
            assert refused.status_code == 403 and refused.json()["error"]["code"] == "live_off"
            assert client.post(path, json={"question": QUESTION}).json()["sources"] == []
        assert web.sent == []


def test_allowed_they_are_asked_where_a_question_names_them(store: Path, web: LiveServer) -> None:
    with serving(store, ServerSettings(live="allow"), extracts=True) as client:
        assert client.post("/search", json={"question": OF_TITAN}).json()["sources"] == [] and web.sent == []
        found = client.post("/search", json={"question": OF_TITAN, "sources": ["web"], "k": 3}).json()
        first = found["hits"][0]
        assert first["page"].startswith("Titan (127.0.0.1")
        assert first["live"]["source"] == "searxng" and first["live"]["address"] == first["document"]
        assert found["sources"][0]["name"] == "searxng" and found["sources"][0]["found"] == 1
        answer = client.post("/ask", json={"question": OF_TITAN, "sources": ["searxng"]}).json()
        assert [c["live"]["address"] for c in answer["citations"] if c["live"]] == [first["document"]]
        assert answer["sources"][0]["cached_age"] is not None
        for wrong, status in ((["bing"], 422), (["brave"], 422), (["web"] * 11, 422), ("web", 422)):
            refused = client.post("/search", json={"question": OF_TITAN, "sources": wrong})
            assert refused.status_code == status, refused.json()
        assert len(web.asked(SEARXNG)) == 1


def test_forced_they_are_asked_always_and_off_again_never(store: Path, web: LiveServer) -> None:
    with serving(store, extracts=True) as client:
        mode(client, "force")
        assert client.post("/ask", json={"question": OF_TITAN}).json()["sources"][0]["name"] == "searxng"
        mode(client, "off")
        assert client.post("/ask", json={"question": OF_TITAN}).json()["sources"] == []
        for wrong in ({"mode": "on"}, {}, {"mode": "off", "more": 1}):
            assert client.post("/live", json=wrong).status_code == 422


def test_small_talk_asks_no_source(store: Path, web: LiveServer) -> None:
    with serving(store, ServerSettings(live="force"), extracts=True) as client:
        answer = client.post("/ask", json={"question": "Thank you!", "sources": ["web"]}).json()
        assert answer["intent"] == "small_talk" and answer["sources"] == [] and web.sent == []
        taken = {"question": "Thank you!", "intent": "collection"}
        assert client.post("/ask", json=taken).json()["sources"][0]["name"] == "searxng"


def test_to_switch_takes_a_key_that_may_write(store: Path, web: LiveServer) -> None:
    texts = {scope: new_key(scope, scope) for scope in ("read", "write")}  # type: ignore[arg-type]
    settings = ServerSettings(api_keys=tuple(key for _, key in texts.values()))
    with serving(store, settings, extracts=True) as client:
        for scope, status in (("read", 403), ("write", 200)):
            headers = {"X-API-Key": texts[scope][0]}
            assert client.get("/live", headers=headers).status_code == 200
            assert client.post("/live", json={"mode": "allow"}, headers=headers).status_code == status
        assert client.get("/live").status_code == 401


def test_a_failing_source_fails_no_answer_and_a_stream_says_so(store: Path, web: LiveServer) -> None:
    web.replies[SEARXNG] = Reply(b"busy", 503)
    with serving(store, ServerSettings(live="allow"), extracts=True) as client:
        given = {"question": QUESTION, "sources": ["web"], "stream": True}
        events = client.post("/ask", json=given).text
        found, done = (
            json.loads(line.removeprefix("data: "))
            for name in ("found", "done")
            for line in events.split(f"event: {name}\n")[1].splitlines()[:1]
        )
        assert found["sources"] == done["sources"] and found["sources"][0]["error"] == "it answers HTTP 503"
        assert done["passages"]
