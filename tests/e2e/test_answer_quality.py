"""``trivium evaluate answers`` through the command line, on the sample, with the reader that needs no model."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.conftest import Run
from trivium.sample import question_files

QUESTIONS = question_files()[0]


@pytest.fixture(autouse=True)
def _no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the machine is set up for."""
    monkeypatch.delenv("TRIVIUM_CHAT_MODEL", raising=False)


def test_answers_are_measured_kept_and_not_asked_for_again(
    trivium: Run, sample_store: Path, tmp_path: Path
) -> None:
    """One JSON document with a row a context; the second run only reads, and shows people the same."""
    arguments = [
        "evaluate", "answers", QUESTIONS, "--store", sample_store, "--sample", "8", "--gold", "--out", tmp_path / "run",
    ]  # fmt: skip
    report = trivium(*arguments, "--json").json
    board = trivium("leaderboard", tmp_path / "run" / "runs", "--measure", "hit@1", "--json").json
    assert (board["questions"], {place["name"] for place in board["places"]}) == (8, {"vector", "default"})
    assert all(place["cmc"][5] == report["rows"][place["name"]]["gold_offered"] for place in board["places"])
    assert (report["questions"], report["asked"], report["reader"]) == (124, 8, None)
    assert list(report["rows"]) == ["vector", "default", "gold"]
    for row in report["rows"].values():
        assert row["citations_offered"] == row["supported"] == 1
        assert row["tokens"] == {"prompt": 0, "completion": 0} and row["judge"] is None
        assert 0 <= row["exact_match"] <= row["f1"] <= 1 and row["milliseconds"]["answer"]["median"] > 0
    assert report["rows"]["gold"]["gold_offered"] == 1
    assert report["rows"]["default"]["contained"] > 0.3
    answers = (tmp_path / "run" / "answers.jsonl").read_bytes()
    assert answers.count(b"\n") == 24

    shown = trivium(*arguments, cwd=tmp_path)
    assert shown.code == 0 and "8 of 124 questions asked" in shown.out and "contained" in shown.out
    assert " vector in contained (95 %: " in shown.out
    assert (tmp_path / "run" / "answers.jsonl").read_bytes() == answers
    assert json.loads((tmp_path / "run" / "report.json").read_text("utf-8")) == report


def test_a_run_that_was_interrupted_goes_on(trivium: Run, sample_store: Path, tmp_path: Path) -> None:
    """Ctrl-C keeps what was answered; without a folder it is beside where one stands."""
    arguments = ["evaluate", "answers", str(QUESTIONS), "--store", str(sample_store), "-r", "lexical"]
    arguments += ["--sample", "20"]
    kept = tmp_path / f"{QUESTIONS.stem}-answers" / "answers.jsonl"
    with subprocess.Popen(
        [sys.executable, "-m", "trivium", *arguments], cwd=tmp_path, stderr=subprocess.PIPE
    ) as process:
        until = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < until:
            if kept.exists() and kept.read_bytes().count(b"\n") > 2:
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    before = kept.read_bytes()
    assert 2 < before.count(b"\n") < 20
    report = trivium(*arguments, "--json", cwd=tmp_path).json
    after = kept.read_bytes()
    assert after.startswith(before[: before.rfind(b"\n") + 1]) and after.count(b"\n") == 20
    assert report["asked"] == 20 and list(report["rows"]) == ["lexical"]
