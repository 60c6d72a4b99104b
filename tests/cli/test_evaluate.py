"""``trivium evaluate`` judges one set or a suite, and says what to leave out."""

from __future__ import annotations

from pathlib import Path

import pytest

from trivium.cli.app import main


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "expected QUESTIONS and --store, or --suite"),
        (["q.jsonl"], "expected QUESTIONS and --store, or --suite"),
        (["--store", "x"], "expected QUESTIONS and --store, or --suite"),
        (["q.jsonl", "--suite", "s.toml"], "leave QUESTIONS out"),
        (["--suite", "s.toml", "--store", "x"], "leave --store out"),
        (["--suite", "s.toml", "--runs", "x"], "leave --runs out"),
        (["--suite", "s.toml", "--exact"], "leave --exact out"),
        (["q.jsonl", "--store", "x", "--fresh"], "only with --suite"),
        (["q.jsonl", "--store", "x", "--out", "y"], "only with --suite"),
        (["--suite", "s.toml", "--selector", "dice"], "expected one of match, llm, got 'dice'"),
    ],
)
def test_one_set_or_a_suite(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["evaluate", *arguments])
    assert ended.value.code == 2
    assert said in " ".join(capsys.readouterr().err.replace("│", " ").split())


def test_a_suite_file_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["evaluate", "--suite", str(tmp_path / "none.toml")])
    assert ended.value.code == 1
    assert "none.toml: expected a readable suite file" in " ".join(capsys.readouterr().err.split())
