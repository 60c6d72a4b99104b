"""``trivium warm-up`` leaves nothing for the first search to compile."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from trivium.cli import warm_up
from trivium.cli.app import app
from trivium.sample import pages_folder

_SEARCH = """
import sys
from pathlib import Path
from numba.core import event
from trivium import Engine
from trivium.sample import pages_folder
from trivium.testing.toys import HashEmbedder

class Told(event.Listener):
    def on_start(self, told): print("compiled", told.data["dispatcher"].py_func.__qualname__)
    def on_end(self, told): pass

event.register("numba:compile", Told())
with Engine.create(Path(sys.argv[1]) / "store", HashEmbedder()) as engine:
    engine.build([pages_folder()], workers=1)
    engine.search("Why is Mars red?", explain=True)
    engine.ask("Why is Mars red?", where="title = 'M*'")
"""


def run(*command: str, cache: Path | None = None) -> str:
    environment = os.environ if cache is None else {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    return subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, check=True
    ).stdout


def test_it_says_how_long_it_took(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here of a page only."""
    shutil.copy(pages_folder() / "Mars.html", tmp_path)
    monkeypatch.setattr(warm_up, "pages_folder", lambda: tmp_path)
    shown = CliRunner().invoke(app, ["warm-up"]).stdout
    seconds = re.fullmatch(r"ready \(([\d.]+) s\)\n", shown)
    assert seconds is not None and float(seconds[1]) > 0


@pytest.mark.slow
def test_after_it_a_search_compiles_nothing(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    run("-m", "trivium", "warm-up", cache=cache)
    assert run("-c", _SEARCH, str(tmp_path), cache=cache) == ""
    assert "compiled" in run("-c", _SEARCH, str(tmp_path / "other"), cache=tmp_path / "empty")
