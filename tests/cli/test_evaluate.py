"""``trivium evaluate`` and its two companions: their options, and what old lines become."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from trivium.cli.app import app, main
from trivium.cli.withdrawn_options import without_withdrawn
from trivium.embedding.late_chunking import is_plain
from trivium.engine import Engine
from trivium.errors import InputError
from trivium.fusion.hit_lists import load_hits
from trivium.graph.open_store import open_store


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--store", "x"], "expected a question file"),
        (["answers", "--store", "x"], "Missing argument"),
        (["suite", "s.toml"], "evaluate suite is gone"),
        (["--suite=s.toml"], "evaluate suite is gone"),
        (["q.jsonl", "--store", "x", "--rerank", "bm26"], "did you mean bm25"),
        (["answers", "q.jsonl", "--store", "x", "--hits", "y"], "No such option"),
        (["answers", "q.jsonl", "--store", "x", "--judge-by", "grades"], "only with --judge"),
        (["answers", "q.jsonl", "--store", "x", "--no-context", "--model", "none"], "a language model"),
        (["q.jsonl", "--store", "x", "--where", "year >"], "expected a value"),
        (["q.jsonl", "--store", "x", "--out", "y"], "No such option"),
        (["q.jsonl", "--store", "x", "--measure", "luck@5"], "expected a measure, one of hit, recall"),
        (["q.jsonl", "--store", "x", "--documents", "worst"], "one of best, mean, got 'worst'"),
        (["q.jsonl", "--store", "x", "--depth", "0"], "expected a number of 1 or more, or own, got '0'"),
        (["q.jsonl", "--store", "x", "--depth", "all"], "expected a number of 1 or more, or own, got 'all'"),
    ],
)
def test_each_command_has_its_own_options(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["evaluate", *arguments])
    assert ended.value.code == 2
    assert said in " ".join(capsys.readouterr().err.replace("│", " ").split())


@pytest.mark.parametrize(
    ("given", "read", "warned"),
    [
        (
            ["evaluate", "q.jsonl", "--answers", "--rerank", "bm25", "--k", "3"],
            ["evaluate", "answers", "q.jsonl", "--k", "3"],
            ["--answers is gone", "--rerank is gone"],
        ),
        (
            ["evaluate", "q", "--selector=llm", "--", "--cut"],
            ["evaluate", "q", "--", "--cut"],
            ["--selector is gone"],
        ),
        (["search", "--answers"], ["search", "--answers"], []),
    ],
)
def test_old_lines_go_on_with_a_warning(
    given: list[str], read: list[str], warned: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert without_withdrawn(given) == read
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(warned) and all(map(str.startswith, lines, warned))


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


def test_lists_are_as_long_as_asked_for(tmp_path: Path) -> None:
    """Of a page with forty passages 30, as always, five, or with ``own`` all, unless the settings name no page that has
    them; in the hit lists that are saved, too. The store is without headings."""
    source, store, questions = tmp_path / "Mars.html", str(tmp_path / "store"), tmp_path / "questions.jsonl"
    words = [f"Crater number {n} of Mars is {'very ' * 200}old." for n in range(40)]
    source.write_text("<h1>Mars</h1>" + "".join(f"<p>{said}</p>" for said in words))
    asked = {"question": "How old are craters of Mars?", "page": "Mars", "paragraph": words[39]}
    questions.write_text(json.dumps(asked) + "\n")

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(app, [*arguments, "--store", store, "--json"])
        assert result.exit_code == 0, result.output
        return result.stdout

    run("build", str(source), "--embedder", "minilm", "--no-sentences", "--no-headings")
    with open_store(store) as made:
        assert is_plain(made.embedder)

    def length(*depth: str) -> tuple[float, int]:
        kept = tmp_path / f"{'-'.join(depth) or 'usual'}.npz"
        report = json.loads(run("evaluate", str(questions), "-r", "page", "--hits", str(kept), *depth))
        (hit,) = load_hits(kept).hits
        return report["rows"]["page"]["passages"], int(hit.table.ranks[:, hit.table.column("page")].max())

    assert length() == (30, 30)
    assert length("--depth", "5") == (5, 5)
    assert length("--depth", "own") == (40, 40)


def test_a_run_that_was_written_is_read_back_as_a_system_of_its_own(tmp_path: Path) -> None:
    """It has the measures of the system that wrote it; rerankers follow it, and it is written again."""
    source, store = tmp_path / "pages.jsonl", str(tmp_path / "store")
    pages = [{"title": title, "text": f"The colour of {title} is red."} for title in ("Mars", "Venus", "Io")]
    source.write_text("".join(json.dumps(page) + "\n" for page in pages))
    asked = [
        {
            "id": f"about {p['title']}",
            "question": f"What colour has {p['title']}?",
            "page": p["title"],
            "answers": ["red"],
        }
        for p in pages
    ]
    questions, out, again = tmp_path / "questions.jsonl", tmp_path / "out", tmp_path / "again"
    questions.write_text("".join(json.dumps(question) + "\n" for question in asked))

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(app, [*arguments, "--store", store, "--json"])
        assert result.exit_code == 0, result.output
        return result.stdout

    run("build", str(source), "--embedder", "minilm", "--no-sentences")
    own = json.loads(run("evaluate", str(questions), "--retriever", "lexical", "--runs", str(out)))["rows"]
    theirs = tmp_path / "theirs.run"
    theirs.write_bytes((out / "lexical.run").read_bytes())
    given = ["--run-in", str(theirs), "--rerank", "bm25", "--runs", str(again)]
    rows = json.loads(run("evaluate", str(questions), *given))["rows"]
    assert list(rows) == ["theirs", "theirs > bm25"]
    assert rows["theirs"] == own["lexical"] and rows["theirs"]["cmc"][0] == 1.0
    assert {file.name for file in again.glob("*.run")} == {"theirs.run", "theirs %3E bm25.run"}
    beside = run("evaluate", str(questions), "--retriever", "lexical", "--run-in", str(theirs))
    assert list(json.loads(beside)["rows"]) == ["lexical", "theirs"]

    with (
        Engine.open(store) as engine,
        pytest.raises(InputError, match="named unlike the systems measured, got lexical"),
    ):
        engine.evaluate(questions, ["lexical"], runs=[out / "lexical.run"])

    theirs.write_text(theirs.read_text().replace("#chunk-1", "#chunk-9", 1))
    (warning,) = json.loads(run("evaluate", str(questions), "--run-in", str(theirs)))["warnings"]
    assert "is not a chunk of the store" in warning and warning.endswith("they count as wrong")
    with Engine.open(store) as engine, pytest.raises(InputError, match="to rerank them"):
        engine.evaluate(questions, runs=[theirs], rerank=["bm25"])
