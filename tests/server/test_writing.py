"""How a server's language model is asked, and what is told of its citations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from tests.fakes.chat_model import ScriptedModel
from tests.server.world import build_store
from tests.waiting import until
from trivium.answering.prompt_styles import prompt_style
from trivium.answering.writing_options import WritingOptions
from trivium.engine import Engine
from trivium.server.app import create_app


def test_a_server_asks_in_its_style_and_tells_the_attribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it was started with wins over the settings; the JSON says how each citation came about. Engines of a program
    are asked so as well."""
    store = build_store(tmp_path)
    monkeypatch.setenv("TRIVIUM_PROMPT", "instruction")
    model = ScriptedModel("Asaph Hall discovered the moons of Mars [1].")
    app = create_app(store, model=model, writing=WritingOptions(prompt="role", max_tokens=50))
    with TestClient(app, base_url="http://localhost") as client:
        until(lambda: client.get("/ready").status_code == 200)
        answer = client.post("/ask", json={"question": "Who discovered the moons of Mars?"}).json()
    ways = answer["statements"][0]["attribution"]
    assert ways[0] == {"number": 1, "how": "prompted", "entity": None}
    assert {way["how"] for way in ways} <= {"prompted", "similarity", "graph"}
    with Engine.open(store) as engine:
        engine.ask("Who discovered the moons of Mars?", model=model)
        engine.ask("Who discovered the moons of Mars?", model=model, prompt="few-shot")
    systems = [messages[0].content for messages in model.asked]
    expected = [
        prompt_style(name).messages("", "")[0].content for name in ("role", "instruction", "few-shot")
    ]
    assert systems == expected


def test_a_request_names_the_style_it_is_answered_in_and_never_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A style that ships or that the settings name; whole, streamed and without a model an unknown one is a 422 that
    lists them, and nothing is asked."""
    store = build_store(tmp_path)
    own = tmp_path / "own.toml"
    own.write_text('system = "In the house style: {{ not_found }}"\nuser = "{{ passages }} {{ question }}"\n')
    monkeypatch.setenv("TRIVIUM_PROMPTS", json.dumps({"house": str(own)}))
    model = ScriptedModel("Asaph Hall discovered the moons of Mars [1].")
    app = create_app(store, model=model, writing=WritingOptions(prompt="role"))
    question = "Who discovered the moons of Mars?"
    refused = []
    with TestClient(app, base_url="http://localhost") as client:
        until(lambda: client.get("/ready").status_code == 200)
        for prompt in ("house", "few-shot", None):
            assert client.post("/ask", json={"question": question, "prompt": prompt}).status_code == 200
        for prompt in (str(own), "../own.toml", "own", "x" * 200):
            refused += [
                client.post("/ask", json={"question": question, "prompt": prompt, "stream": stream})
                for stream in (False, True)
            ]
    assert len(model.asked) == 3
    assert model.asked[0][0].content.startswith("In the house style")
    assert [len(asked) for asked in model.asked[1:]] == [6, 2]
    with TestClient(create_app(store), base_url="http://localhost") as client:
        until(lambda: client.get("/ready").status_code == 200)
        refused.append(client.post("/ask", json={"question": question, "prompt": "own"}))
        assert client.post("/ask", json={"question": question, "prompt": "house"}).status_code == 200
    assert {answer.status_code for answer in refused} == {422}
    listed = [answer.json()["error"]["message"] for answer in refused[:6]]
    assert all(
        "extractive, few-shot, house, instruction, role, several-hops, zero-shot" in message
        for message in listed
    )
