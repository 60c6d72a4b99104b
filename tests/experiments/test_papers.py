"""The command of experiments/papers on the sample: each table beside what is published, and what it lacks."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

from experiments.papers import answers, rankings, table
from experiments.papers.published import published
from experiments.papers.set_table import Row, SetTable
from tests.built_stores import EMBEDDER, copy_of_sample
from tests.evaluation.small_store import MOONS, QUESTIONS, fill_folder
from tests.fakes.openai_server import OpenAIServer, Reply, Request, streamed
from trivium.errors import InputError
from trivium.evaluation.tables import BETTER, WORSE
from trivium.sample import folder, pages_folder

ONE_HOP = folder() / "questions_single_hop.jsonl"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The sample."""
    return str(copy_of_sample(tmp_path_factory.mktemp("papers") / "store"))


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[dict]:
    """Tables as JSON."""
    table.main([*map(str, arguments), "--format", "json"])
    found: list[dict] = json.loads(capsys.readouterr().out)["tables"]
    return found


def test_every_table_has_its_published_rows() -> None:
    """As many values as columns; what the study sums is the sum; rows of a confusion add up to one."""
    for name in table.TABLES:
        known = published(name)
        whole = (list(known.columns), list(known.columns[:-1]))  # of the times one is published
        assert all(list(row) in whole for row in known.figures.values()), name
    for row in published("study-7.4").figures.values():
        *five, total = row.values()
        assert sum(five) == pytest.approx(total, abs=0.011)
    assert all(sum(row.values()) == pytest.approx(1) for row in published("diffusion-3").figures.values())
    best, base = (row["sum"] for row in reversed(published("study-7.4").figures.values()))
    assert published("study-7.5").figures["O4 Mini", ""]["sum less baseline"] == pytest.approx(best - base)


def test_published_rows_stand_below_ours_and_others_at_the_end() -> None:
    """Of two published methods one is measured; the column of settings is left out where it tells nothing."""
    figures = {("vector", ""): {"MRR": 0.9}, ("ada", ""): {"MRR": 0.8}}
    rows = [Row("vector", "", {"MRR": np.array([1.0, 0.5])})]
    made = SetTable("t", "set", rows, np.arange(2), ("MRR",), (), figures, paper="paper", others=True)
    (means,) = made.tables()
    assert [[cell.text for cell in row] for row in means.rows] == [
        ["vector", ".750"],
        ["  paper", ".900"],
        ["  paper: ada", ".800"],
    ]
    assert [(one["method"], one["source"], one["value"]) for one in made.records()] == [
        ("vector", "measured", 0.75),
        ("vector", "published", 0.9),
        ("ada", "published", 0.8),
    ]


