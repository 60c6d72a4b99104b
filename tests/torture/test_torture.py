"""The harness of faults: a few cases of each kind hold, what failed once holds, and a failure is told and repeatable."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from torture.cases import Outcome
from torture.command import KINDS, SEEDS, kind_named
from torture.report import as_json
from torture.running import Result

ROOT = Path(__file__).parents[2]
FIRST = "1000000"


def torture(folder: Path, *options: str) -> tuple[int, str, dict[str, Any]]:
    """The exit code, what was printed, and the results."""
    file = folder / "results.json"
    done = subprocess.run(
        [sys.executable, "-m", "torture", *options, "--json", str(file)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert file.exists(), done.stderr
    return done.returncode, done.stdout, json.loads(file.read_text())


@pytest.mark.slow
def test_a_few_cases_of_each_kind_hold(tmp_path: Path) -> None:
    """Each kind tries some, unless it says why it cannot."""
    code, printed, results = torture(tmp_path, "--quick", "--seed", FIRST, "--jobs", "1")
    assert code == 0, printed
    assert set(results) == set(KINDS)
    assert all(result["tried"] > 0 or result["not_run"] for result in results.values()), printed


@pytest.mark.slow
def test_what_failed_once_holds(tmp_path: Path) -> None:
    """The seeds that are kept as mended."""
    mended = json.loads(SEEDS.read_text("utf-8"))["mended"]
    kinds = [option for kind in mended for option in ("--only", kind)]
    code, printed, results = torture(tmp_path, *kinds, "--kept", "mended", "--jobs", "1")
    assert code == 0, printed
    for kind, seeds in mended.items():
        assert results[kind]["tried"] == len(seeds) or results[kind]["not_run"], kind


def test_a_failure_is_counted_and_told_with_what_repeats_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Each has its seed."""
    from rich.console import Console

    from torture.report import print_results

    result = Result("kills")
    result.add(Outcome(17, "build: SIGKILL at event 3", "lost: [Mars]"))
    result.add(Outcome(18, "build: SIGKILL at event 4"))
    print_results([result], Console(width=120))
    printed = capsys.readouterr().out
    assert "python -m torture --only kills --case 17" in printed and "lost: [Mars]" in printed
    told = as_json([result])["kills"]
    assert (told["tried"], told["failed"], told["groups"]) == (2, 1, {"build": 2})


def test_a_process_that_is_killed_or_fails_is_a_failure_and_leaves_nothing() -> None:
    """In a process of its own, since a fork needs one without threads."""
    code = """
import os, signal, sys, time
from pathlib import Path
from itertools import islice
from torture.cases import Kind, Outcome
from torture.running import Plan, run
from torture.sandbox import Child, work_in_child

def outcomes(seeds, scratch):
    (scratch / "there").write_text("x")
    yield Outcome(next(seeds), "fine")
    next(seeds)
    Child(lambda: time.sleep(600))
    work_in_child(lambda: os.kill(os.getpid(), signal.SIGSEGV))

before = set(Path("/dev/shm").iterdir()) if Path("/dev/shm").exists() else set()
(result,) = run(Plan([Kind("odd", 1.0, 2, outcomes)], 1, quick=True))
after = set(Path("/dev/shm").iterdir()) if Path("/dev/shm").exists() else set()
assert result.tried == 2 and [f.seed for f in result.failures] == [1], result
assert "exit code -11" in result.failures[0].failure, result
assert not [path for path in after - before if path.name.startswith("torture-odd")]
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_every_kind_names_itself() -> None:
    """So that ``--only`` finds it, and a run of all gives it time."""
    kinds = [kind_named(name) for name in KINDS]
    assert [kind.name for kind in kinds] == list(KINDS)
    assert all(kind.share > 0 and kind.quick > 0 for kind in kinds)
