"""The command, and the sample encyclopaedia in a store that it has built.

There are three ways to run it, from cheap to dear: ``trivium`` in the process of the tests, where the test is of what
it does and says; ``trivium_process`` in a process of its own, where it matters how that starts and ends;
``fresh_trivium`` in one that imports everything anew.
"""

from __future__ import annotations

import io
import json
import logging
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.built_stores import copy_of_sample


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

PAGES = 1500
"""Of ``records``: fifteen transactions of a load."""


def run_trivium(
    python: str | Path, *arguments: str | Path, cwd: Path | None = None, **variables: str
) -> Result:
    """Run the command in a process of its own, as a user would; ``variables`` are of its environment."""
    environment = {**os.environ, "COLUMNS": "100", "PYTHONIOENCODING": "utf-8", **variables}
    done = subprocess.run(
        [python, "-m", "trivium", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding=environment["PYTHONIOENCODING"],
        env=environment,
        cwd=cwd,
        timeout=300,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def run_here(*arguments: str | Path, cwd: Path | None = None, **variables: str) -> Result:
    """Run the command in this process, as if in one of its own: with its own streams, folder and environment."""
    from trivium.cli import main

    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True) for _ in range(2))
    # What is logged goes to stderr where nobody has asked for it otherwise, as pytest has here.
    warned, root = logging.StreamHandler(err), logging.getLogger()
    warned.setLevel(logging.WARNING)
    root.addHandler(warned)
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name, value in {"COLUMNS": "100", **variables}.items():
            patch.setenv(name, value)
        if cwd is not None:
            patch.chdir(cwd)
        try:
            main([str(argument) for argument in arguments])
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        finally:
            root.removeHandler(warned)
    said = (stream.buffer.getvalue().decode("utf-8") for stream in (out, err))  # type: ignore[attr-defined]
    return Result(code, *said)


@pytest.fixture(scope="session")
def trivium() -> Run:
    """The command, in this process."""
    return run_here


@pytest.fixture(scope="session")
def trivium_process(python: Path) -> Run:
    """The command, in a process that is forked from an interpreter that has imported it already."""
    return partial(run_trivium, python)


@pytest.fixture(scope="session")
def fresh_trivium() -> Run:
    """The command, in an interpreter of its own: with its own seed of hashes, and everything imported anew."""
    return partial(run_trivium, sys.executable)


@pytest.fixture(scope="session")
def sample_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, embedded with the embedder that is always there."""
    return copy_of_sample(tmp_path_factory.mktemp("sample") / "store")


@pytest.fixture
def own_store(sample_store: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copytree(sample_store, tmp_path / "store"))


@pytest.fixture(scope="session")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Passages that mention one another."""
    words = ["basalt", "crater", "moon", "orbit", "dust", "ice", "ring", "storm", "rock", "sky", "lava"]
    dice = random.Random(1)
    path = tmp_path_factory.mktemp("records") / "records.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(PAGES):
            said = " ".join(dice.choices(words, k=60))
            text = f"{said}. See Object {dice.randrange(PAGES):04} and Object {dice.randrange(PAGES):04}."
            file.write(json.dumps({"title": f"Object {number:04}", "text": text}) + "\n")
    return path
