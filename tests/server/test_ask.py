"""An answer over HTTP: whole, or as it is written; who hangs up stops it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.fakes.chat_model import ScriptedModel
from tests.server.world import QUESTION, Script, serving
from tests.waiting import until
from trivium.errors import ChatModelError, ConfigurationError
from trivium.server.app import create_app
from trivium.server.settings import ServerSettings
from trivium.types import Turn


class Model:
    """A language model by name; the script never asks it."""

    name = "scripted"

    def complete(self, *_: Any, **__: Any) -> str:
        """Never called."""
        raise AssertionError("nobody asks this one")


@pytest.fixture(scope="module")
def script() -> Script:
    return Script()


@pytest.fixture(scope="module")
def client(store: Path, script: Script) -> Iterator[TestClient]:
    with serving(store, script=script) as client:
        yield client


def events(text: str) -> Iterator[tuple[str, Any]]:
    """The events of a stream, comments left out."""
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if fields:
            yield fields["event"], json.loads(fields["data"])


def test_a_whole_answer_has_every_field_and_the_conversation_is_passed_on(
    client: TestClient, script: Script
) -> None:
    history = [{"question": "What is Mars?", "answer": "A planet [1]."}]
    answer = client.post("/ask", json={"question": QUESTION, "history": history, "k": 2})
    body = answer.json()
    assert answer.status_code == 200
    assert set(body) == {
        "answer", "markdown", "outcome", "form", "parts", "confidence", "disagreements", "intent", "searched_for",
        "recall_query", "citations", "statements", "passages", "model", "usage", "sources", "warnings",
    }  # fmt: skip
    assert (
        body["answer"] == "Asaph Hall found them [1]."
        and body["outcome"] == "answered"
        and len(body["passages"]) == 2
    )
    assert body["citations"][0]["uri"] == body["passages"][0]["uri"]
    assert script.asked == [(QUESTION, (Turn("What is Mars?", "A planet [1]."),))]


def test_a_stream_shows_what_was_found_then_pieces_then_the_same_whole_answer(client: TestClient) -> None:
    stream = client.post("/ask", json={"question": QUESTION, "stream": True})
    whole = client.post("/ask", json={"question": QUESTION}).json()
    assert stream.headers["content-type"].startswith("text/event-stream")
    assert stream.headers["cache-control"] == "no-store"
    (first, found), *pieces, (last, done) = events(stream.text)
    assert (first, last) == ("found", "done")
    assert found == {
        "passages": whole["passages"],
        "searched_for": QUESTION,
        "recall_query": None,
        "intent": "collection",
        "sources": [],
        "warnings": [],
    }
    assert [(name, data["text"]) for name, data in pieces] == [
        ("piece", "Asaph Hall "),
        ("piece", "found them [1]."),
    ]
    assert done == whole


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [(ChatModelError("secret"), 502, "model"), (RuntimeError("secret"), 500, "internal")],
)
def test_a_failing_model_is_said_in_either_way_without_its_words(
    client: TestClient,
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    status: int,
    code: str,
) -> None:
    monkeypatch.setattr(script, "error", error)
    answer = client.post("/ask", json={"question": QUESTION})
    stream = client.post("/ask", json={"question": QUESTION, "stream": True})
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    name, data = list(events(stream.text))[-1]
    assert (name, data["error"]["code"]) == ("error", code)
    assert "secret" not in answer.text + stream.text


def test_too_many_answers_at_once_are_refused_before_a_stream_begins(store: Path) -> None:
    """One is written and one waits; the third is told to come again, and searches go on meanwhile."""
    script = Script()
    settings = ServerSettings(answer_workers=1, answer_queue=1)
    with serving(store, settings, script, Model()) as client:
        script.gate.clear()
        asking = [
            threading.Thread(target=client.post, args=("/ask",), kwargs={"json": {"question": QUESTION}})
            for _ in range(2)
        ]
        for thread in asking:
            thread.start()
        until(lambda: client.get("/stats").json()["waiting"]["answer"] == 2)
        for stream in (False, True):
            refused = client.post("/ask", json={"question": QUESTION, "stream": stream})
            assert refused.status_code == 503 and refused.headers["retry-after"] == "1"
        assert client.post("/search", json={"question": QUESTION}).status_code == 200
        script.gate.set()
        for thread in asking:
            thread.join()
        assert client.get("/stats").json()["waiting"]["answer"] == 0


def test_an_answer_that_takes_too_long_is_given_up(store: Path) -> None:
    script = Script()
    with serving(store, ServerSettings(answer_timeout=0.3), script, Model()) as client:
        script.gate.clear()
        late = client.post("/ask", json={"question": QUESTION})
        stream = client.post("/ask", json={"question": QUESTION, "stream": True})
        script.gate.set()
        until(lambda: client.get("/stats").json()["waiting"]["answer"] == 0)
    assert (late.status_code, late.json()["error"]["code"]) == (503, "timeout")
    assert list(events(stream.text))[-1][1]["error"]["code"] == "timeout"


def test_a_long_or_wrong_conversation_is_refused(client: TestClient) -> None:
    turn = {"question": "q", "answer": "a"}
    for history in ([turn] * 21, [{"question": "q"}], "hello"):
        answer = client.post("/ask", json={"question": "q", "history": history})
        assert answer.status_code == 422 and "history" in answer.json()["error"]["message"]


def named(name: str, answer: str) -> ScriptedModel:
    """A language model of that name."""
    model = ScriptedModel(answer)
    model.name = name
    return model


def test_a_question_chooses_among_the_models_of_the_server(store: Path) -> None:
    """By the names that /stats tells, which are no addresses; another name is refused with these."""
    large, small = named("large", "It was Asaph Hall who found them [1]."), named("small", "Asaph Hall [1].")
    asked = {"question": QUESTION}
    with serving(store, model=large, models=(small,), extracts=True) as client:
        stats = client.get("/stats").json()
        assert (stats["model"], stats["models"]) == ("large", ["large", "small", "none"])
        for stream in (False, True):
            for name, writer in ((None, large), ("large", large), ("small", small), ("none", None)):
                before = len(large.asked), len(small.asked)
                answer = client.post("/ask", json={**asked, "model": name, "stream": stream})
                done = list(events(answer.text))[-1][1] if stream else answer.json()
                assert done["model"] == (None if writer is None else writer.name)
                more = len(large.asked) - before[0], len(small.asked) - before[1]
                assert [m for m, n in zip((large, small), more, strict=True) if n] == (
                    [] if writer is None else [writer]
                )
        refused = client.post("/ask", json={**asked, "model": "gpt"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "bad_request")
        assert "large, small, none" in refused.json()["error"]["message"]
    with serving(store, models=(small,), extracts=True) as client:
        assert client.get("/stats").json()["models"] == ["none", "small"], "the first is the usual one"
        assert client.post("/ask", json=asked).json()["model"] is None
    with pytest.raises(ConfigurationError, match="'small'"):
        create_app(store, model=small, models=(small,))
