"""Relations read by a language model behind an endpoint, through the command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Run, run_here
from tests.fakes.openai_server import OpenAIServer, Request, streamed
from tests.fakes.openai_server import Reply as Answer

TEXTS = {
    "letters.txt": "Yesterday Mary Somerville taught Ada Lovelace. At noon she met William Herschel.",
    "visit.txt": "In May Mary Somerville saw Ada Lovelace.",
}
SCHEMA = '{"relations": ["taught", "saw"]}'


def _respond(request: Request) -> Answer:
    """States what one passage says, and something that neither says."""
    verb = (
        "taught" if "taught" in request.body["messages"][-1]["content"].partition("</passage>")[0] else "saw"
    )
    said = {"sentence": 1, "source": "Mary Somerville", "relation": verb, "target": "Ada Lovelace"}
    return streamed(json.dumps({"relations": [said, {**said, "target": "Charles Babbage"}]}), usage=(200, 40))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    with OpenAIServer(_respond) as server:
        monkeypatch.setenv("TRIVIUM_CHAT_BASE_URL", server.base_url)
        yield server


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRIVIUM_HOME", str(tmp_path / "home"))
    (tmp_path / "texts").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "texts" / name).write_text(text)
    (tmp_path / "schema.json").write_text(SCHEMA)
    built = run_here(
        "build",
        tmp_path / "texts",
        "--store",
        tmp_path / "store",
        "--entities",
        "rules",
        "--embedder",
        "minilm",
    )
    assert built.code == 0, built.err
    return tmp_path / "store"


def test_a_store_is_read_within_a_budget_and_read_on(
    trivium: Run, server: OpenAIServer, store: Path, tmp_path: Path
) -> None:
    arguments = ["enrich", "--model", "reader", "--schema", tmp_path / "schema.json", "--store", store]
    first = trivium(*arguments, "--budget", 100)
    assert first.code == 4 and "the same command goes on" in first.err
    assert "1 stated" not in first.out and "2 stated, 1 kept" in first.out
    assert "dropped, a name is not in the sentence: 1" in first.out
    sent = server.requests[0].body["response_format"]["json_schema"]["schema"]
    assert sent["properties"]["relations"]["items"]["properties"]["relation"]["enum"] == ["taught", "saw"]
    second = trivium(*arguments, "--json").json
    assert (second["passages"], second["asked"], second["added"], second["kept"]) == (2, 1, 1, 2)
    assert second["usage"] == {"prompt_tokens": 200, "completion_tokens": 40} and not second["stopped"]
    assert second["dropped"] == {"a name is not in the sentence": 2} and second["to_embed"] == 0
    assert trivium(*arguments).code == 0 and len(server.requests) == 2
    card = trivium("entities", store, "Ada Lovelace", "--json").json
    assert {edge["type"] for edge in card["relations"]} == {"saw", "taught"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "expected sources of DBpedia, or a language model"),
        (["dump.nt", "--model", "reader"], "expected sources of DBpedia, or a language model"),
        (["dump.nt", "--schema", "schema.toml"], "only with --model"),
        (["dump.nt", "--budget", "5"], "only with --model"),
        (["--model", "reader", "--budget", "0"], "--budget"),
    ],
)
def test_wrong_arguments_are_refused(trivium: Run, arguments: list[str], said: str) -> None:
    result = trivium("enrich", *arguments, "--store", "nowhere")
    assert result.code == 2 and said in " ".join(result.err.replace("│", " ").split())
