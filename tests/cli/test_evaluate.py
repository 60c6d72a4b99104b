"""``trivium evaluate`` judges one set or a suite, and says what to leave out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from trivium.cli.app import app, main


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
        (["--suite", "s.toml", "--where", "year > 2020"], "leave --where out"),
        (["q.jsonl", "--store", "x", "--where", "year >"], "expected a value"),
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


def test_only_what_matches_a_condition_is_searched(tmp_path: Path) -> None:
    """A question about a document is only missed where that is left out."""
    store, questions = str(tmp_path / "store"), tmp_path / "questions.jsonl"

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(app, [*arguments, "--store", store, "--json"])
        assert result.exit_code == 0, result.output
        return result.stdout

    for title, year in (("Mars", "2020"), ("Venus", "2024")):
        source = tmp_path / f"{title}.jsonl"
        source.write_text(json.dumps({"title": title, "text": f"The colour of {title} is red."}))
        run("build", str(source), "--meta", f"year={year}", "--embedder", "minilm", "--no-sentences")
    known = {"question": "What colour has Venus?", "page": "Venus", "answers": ["red"]}
    questions.write_text(json.dumps(known) + "\n")

    def hit(*where: str) -> float:
        report = json.loads(run("evaluate", str(questions), "--retriever", "lexical", *where))
        return float(report["rows"]["lexical"]["hit@1"])

    assert (hit(), hit("--where", "year >= 2024"), hit("--where", "year < 2024")) == (1.0, 1.0, 0.0)


def test_a_suite_file_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["evaluate", "--suite", str(tmp_path / "none.toml")])
    assert ended.value.code == 1
    assert "none.toml: expected a readable suite file" in " ".join(capsys.readouterr().err.split())
