"""``--model`` means the same in every command: the same names, and the same word on what is missing, at once."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.fakes.openai_server import OpenAIServer, streamed
from trivium.answering.prompt_styles import shipped_styles
from trivium.cli.app import app
from trivium.engine import Engine
from trivium.errors import ConfigurationError
from trivium.llm.registry import NAMES
from trivium.retrievers.llm_path_selectors import LlmSelector, make_selector
from trivium.settings.settings import Settings

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "AZURE_OPENAI_ENDPOINT")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one page."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "page.jsonl").write_text(
        json.dumps({"title": "Mars", "text": "Asaph Hall discovered the moons of Mars in 1877."})
    )
    with Engine.create(folder / "store", "minilm") as engine:
        engine.build([folder / "page.jsonl"], sentences=False)
    return folder


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """Where ``openai:NAME`` is asked."""
    with OpenAIServer() as running:
        monkeypatch.setenv("TRIVIUM_CHAT_BASE_URL", running.base_url)
        yield running


def run(*arguments: str | Path) -> tuple[int, str, str]:
    """The exit code, what was printed, and the error in one line."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return done.exit_code, done.stdout, str(done.exception) if done.exception else ""


COMMANDS = {
    "ask": ("ask", "Why?", "--store", "STORE", "--model", "MODEL"),
    "serve": ("serve", "--store", "STORE", "--port", "0", "--model", "MODEL"),
    "mcp": ("mcp", "--store", "STORE", "--model", "MODEL"),
    "answers": ("evaluate", "answers", "PAGE", "--store", "STORE", "--model", "MODEL"),
    "judge": ("evaluate", "answers", "PAGE", "--store", "STORE", "--judge", "MODEL"),
    "synthesize": ("synthesize", "generate", "NEW", "--store", "STORE", "--model", "MODEL"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("model", "missing"),
    [
        ("openai:gpt", "OPENAI_API_KEY"),
        ("azure:mine", "AZURE_OPENAI_ENDPOINT"),
        ("anthropic:claude", "ANTHROPIC_API_KEY"),
        ("gemini:flash", "GEMINI_API_KEY"),
    ],
)
def test_a_missing_key_is_said_at_once(
    command: str, model: str, missing: str, store: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In a line that names the variable; nothing was tried, and nothing made."""
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)
    words = {"STORE": str(store / "store"), "PAGE": str(store / "page.jsonl"), "NEW": str(tmp_path / "new")}
    arguments = [words.get(word, word.replace("MODEL", model)) for word in COMMANDS[command]]
    begin = time.monotonic()
    code, _, told = run(*arguments)
    assert code == 1 and f"set {missing}" in told and "\n" not in told
    assert time.monotonic() - begin < 5 and not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "command", ["ask", "chat", "serve", "mcp", "evaluate answers", "synthesize generate"]
)
def test_the_names_are_told_everywhere(command: str) -> None:
    """The same in each help."""
    done = CliRunner().invoke(app, [*command.split(), "--help"], env={"COLUMNS": "400"})
    assert NAMES in " ".join(done.stdout.replace("│", " ").split())


def test_prompt_and_settings_reach_the_model(
    store: Path, server: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the command line and the environment."""
    style = tmp_path / "own.toml"
    style.write_text("system = 'MINE {{ not_found }}'\nuser = '{{ passages }}{{ question }}'\n")
    server.script.append(streamed("Asaph Hall discovered the moons [1]."))
    for name, value in (("TEMPERATURE", "0.4"), ("MAX_TOKENS", "33")):
        monkeypatch.setenv(f"TRIVIUM_CHAT_{name}", value)
    code, printed, told = run(
        *("ask", "Who discovered the moons of Mars?", "--store", store / "store", "--model", "openai:tiny"),
        *("--prompt", style, "--json"),
    )  # fmt: skip
    assert code == 0, told
    body = server.requests[0].body
    assert body["messages"][0]["content"].startswith("MINE")
    assert (body["temperature"], body["max_tokens"], body["seed"]) == (0.4, 33, 0)
    (statement,) = json.loads(printed)["statements"]
    assert statement["attribution"][0] == {"number": 1, "how": "prompted", "entity": None}


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--prompt", "two-shot"], f"expected a prompt style ({', '.join(shipped_styles())})"),
        (["--model", "anthropic:"], "expected anthropic:NAME"),
    ],
)
def test_wrong_values_are_wrong_arguments(options: list[str], why: str) -> None:
    """Exit code 2, before anything is opened."""
    done = CliRunner().invoke(app, ["ask", "Why?", "--store", "x", *options], env={"COLUMNS": "300"})
    assert done.exit_code == 2 and why in " ".join(done.output.replace("│", " ").split())


def test_a_selector_asks_the_model_it_names(server: OpenAIServer) -> None:
    """By the names of ``--model``; ``llm`` alone is that of the settings."""
    own = Settings(chat_base_url=server.base_url, chat_model="usual")
    for name, expected in (("llm:openai:large", "large"), ("llm", "usual")):
        selector = make_selector(name, own)
        assert isinstance(selector, LlmSelector) and selector.model.name == expected
    with pytest.raises(ConfigurationError, match="no language model is named"):
        make_selector("llm", Settings(chat_model="none"))


def test_a_server_is_started_with_the_models_to_choose_from(
    store: Path, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In their order; the first is the usual one."""
    started: list[Any] = []
    monkeypatch.setattr("trivium.server.logs.log_as_json", lambda: None)
    monkeypatch.setattr("trivium.server.app.create_app", lambda *_, **given: started.append(given))
    monkeypatch.setattr("trivium.server.run_server.run", lambda *_: None)
    models = ("--model", "none", "--model", "openai:small", "--model", "large")
    assert run("serve", "--store", store / "store", "--port", "0", *models)[0] == 0
    assert started[0]["model"] is None
    assert [model.name for model in started[0]["models"]] == ["small", "large"]
