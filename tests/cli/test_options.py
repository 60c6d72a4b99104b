"""Lists of names can be written in every usual way; what cannot be meant is refused before anything is made."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from trivium.cli.app import app
from trivium.cli.repeated_options import spread

TWO = ["--retriever", "vector", "--retriever", "page"]


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (["--retriever", "vector", "page", "question"], [*TWO, "question"]),
        (["--retriever", "vector,page", "question"], [*TWO, "question"]),
        (["--retriever=vector,page", "question"], [*TWO, "question"]),
        (["--retriever=vector", "page", "question"], [*TWO, "question"]),
        (
            ["question", "-r", "vector", "-f", "rrf", "convex"],
            ["question", "-r", "vector", "-f", "rrf", "-f", "convex"],
        ),
        (["--retriever", "telepathy", "question"], ["--retriever", "telepathy", "question"]),
        (["--retriever", "--json"], ["--retriever", "--json"]),
        (["question", "--retriever"], ["question", "--retriever"]),
        (["--retriever", "vector", "--", "page"], ["--retriever", "vector", "--", "page"]),
        (["page"], ["page"]),
        (
            ["train", "--importance", "1", ".5", "a.npz"],
            ["train", "--importance", "1", "--importance", ".5", "a.npz"],
        ),
        (["--importance", "1,0.5"], ["--importance", "1", "--importance", "0.5"]),
    ],
)
def test_spreading(given: list[str], read: list[str]) -> None:
    assert spread(given) == read


@pytest.mark.parametrize(
    ("store", "said"),
    [("--no-embed", "a folder of that name is"), ("", "got an empty text"), (" ", "got an empty text")],
)
def test_a_forgotten_store_is_no_folder(
    store: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``--store "$STORE" --no-embed`` with an empty variable, quoted or not."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "note.md").write_text("# Note\n\nText.\n")
    for command in (["build", "note.md"], ["stats"], ["mcp"]):
        refused = CliRunner().invoke(app, [*command, "--store", store], env={"COLUMNS": "200"})
        assert refused.exit_code == 2 and said in refused.output, refused.output
    assert [path.name for path in tmp_path.iterdir()] == ["note.md"]
