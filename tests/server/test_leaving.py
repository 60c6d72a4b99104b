"""Who leaves takes along what was being done for him: a slow endpoint never ends answering for others."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from pydantic import SecretStr

from tests.fakes.live_server import SEARXNG, LiveServer, live_server
from tests.fakes.live_server import Reply as LiveReply
from tests.fakes.openai_server import OpenAIServer, Reply, error, event, events, streamed
from tests.server.world import QUESTION, listening
from tests.waiting import until
from trivium.endpoints.endpoint import Endpoint
from trivium.llm.openai import OpenAIChatModel
from trivium.server.settings import ServerSettings

NO_TEXT = event({"choices": [{"index": 0, "delta": {"role": "assistant"}, "finish_reason": None}]})
MISBEHAVIOUR = {
    "never answers": Reply({}, delay=20.0),
    "only comments": events(*([b": ping\n\n", 0.05] * 400)),
    "no text": events(*([NO_TEXT, 0.05] * 400)),
    "bytes without an end": events(b"data: {", *([b" ", 0.05] * 400)),
    "come again in a minute": error(503, "busy", headers={"Retry-After": "60"}),
}
PLACES = 2


@pytest.fixture(scope="module")
def endpoint() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


@pytest.fixture(autouse=True)
def well_again(endpoint: OpenAIServer) -> None:
    endpoint.script.clear()
    endpoint.requests.clear()


@pytest.fixture(scope="module")
def address(store: Path, endpoint: OpenAIServer) -> Iterator[str]:
    settings = ServerSettings(answer_workers=1, answer_queue=PLACES - 1)
    model = OpenAIChatModel("tiny", Endpoint(endpoint.base_url, SecretStr("secret"), direct=True))
    with listening(store, settings, model=model) as running:
        yield running


@contextmanager
def connect(address: str) -> Iterator[http.client.HTTPConnection]:
    with closing(http.client.HTTPConnection(urlsplit(address).netloc, timeout=20)) as connection:
        yield connection


def send(connection: http.client.HTTPConnection, stream: bool) -> None:
    post(connection, "/ask", stream=stream)


def post(connection: http.client.HTTPConnection, path: str, **given: Any) -> None:
    body = json.dumps({"question": QUESTION, **given})
    connection.request("POST", path, body, {"Content-Type": "application/json"})


def get(address: str, path: str) -> Any:
    with connect(address) as connection:
        connection.request("GET", path)
        return json.load(connection.getresponse())


def taken(address: str, pool: str = "answer") -> int:
    return int(get(address, "/stats")["waiting"][pool])


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("kind", MISBEHAVIOUR)
def test_a_client_that_leaves_frees_its_place_within_a_second(
    address: str, endpoint: OpenAIServer, kind: str, stream: bool
) -> None:
    """As many as there are places ask and leave; the next one is answered by an endpoint that is well again."""
    endpoint.script.extend([MISBEHAVIOUR[kind]] * PLACES)
    with ExitStack() as clients:
        for _ in range(PLACES):
            send(clients.enter_context(connect(address)), stream)
        until(lambda: endpoint.requests)
    left = time.monotonic()
    until(lambda: taken(address) == 0, 5.0)
    assert time.monotonic() - left < 1.5  # a second, and what a busy machine adds
    endpoint.script.clear()
    endpoint.script.append(streamed("Asaph Hall found them [1]."))
    with connect(address) as after:
        send(after, stream=False)
        assert json.load(after.getresponse())["answer"] == "Asaph Hall found them [1]."


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveServer]:
    """A search engine that never answers."""
    with live_server() as server:
        server.replies[SEARXNG] = LiveReply(b"{}", pause=20.0)
        monkeypatch.setenv("TRIVIUM_SEARXNG_URL", f"{server.address}/searxng")
        monkeypatch.setenv("TRIVIUM_HOME", str(tmp_path / "home"))
        monkeypatch.setenv("TRIVIUM_LIVE_SECONDS", "20")
        yield server


@pytest.mark.parametrize(
    ("path", "given", "processes"),
    [
        ("/search", {}, 0),
        ("/ask", {"stream": False}, 0),
        ("/ask", {"stream": True}, 0),
        ("/search", {}, 1),
    ],
    ids=["search", "whole", "streamed", "in another process"],
)
def test_a_client_that_leaves_hangs_up_on_the_live_sources(
    store: Path, web: LiveServer, path: str, given: dict[str, Any], processes: int
) -> None:
    """Within a second its place is free and the source's connection closed."""
    settings = ServerSettings(live="allow", workers=1, queue=PLACES - 1, processes=processes)
    with listening(store, settings, extracts=True) as address:
        until(lambda: get(address, "/ready")["ready"])
        with ExitStack() as clients:
            for _ in range(PLACES):
                post(clients.enter_context(connect(address)), path, sources=["web"], **given)
            until(lambda: web.asked(SEARXNG))
        left = time.monotonic()
        until(lambda: taken(address, "search") == 0, 5.0)
        until(lambda: web.hung_up, 5.0)
        assert time.monotonic() - left < 1.5
        with connect(address) as after:
            post(after, "/search")
            assert json.load(after.getresponse())["hits"]
        assert len(web.hung_up) == len(web.asked(SEARXNG))


def test_a_server_that_is_stopped_does_not_wait_for_a_model(store: Path, endpoint: OpenAIServer) -> None:
    endpoint.script.append(MISBEHAVIOUR["no text"])
    model = OpenAIChatModel("tiny", Endpoint(endpoint.base_url, direct=True))
    with ExitStack() as client, listening(store, ServerSettings(shutdown_timeout=1), model=model) as address:
        send(client.enter_context(connect(address)), stream=True)
        until(lambda: endpoint.requests)
        stopped = time.monotonic()
    assert time.monotonic() - stopped < 5
