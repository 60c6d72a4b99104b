"""``trivium search --questions FILE --run-out FILE``: a run of questions without gold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from trivium.cli.app import app, main
from trivium.engine import Engine
from trivium.evaluation.trec import read_run


def test_a_file_of_questions_becomes_a_run_of_what_each_finds(tmp_path: Path) -> None:
    """In the order of single searches; after a reranker in its order, with its scores."""
    source, store, out = tmp_path / "pages.jsonl", str(tmp_path / "store"), tmp_path / "mine.run"
    pages = [{"title": title, "text": f"The colour of {title} is red."} for title in ("Mars", "Venus", "Io")]
    source.write_text("".join(json.dumps(page) + "\n" for page in pages))
    questions = tmp_path / "questions.jsonl"
    asked = {"q 1": "What colour has Venus?", "q 2": "What colour has Io?"}
    questions.write_text(
        "".join(json.dumps({"id": key, "question": text}) + "\n" for key, text in asked.items())
    )

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(app, [*arguments, "--store", store, "--json"])
        assert result.exit_code == 0, result.output
        return result.stdout

    run("build", str(source), "--embedder", "minilm", "--no-sentences")
    options = ["--questions", str(questions), "--run-out", str(out), "--k", "2", "--retriever", "lexical"]
    told = json.loads(run("search", *options))
    found = read_run(out)
    assert told == {"run": str(out), "questions": 2, "hits": sum(map(len, found.values()))}
    assert out.read_text().split()[-1] == "mine"
    run("search", *options, "--rerank", "bm25")
    with Engine.open(store) as engine:
        for key, text in asked.items():
            hits = engine.search(text, 2, ["lexical"])
            assert [uri for uri, _ in found[key]] == [hit.uri for hit in hits]
            assert found[key][0][1] == hits[0].score
            again = engine.search(text, 2, ["lexical"], rerank="bm25")
            assert read_run(out)[key][0] == (again[0].uri, again[0].rerank_score)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--questions", "q.jsonl"], "expected both --questions and --run-out"),
        (["--run-out", "x.run"], "expected both --questions and --run-out"),
        (["word", "--questions", "q.jsonl", "--run-out", "x.run"], "leave it out with --questions"),
        (["--rank", "1", "--questions", "q.jsonl", "--run-out", "x.run"], "leave it out with --questions"),
    ],
)
def test_one_question_or_a_file(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["search", *arguments, "--store", "nowhere"])
    assert ended.value.code == 2
    assert said in " ".join(capsys.readouterr().err.replace("│", " ").split())
