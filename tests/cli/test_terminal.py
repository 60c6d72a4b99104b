"""What reaches the terminal."""

from __future__ import annotations

import io
import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.contract.graphs import graph
from tests.fakes.earlier_stores import without_counters
from trivium.cli import main
from trivium.cli.terminal import print_json
from trivium.graph.embedded import EmbeddedStore
from trivium.graph.embedded.counters import COUNTS
from trivium.graph.schema import SCHEMA_VERSION


def test_json_says_nothing_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Control characters and marks of direction are escaped; what is read back is the same."""
    value: dict[str, Any] = {"te\u202ext": "a\u009b31m b\u007f c\u2067d\u200fe\u2028 é ✓ \x1b[0m"}
    print_json(value)
    printed = capsys.readouterr().out
    assert json.loads(printed) == value
    assert {c for c in printed if not c.isprintable()} == {"\n"} and "é ✓" in printed


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What is written to a terminal as stderr."""
    written = _Terminal()
    monkeypatch.setattr("trivium.cli.terminal.err", Console(file=written, force_terminal=True, width=80))
    return written


@pytest.mark.parametrize(("patience", "shown"), [(0.0, True), (60.0, False)])
def test_the_upgrade_of_a_store_is_shown_if_it_takes_long(
    tmp_path: Path,
    terminal: io.StringIO,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    patience: float,
    shown: bool,
) -> None:
    """With all its steps done: what is counted, and the documents whose words are indexed. On stderr only."""
    monkeypatch.setattr("trivium.cli.terminal.PATIENCE", patience)
    folder = tmp_path / "s"
    with EmbeddedStore.create(folder) as store:
        store.write([replace(graph(f"P{n}", [("text", ())]), content_hash=f"{n}.x") for n in range(3)])
    database = sqlite3.connect(folder / "graph.db", isolation_level=None)
    for statement in (*without_counters(), "PRAGMA user_version = 7"):
        database.execute(statement)
    database.close()
    with pytest.raises(SystemExit, match="0"):
        main(["stats", "--json", "--store", str(folder)])
    assert json.loads(capsys.readouterr().out)["schema_version"] == SCHEMA_VERSION
    steps = len(COUNTS) + 3
    assert (f"{steps}/{steps}" in terminal.getvalue()) == ("Upgrading" in terminal.getvalue()) == shown
    assert shown or terminal.getvalue() == ""
    terminal.truncate(0)
    with pytest.raises(SystemExit, match="0"):
        main(["stats", "--store", str(folder)])
    assert "Upgrading" not in terminal.getvalue()
