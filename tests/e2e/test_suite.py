"""Suites on the sample: the same numbers as one set at a time, all in one folder, and nothing done twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Run
from trivium.engine import Engine
from trivium.errors import FusionError, InputError, StoreNotFoundError
from trivium.evaluation.comparison.run import compare_runs, explainer
from trivium.evaluation.evaluator import Evaluator
from trivium.evaluation.suite.definition import Suite, read_suite
from trivium.evaluation.suite.run import run_suite
from trivium.evaluation.trec_files import read_run
from trivium.retrievers.registry import RETRIEVERS
from trivium.sample import question_files
from trivium.search.searcher import Searcher

ROWS = ["--retriever", "vector", "lexical", "--fusion", "convex", "rrf"]


@pytest.fixture(scope="module")
def suite_file(tmp_path_factory: pytest.TempPathFactory, sample_store: Path) -> Path:
    """Both question files of the sample, fifteen of each; one question of the first has lost its page."""
    folder = tmp_path_factory.mktemp("suite")
    single, double = question_files()
    lines = single.read_text("utf-8").splitlines()[:14]
    lost = json.dumps({"id": "lost", "question": "Who paints?", "page": "No such page", "answers": ["x"]})
    (folder / "single.jsonl").write_text("\n".join([*lines, lost]), "utf-8")
    (folder / "suite.toml").write_text(
        f"""
        [[set]]
        name = "single"
        questions = "single.jsonl"
        store = {json.dumps(str(sample_store))}

        [[set]]
        name = "double"
        questions = {json.dumps(str(double))}
        store = {json.dumps(str(sample_store))}
        sample = 15
        """,
        "utf-8",
    )
    return folder / "suite.toml"


@pytest.fixture(scope="module")
def results(trivium: Run, suite_file: Path) -> Path:
    """The folder of a first run."""
    folder = suite_file.parent / "results"
    ran = trivium("evaluate", "suite", suite_file, *ROWS, "--out", folder, "--json")
    assert ran.code == 0, ran.err
    assert ran.json == json.loads((folder / "report.json").read_text("utf-8"))
    return folder


def test_a_set_has_the_numbers_of_evaluating_it_alone(
    trivium: Run, results: Path, suite_file: Path, sample_store: Path
) -> None:
    alone = trivium(
        "evaluate", suite_file.parent / "single.jsonl", "--store", sample_store, *ROWS, "--json"
    ).json
    single, double = json.loads((results / "report.json").read_text("utf-8"))["sets"]
    assert single["report"] == alone
    assert alone["traced"] == 14 and alone["untraceable"][0]["id"] == "lost"
    assert single["measures"] == ["hit@1", "hit@3", "hit@5"] and double["measures"] == ["recall@5", "all@5"]
    assert double["report"]["questions"] == 15


def test_the_folder_holds_runs_and_reports(results: Path) -> None:
    assert {path.name for path in (results / "single").iterdir()} == {
        "vector.run", "lexical.run", "convex.run", "rrf.run", "qrels.txt", "metrics.json", "questions.jsonl", "set.json"
    }  # fmt: skip
    report = json.loads((results / "report.json").read_text("utf-8"))
    text = (results / "report.md").read_text("utf-8")
    for judged in report["sets"]:
        assert {test["row"] for test in judged["tests"]} == {"convex", "rrf"}
    assert "lost" in text and "Holm" in text and "minilm" in text


def test_a_finished_set_is_not_asked_again(
    results: Path, suite_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any question to the store would fail; asked for anew, or with another row, it does."""
    before = {path: path.read_bytes() for path in results.rglob("*") if path.is_file()}

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the store was asked")

    monkeypatch.setattr(Searcher, "query", refuse)
    monkeypatch.setattr(Evaluator, "trace", refuse)
    rows = ["vector", "lexical"], ["convex", "rrf"]
    run_suite(read_suite(suite_file), results, *rows)
    assert {path: path.read_bytes() for path in results.rglob("*") if path.is_file()} == before
    with pytest.raises(AssertionError, match="asked"):
        run_suite(read_suite(suite_file), results.with_name("other"), *rows)
    for changed in ({"fusions": ["rrf"]},):
        (saved := results / "single" / "set.json").write_bytes(before[saved])
        with pytest.raises(AssertionError, match="asked"):
            run_suite(
                read_suite(suite_file), results, **{"retrievers": rows[0], "fusions": rows[1], **changed}
            )
    for path, content in before.items():
        path.write_bytes(content)


