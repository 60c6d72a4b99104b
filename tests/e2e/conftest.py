"""The sample encyclopaedia in a store, built once through the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from trivium.sample import pages_folder


@dataclass(frozen=True)
class Result:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its JSON document."""
        return json.loads(self.out)


Run = Callable[..., Result]


def run_trivium(*arguments: str | Path, cwd: Path | None = None, **variables: str) -> Result:
    """Run the command in a process of its own, as a user would; ``variables`` are of its environment."""
    environment = {**os.environ, "COLUMNS": "100", "PYTHONIOENCODING": "utf-8", **variables}
    done = subprocess.run(
        [sys.executable, "-m", "trivium", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding=environment["PYTHONIOENCODING"],
        env=environment,
        cwd=cwd,
        timeout=300,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="session")
def trivium() -> Run:
    """The command."""
    return run_trivium


@pytest.fixture(scope="session")
def sample_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, embedded with the embedder that is always there."""
    store = tmp_path_factory.mktemp("sample") / "store"
    result = run_trivium("build", pages_folder(), "--store", store, "--embedder", "minilm", "--json")
    assert result.code == 0, result.err
    return store