def test_rankings(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One command, three tables: the figures are those of the package's evaluation, with published rows, differences from
    dense search, times, and the rows of the rerankers. A missing cross-encoder is named with what to install."""
    names = ("diffusion-5", "multimodal-7", "study-7.3")
    given = [*names, "--store", store, "--questions", ONE_HOP, "--sample", "8"]
    table.main([*map(str, given), "--format", "json"])
    said = capsys.readouterr()
    assert "cross-encoder is left out" in said.err and "trivium[fastembed]" in said.err
    made = {one["table"]: one for one in json.loads(said.out)["tables"]}
    assert list(made) == list(names)
    rows = {one["method"]: one for one in made["diffusion-5"]["rows"]}
    assert list(rows) == ["lexical", "vector", "vector > diffusion"]
    assert rows["vector"]["published"]["nDCG@5"] == 0.82
    assert rows["vector"]["R@20"] >= rows["vector"]["R@5"] > 0
    assert {one["method"] for one in made["diffusion-5"]["differences"]} == {"lexical", "vector > diffusion"}
    picture = {one["method"]: one for one in made["multimodal-7"]["rows"]}
    assert picture["vector"]["P@20"] == picture["vector > diffusion"]["P@20"]  # 20 are reordered
    assert picture["vector"]["ms"] > 0 and picture["vector > diffusion"]["published"]["ms"] == 98
    assert [one["method"] for one in made["study-7.3"]["rows"]] == [
        "vector",
        *(f"vector > {one}" for one in rankings.SHAPES["study-7.3"].rerankers),
    ]


def test_rows_as_csv(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each measured and published value is a record."""
    given = [
        "multimodal-7",
        "--store",
        store,
        "--questions",
        str(ONE_HOP),
        "--sample",
        "3",
        "--format",
        "csv",
    ]
    table.main(given)
    records = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [one["value"] for one in records if one["source"] == "published"][:2] == ["0.832", "0.879"]
    assert {one["source"] for one in records} == {"measured", "published"}


def test_chunkers_and_embedders(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """By the options of their experiments: a table of each system or task, with differences from the first row or the
    study's baseline, and the published means at the end."""
    wanted = ("Mars", "Io (moon)")
    rows = [json.loads(line) for line in ONE_HOP.read_text("utf-8").splitlines()]
    file = tmp_path / "own.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows if row["page"] in wanted), "utf-8")
    pages = [path for path in pages_folder().iterdir() if path.stem.replace("_", " ") in wanted]
    chunked = ["own", "--documents", *pages, "--file", file, "--rows", "blocks", "fixed:300/50"]
    made = printed(capsys, "study-7.1", *chunked)
    assert [one["set"] for one in made] == ["own, vector", "own, default"]
    assert all(one["less"] == "fixed:300/50" and one["rows"][0]["R@5"] > 0 for one in made)
    given = ["--make", "passkey", "--lengths", "256", "--documents", "4", "--embedders", EMBEDDER]
    task, mean = printed(capsys, "study-7.2", *given, "--ways", "whole", "chunks:100")
    assert (task["set"], mean["set"]) == ("passkey 256", "mean")
    assert mean["published"][0]["method"] == "ada-002"
    assert task["rows"][0]["R@1"] == mean["rows"][0]["R@1"]


def test_follow_ups(store: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of each kind of turn and one of all; matches grow with the rank; what needs a model is said."""
    every = rankings.conversation.turns_of
    monkeypatch.setattr(rankings.conversation, "turns_of", lambda given: every(given)[:5])
    table.main(["cmc", "--store", store, "--format", "json"])
    said = capsys.readouterr()
    assert "needs --model NAME" in said.err
    made = {one["set"]: one for one in json.loads(said.out)["tables"]}
    assert "first" in made and made["all"]["questions"] == 5
    for row in made["all"]["rows"]:
        assert 0 <= row["@1"] <= row["@5"] <= row["@20"] <= 1
    assert [row["method"] for row in made["all"]["rows"]] == ["literal", "joined", "rules", "taken"]


def test_intents(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """By words alone, of every ninth phrase: accuracies between chance and 1, rows of the confusion add up to one, and
    the diagonal is the accuracy of each kind."""
    pytest.importorskip("sklearn")
    from experiments.papers import intents

    every = intents.fit.phrases
    monkeypatch.setattr(intents.fit, "phrases", lambda *given: every(*given)[::9])
    monkeypatch.setattr(intents.fit, "EMBEDDERS", (intents.fit.NO_EMBEDDER,))
    monkeypatch.setattr(intents, "SHOWN", (intents.fit.NO_EMBEDDER,))
    two, three, four = printed(capsys, "diffusion-2", "diffusion-3", "diffusion-4")
    clean, typos = two["rows"]
    assert 0.4 < typos["accuracy"] <= clean["accuracy"] <= 1 and clean["macro F1"] < 1
    confusion = {row["method"]: row for row in three["rows"]}
    for row in confusion.values():
        assert sum(row[column] for column in confusion) == pytest.approx(1)
    assert confusion["small talk"]["published"]["live"] == 0.0025
    assert four["rows"][0]["retrieved"] == "with typos" and 0 < four["rows"][0]["accuracy"] < 1


def cell(model: str, context: str, grades: tuple[float, ...] | None, **more: object) -> dict:
    """A complete cell of a sweep's report."""
    means: dict[str, float] = {"rouge_l": 0.5, "bleu": 0.25}
    total = None
    if grades is not None:
        means |= dict(zip(answers.FIVE, grades, strict=True))
        total = means["sum_of_five"] = 100 * (sum(grades) - 2 * grades[3] + 1)
    told = {"prompt": "P1", "temperature": 0.2, "k": 3, "context": context, "rerank": None, "cut": None}
    told |= {"model": model, "store": None, "complete": True, "means": means, "sum_of_five": total}
    told |= {"ci": {name: [value - 0.1, value + 0.1] for name, value in means.items()}, "against": []}
    return {**told, "by_judge": {}, **more}


def test_answers_of_a_sweep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By hand: grades of .5, 1, .5, .25 (hallucination) and 1 are 50, 100, 50, 75 and 100, 375 in sum, 75 more than the
    baseline's 300; single judges have rows of their own. Without judges it is said what is needed."""
    folder = tmp_path / "swept"
    (folder / "runs").mkdir(parents=True)
    tested = {"measure": "sum_of_five", "difference": 75.0, "ci": [50.0, 100.0], "p": 0.01}
    one_judge = {"a": dict.fromkeys(answers.FIVE, 0.5), "b": dict.fromkeys(answers.FIVE, 1.0)}
    cells = [
        cell("first", "vector", (0.5, 0.5, 0.5, 0.5, 1.0)),
        cell("second", "vector", (0.5, 1.0, 0.5, 0.25, 1.0), against=[tested], by_judge=one_judge),
    ]
    label = "first, P1, t 0.2, k 3, vector"
    report = {"cells": cells, "asked": 4, "clusters": 2, "resampled": "pages", "baseline": label}
    (folder / "report.json").write_text(json.dumps(report))
    given = ("--sweep", folder)
    full, less = printed(capsys, "study-7.4", "study-7.5", *given)
    rows = {row["method"]: row for row in full["rows"]}
    assert [rows["second"][column] for column in full["rows"][0] if column in answers.OF_JUDGES] == [
        50, 100, 50, 75, 100,
    ]  # fmt: skip
    assert (rows["first"]["sum"], rows["second"]["sum"]) == (300, 375)
    assert rows["  judged by a"]["sum"] == 250 and rows["  judged by b"]["sum"] == 400
    (difference,) = full["differences"]
    assert (difference["of"], difference["mean"], difference["p"]) == ("sum", 75, 0.01)
    assert [(row["method"], row["sum less baseline"]) for row in less["rows"]] == [
        ("second", 75),
        ("first", 0),
    ]
    assert len(less["published"]) == 17
    table.main(["diffusion-6", *map(str, given)])
    said = capsys.readouterr()
    assert "needs  bertscore" in said.err and "vector" in said.out and ".74" in said.out
    table.main(["study-7.6", *map(str, given)])
    said = capsys.readouterr()
    assert "study-7.6: P@5 of second" in said.err and "needs k = [5]" in said.err and ".250" in said.out
    for one in cells:
        one["sum_of_five"] = None
    (folder / "report.json").write_text(json.dumps(report))
    with pytest.raises(InputError, match=r"study-7\.4: .* has no sums of five: it needs \[\[judge\]\]"):
        table.main(["study-7.4", *map(str, given)])


STUDY = """
store = ["store", "crowded/store"]
questions = "questions.jsonl"
prompts = ["extractive"]
temperatures = [0.2]
k = [5]
retrievers = ["vector"]
rerank = ["bm25"]
measure = "sum of five"
baseline = { store = "crowded/store", model = "openai:poor" }

[[model]]
name = "openai:poor"

[[model]]
name = "openai:good"

[[judge]]
name = "openai:hard"

[[judge]]
name = "openai:mild"
"""


def read_and_judged(request: Request) -> Reply:
    """The good model knows the answers, the poor one says what the question is about. Judges give answers that begin so a
    1, others a 3 (hard) or a 5 (mild)."""
    told, model = request.body["messages"][-1]["content"], request.body["model"]
    if model in ("good", "poor"):
        right, subject = QUESTIONS[told.rpartition("Question: ")[2].strip()]
        return streamed(right if model == "good" else subject)
    answer = re.match(r"\s*(\w*)", told.rpartition("<answer>")[2])
    grade = 1 if answer and answer[1] in MOONS else {"hard": 3, "mild": 5}[model]
    return streamed(json.dumps({"reason": "so", "grade": grade}))


def test_the_study_from_a_sweep_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two stores, two models, two judges, asked at an endpoint. By hand: grades of 3 and 5 are .5 and 1, .75 in the mean,
    so that five of them (hallucination turned round) are 375; a grade of 1 is 0. In the crowded store six passages hide
    the right one of one question in three: P@5 is .2 of two thirds, and nobody answers. Again, nothing is asked."""
    fill_folder(tmp_path, MOONS, QUESTIONS)
    (tmp_path / "crowded").mkdir()
    crowd = {f"Phobos {n}": f"Phobos was found by those who found Phobos {n} times." for n in "234567"}
    fill_folder(tmp_path / "crowded", {**MOONS, **crowd}, {})
    file = tmp_path / "study.toml"
    file.write_text(STUDY)
    given = ("study-7.4", "study-7.5", "study-7.6", "--sweep", file)
    with OpenAIServer(read_and_judged) as server:
        monkeypatch.setenv("TRIVIUM_CHAT_BASE_URL", server.base_url)
        four, five, six = printed(capsys, *given)
        asked = len(server.requests)
        assert printed(capsys, *given) == [four, five, six] and len(server.requests) == asked
        table.main(list(map(str, given)))
    shown = capsys.readouterr().out

    good = {row["retrieved"]: row["sum"] for row in four["rows"] if row["method"] == "openai:good"}
    assert good == {
        f"extractive, t 0.2, k 5, {passages}, {store}": pytest.approx(total)
        for passages in ("vector", "vector > bm25")
        for store, total in (("store", 375), ("crowded/store", 250))
    }
    by_hard = [row["sum"] for row in four["rows"] if row["method"] == "  judged by hard"]
    assert by_hard == pytest.approx([0, 0, 0, 0, 250, 250, 500 / 3, 500 / 3])
    assert [(row["method"], row["sum less baseline"]) for row in five["rows"]] == [
        ("openai:good", pytest.approx(375)),
        ("openai:poor", 0),
    ]
    baseline, best = six["rows"]
    assert (baseline["method"], baseline["retrieved"]) == ("baseline", six["less"])
    assert baseline["retrieved"] == "crowded/store, openai:poor, extractive, t 0.2, k 5, vector"
    assert best["retrieved"] == "store, openai:good, extractive, t 0.2, k 5, vector"
    assert baseline["P@5"] == pytest.approx(0.4 / 3) and best["P@5"] == pytest.approx(0.2)
    assert (baseline["faithful"], baseline["hallucination"]) == (0, 1)
    assert (best["faithful"], best["hallucination"]) == (0.75, 0.25)
    less = {one["of"]: one["mean"] for one in six["differences"]}
    assert less == {"faithful": 0.75, "hallucination": -0.75}
    assert "Table study-7.6" in shown and "names no figures" in shown


def test_hallucination_is_better_lower() -> None:
    """Of two columns with the same significant loss one is marked as worse, the other as better."""
    loss = answers.Interval(-0.5, -0.6, -0.4)
    row = Row("best", "", {"faithful": np.zeros(1), "hallucination": np.zeros(1)})
    less = [(row, column, loss, 0.001) for column in row.values]
    of = answers.ReportedTable("t", "set", [row], np.arange(1), tuple(row.values), (), less=less, groups=1)
    assert [cells[-3].mark for cells in of.tables()[-1].rows] == [WORSE, BETTER]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["diffusion-5"], "diffusion-5: expected --store STORE with --questions FILE"),
        (["diffusion-5", "--store", "s", "--questions", "no.jsonl"], "got no.jsonl: there is none"),
        (["diffusion-6"], "diffusion-6: expected --sweep FILE.toml"),
        (["study-7.4", "--sweep", "."], "expected the folder of a sweep, with report.json"),
        (["cmc", "study-7.1"], "expected study-7.1 or study-7.2 or cmc alone"),
        (["diffusion-2", "cmc"], "expected study-7.1 or"),
        (["diffusion-2", "diffusion-5"], "without others"),
        (["4.1"], "expected --store STORE with --questions FILE"),
    ],
    ids=str,
)
def test_what_is_missing_is_said_in_a_line(given: list[str], said: str) -> None:
    with pytest.raises(InputError) as ended:
        table.main(given)
    assert said in str(ended.value) and "\n" not in str(ended.value)