def test_an_interruption_keeps_what_is_finished(
    suite_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted in the second set, the first is there; the next run asks only the second."""
    asked: list[str] = []

    def interrupted(what: str, done: int, total: int) -> None:
        asked.append(what)
        if what == "double":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_suite(read_suite(suite_file), tmp_path, ["vector"], ["rrf"], progress=interrupted)
    assert (tmp_path / "single" / "set.json").is_file()
    assert not (tmp_path / "double" / "set.json").exists() and not (tmp_path / "report.md").exists()
    asked.clear()
    run_suite(read_suite(suite_file), tmp_path, ["vector"], ["rrf"], progress=lambda *it: asked.append(it[0]))
    assert "single" not in asked and "double" in asked
    assert (tmp_path / "report.md").is_file()


def test_a_changed_question_file_is_judged_anew(
    suite_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one, _) = read_suite(suite_file).sets
    questions = tmp_path / "q.jsonl"
    lines = Path(one.questions).read_text("utf-8").splitlines()
    suite = Suite(tmp_path / "s.toml", (one.model_copy(update={"questions": str(questions)}),))
    for count in (4, 5):
        questions.write_text("\n".join(lines[:count]), "utf-8")
        (judged,) = run_suite(suite, tmp_path / "out", ["lexical"])
        assert judged.report["questions"] == count
        assert judged.tests == ()


def test_contributions_of_any_candidate_add_up_to_its_score(sample_store: Path) -> None:
    """As the hits of a search are explained."""
    question = "Who discovered the moons of Mars?"
    with Engine.open(sample_store) as engine:
        hits = engine.search(question, k=20, fusion="convex", explain=True)
        breakdown = engine.searcher.break_down(
            question, [hits[0].uri, hits[19].uri, "No such page#chunk-1"], "convex"
        )
    assert list(breakdown.scores) == [hits[0].uri, hits[19].uri]
    for hit in (hits[0], hits[19]):
        assert dict(breakdown.contributions[hit.uri]) == pytest.approx(dict(hit.contributions))
        assert breakdown.baseline + sum(breakdown.contributions[hit.uri].values()) == pytest.approx(
            breakdown.scores[hit.uri]
        )
    assert list(breakdown.contributions[hits[0].uri]) == list(RETRIEVERS)


def test_two_runs_are_compared_on_one_page(
    trivium: Run, results: Path, tmp_path: Path, sample_store: Path
) -> None:
    """With a store passages and contributions, without one the places alone; also the same row of two folders."""
    runs = results / "single" / "vector.run", results / "single" / "convex.run"
    full = tmp_path / "full.html"
    assert trivium("compare", *runs, "--store", sample_store, "--out", full).code == 0
    text = full.read_text("utf-8")
    assert "adds to gold" in text and '<h2 id="totals">All 14 questions' in text
    bare = tmp_path / "bare.html"
    result = trivium("compare", *runs, "--out", bare, "--json")
    assert result.json == {"page": str(bare)}
    assert "adds to gold" not in bare.read_text("utf-8") and "no store was given" in bare.read_text("utf-8")
    assert "Ranks in each view" in bare.read_text("utf-8")
    other = tmp_path / "old" / "single"
    other.mkdir(parents=True)
    (other / "convex.run").write_bytes(runs[1].read_bytes())
    (other / "qrels.txt").write_bytes((results / "single" / "qrels.txt").read_bytes())
    result = trivium("compare", other / "convex.run", runs[1], "--out", bare)
    assert result.code == 0
    assert "old/single/convex" in bare.read_text("utf-8") and "results/single/convex" in bare.read_text(
        "utf-8"
    )


def test_a_fusion_that_has_changed_since_is_not_explained(results: Path, sample_store: Path) -> None:
    """The run's best score is not what the fusion gives now."""
    run = read_run(results / "single" / "convex.run")
    texts = {
        row["id"]: row["question"]
        for row in map(json.loads, (results / "single" / "questions.jsonl").read_text("utf-8").splitlines())
    }
    question = next(iter(run))
    best, score = run[question][0]
    with Engine.open(sample_store) as engine:
        for side, known in ((run, True), ({question: [(best, score + 0.01)]}, False)):
            explain = explainer(engine, "convex", side, texts)
            assert explain is not None
            assert (best in explain(question, [best])) is known
        assert explainer(engine, "vector", run, texts) is None


def test_a_suite_that_cannot_be_run_says_why(suite_file: Path, tmp_path: Path) -> None:
    """Before anything is asked."""
    suite = read_suite(suite_file)
    with pytest.raises(FusionError, match="unknown fusion 'magic'"):
        run_suite(suite, tmp_path, fusions=["magic"])
    with pytest.raises(InputError, match="unknown retriever telepathy"):
        run_suite(suite, tmp_path, ["telepathy"])
    away = Suite(suite_file, (suite.sets[0].model_copy(update={"store": str(tmp_path / "nowhere")}),))
    with pytest.raises(StoreNotFoundError, match="nowhere"):
        run_suite(away, tmp_path)
    assert not any(tmp_path.iterdir())


def test_runs_of_another_evaluation_are_refused(results: Path, tmp_path: Path) -> None:
    vector, convex = (results / "single" / f"{row}.run" for row in ("vector", "convex"))
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    (mixed / "vector.run").write_bytes(vector.read_bytes())
    (mixed / "qrels.txt").write_bytes((results / "double" / "qrels.txt").read_bytes())
    with pytest.raises(InputError, match="are run and qrels of one evaluation"):
        compare_runs(mixed / "vector.run", convex, tmp_path / "x.html")
    with pytest.raises(InputError, match="two different runs"):
        compare_runs(vector, vector, tmp_path / "x.html")
    assert not (tmp_path / "x.html").exists()
