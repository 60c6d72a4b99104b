"""Passages of different documents that state different values of the same thing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trivium.answering.conflicts import conflicts
from trivium.cli.app import main
from trivium.engine import Engine
from trivium.errors import NotEmbeddedError


def _store(folder: Path, files: dict[str, str]) -> Path:
    with Engine.create(folder / "store", "minilm") as engine:
        engine.add_files(files, workers=1)
    return folder / "store"


def test_the_newer_of_two_documents_is_in_force(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {
        "prices 2025.md": "# Hut prices\n\nThe guest room costs 32 euros per night. Breakfast costs 11 euros.\n",
        "prices 2026.md": "# Prices\n\nThe guest room costs 41 euros per night. Breakfast costs 11 euros.\n",
    }
    store = _store(tmp_path, files)
    with pytest.raises(SystemExit) as ended:
        main(["conflicts", str(store), "--json"])
    assert not ended.value.code
    (found,) = json.loads(capsys.readouterr().out)["conflicts"]
    assert (found["document"], found["other_document"]) == ("prices 2026.md", "prices 2025.md")
    assert found["text"] in files["prices 2026.md"] and "41" in found["text"]
    assert found["other_text"] in files["prices 2025.md"] and "32" in found["other_text"]
    assert found["reason"] == "2026 is later than 2025"


def test_of_documents_of_unknown_age_none_is_in_force(tmp_path: Path) -> None:
    files = {
        "desk.md": "# Hut prices\n\nThe guest room of the hut costs 32 euros per night.\n",
        "page.md": "# Prices of the hut\n\nThe guest room of the hut costs 41 euros per night.\n",
    }
    with Engine.open(_store(tmp_path, files)) as engine:
        (found,) = conflicts(engine.store, 20)
    assert found.reason == "" and {found.document, found.other_document} == set(files)


def test_the_same_words_about_two_things_are_no_conflict(tmp_path: Path) -> None:
    files = {
        "mars.md": "# Mars\n\nIts diameter is 6,792 kilometres.\n",
        "venus.md": "# Venus\n\nIts diameter is 12,104 kilometres.\n",
        "parts 2025.md": "# Parts 2025\n\nThe seal S-11 costs 4 euros.\n",
        "parts 2026.md": "# Parts 2026\n\nThe seal S-12 costs 7 euros.\n",
    }
    with Engine.open(_store(tmp_path, files)) as engine:
        assert conflicts(engine.store, 20) == []


def test_a_store_without_vectors_is_refused(tmp_path: Path) -> None:
    with Engine.create(tmp_path / "store") as engine, pytest.raises(NotEmbeddedError):
        conflicts(engine.store, 20)
