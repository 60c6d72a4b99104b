"""The examples run as they stand, on a store that is there."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fakes.openai_server import OpenAIServer, chat

EXAMPLES = Path(__file__).parents[2] / "examples"
QUESTION = "Who discovered the two moons of Mars?"
Chain = Callable[..., str]


def test_ten_lines_search_and_answer(sample_store: Path, tmp_path: Path) -> None:
    """Ten lines, counted, as a newcomer runs them; pages that are there are left alone, and the answer is cited."""
    lines = [line for line in (EXAMPLES / "ten_lines.py").read_text("utf-8").splitlines() if line.strip()]
    assert len(lines) == 1 + 10  # the docstring
    shutil.copytree(sample_store, tmp_path / "demo-store")
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "ten_lines.py")],
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        timeout=120,
        check=False,
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    printed = done.stdout.splitlines()
    assert [line[:2] for line in printed[:3]] == ["1 ", "2 ", "3 "]
    assert any("Asaph Hall" in line and re.search(r"\[\d\]$", line) for line in printed)
    assert printed[-1].startswith("Citation(number=")


@pytest.fixture
def chain(sample_store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Chain:
    """What the chain prints, with some more arguments."""

    def run(*arguments: str) -> str:
        example = EXAMPLES / "langchain_chain.py"
        monkeypatch.setattr(sys, "argv", [example.name, QUESTION, "--store", str(sample_store), *arguments])
        runpy.run_path(str(example), run_name="__main__")
        return capsys.readouterr().out

    return run


def test_the_chain_shows_documents_without_a_model(chain: Chain) -> None:
    printed = chain()
    assert "\n[2] " in printed and "Asaph Hall" in printed


def test_the_chain_asks_any_endpoint(chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    """The prompt holds the passages between their tags, and what the model says comes out."""
    with OpenAIServer() as server:
        server.script.append(chat("Asaph Hall [1]."))
        monkeypatch.setenv("TRIVIUM_CHAT_BASE_URL", server.base_url)
        printed = chain("--model", "openai:tiny")
    assert printed == "Asaph Hall [1].\n"
    _, asked = server.requests[0].body["messages"]
    assert asked["content"].count("</passage>") == 3 and asked["content"].endswith(f"Question: {QUESTION}")


def test_a_folder_goes_through_a_loader_into_a_store_and_a_chain(tmp_path: Path) -> None:
    """By langchain-community, in a process of its own: it warns that nobody maintains it."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "ferry.txt").write_text("The ferry of Arlen was repaired by Mira Falk in 1931.\n", "utf-8")
    (notes / "mill.txt").write_text("The old mill burnt down and was never rebuilt.\n", "utf-8")
    done = subprocess.run(
        [sys.executable, EXAMPLES / "langchain_loader.py", str(notes), "Who repaired the ferry of Arlen?"],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "TRIVIUM_EMBEDDER": "minilm"},
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "2 documents" in done.stdout
    assert "Mira Falk" in done.stdout.splitlines()[-1]
