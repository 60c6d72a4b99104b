"""``trivium sweep`` against a scripted endpoint: killed and resumed, stopped by a budget, failing, refused."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Run
from tests.evaluation.small_store import MOONS, QUESTIONS, fill_folder
from tests.fakes.openai_server import OpenAIServer, Reply, Request, error, streamed

RECORDS = {"Mars": "Mars is a red planet. Its two moons are Phobos and Deimos.", **MOONS}
SWEEP = """
store = "store"
questions = "questions.jsonl"
prompts = ["zero-shot", "extractive"]
temperatures = [0, 0.5]
k = [2]
retrievers = ["vector"]
measure = "exact_match"

[[model]]
name = "openai:good"
prompt_price = 1.0
completion_price = 2.0

[[model]]
name = "openai:poor"
"""
TABLES = ("scores.csv", "differences.csv", "sweep.html")


def said(request: Request) -> Reply:
    """The good model says the right thing, alone if that is asked for; with a temperature it is wrong about Titan. The
    poor one always says the same. An answer reads 100 tokens and writes 10."""
    messages, model = request.body["messages"], request.body["model"]
    asked = messages[-1]["content"].rpartition("Question: ")[2].strip()
    right = QUESTIONS[asked][0]
    if model == "poor" or (request.body["temperature"] > 0 and "Titan" in asked):
        right = "1999"
    alone = "Copy the answer" in messages[0]["content"]
    return streamed(right if alone else f"That would be {right} [1].", usage=(100, 10))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store, questions about it, and the file of the sweep."""
    folder = tmp_path_factory.mktemp("sweep")
    fill_folder(folder, RECORDS, QUESTIONS)
    (folder / "sweep.toml").write_text(SWEEP)
    return folder


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """Where both models are asked."""
    with OpenAIServer(said) as running:
        monkeypatch.setenv("TRIVIUM_CHAT_BASE_URL", running.base_url)
        yield running


def without_times(report: dict[str, Any]) -> dict[str, Any]:
    """All of a report that must be the same again."""
    cells = [{**cell, "milliseconds": None} for cell in report["cells"]]
    return {**report, "cells": cells, "page": None}


def killed(arguments: list[str], server: OpenAIServer, after: int) -> None:
    """Run a sweep and kill it (SIGKILL) when it has asked that often."""
    until = time.monotonic() + 120
    with subprocess.Popen(
        [sys.executable, "-m", "trivium", *arguments], stdout=subprocess.DEVNULL, env={**os.environ}
    ) as process:
        while len(server.requests) < after and process.poll() is None and time.monotonic() < until:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        assert process.wait(60) == -signal.SIGKILL


def test_a_sweep_that_was_killed_twice_gives_the_same_table(
    trivium: Run, folder: Path, server: OpenAIServer, tmp_path: Path
) -> None:
    """2 models x 2 prompts x 2 temperatures, byte for byte; and what was answered is not asked for again."""
    arguments = ["sweep", str(folder / "sweep.toml")]
    whole = trivium(*arguments, "--out", tmp_path / "whole", "--json")
    assert whole.code == 0, whole.err
    assert len(server.requests) == 24

    server.requests.clear()
    rest = [*arguments, "--out", str(tmp_path / "killed")]
    killed(rest, server, after=5)
    killed(rest, server, after=13)
    assert not (tmp_path / "killed" / "scores.csv").exists()
    resumed = trivium(*rest, "--json")
    assert resumed.code == 0, resumed.err
    assert 24 <= len(server.requests) <= 26  # at most those that were under way are asked for twice
    for name in TABLES:
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert without_times(resumed.json) == without_times(whole.json)
    again = trivium(*rest)
    assert max(map(len, again.out.split("\n\n")[0].splitlines())) <= 100
    assert again.code == 0 and len(server.requests) <= 26
    assert "8 of 8 cells complete" in again.out
    assert "the best is openai:good, extractive, t 0, k 2, vector" in again.out


def test_scores_differences_and_costs(
    trivium: Run, folder: Path, server: OpenAIServer, tmp_path: Path
) -> None:
    """By hand: exact match needs the extractive prompt; three answers read 300 tokens and write 30, which cost
    (300 x 1 + 30 x 2) / 1e6 with one model and nothing with the other."""
    report = trivium("sweep", folder / "sweep.toml", "--out", tmp_path, "--json").json
    exact = {(c["model"], c["prompt"], c["temperature"]): c["means"]["exact_match"] for c in report["cells"]}
    assert exact["openai:good", "extractive", 0.0] == 1
    assert exact["openai:good", "extractive", 0.5] == pytest.approx(2 / 3)
    assert sum(exact.values()) == pytest.approx(5 / 3)
    assert report["baseline"] == "openai:good, zero-shot, t 0, k 2, vector"
    good, poor = report["cells"][0], report["cells"][-1]
    assert good["tokens"] == {"prompt": 300, "completion": 30}
    assert (good["cost"], poor["cost"]) == (0.00036, 0)
    assert report["tokens"] == 8 * 330 and report["spent"] == pytest.approx(4 * 0.00036)
    with (tmp_path / "differences.csv").open(newline="") as file:
        found = [row["exact_match (95 %)"] for row in csv.DictReader(file)]
    assert len(found) == 7 and sum(difference.startswith("+1.000") for difference in found) == 1
    page = (tmp_path / "sweep.html").read_text("utf-8")
    # Of two temperatures a row of scores, a row of differences, and a warning: the model wrote what is not there.
    assert page.count("openai:poor, extractive") == 6 and "<script" not in page and "http:" not in page


def test_a_budget_stops_it_and_a_larger_one_goes_on(
    trivium: Run, folder: Path, server: OpenAIServer, tmp_path: Path
) -> None:
    """With 4 as exit code, and what is complete in the tables; earlier runs count."""
    file = folder / "budget.toml"
    file.write_text(f"{SWEEP}\n[budget]\ntokens = 500\n")
    stopped = trivium("sweep", file, "--out", tmp_path)
    assert stopped.code == 4 and "stopped by the budget (tokens: 550 of 500 used)" in " ".join(
        stopped.err.split()
    )
    assert "1 of 8 cells complete" in stopped.out and "2 of 3" in stopped.out
    assert len(server.requests) == 5
    assert trivium("sweep", file, "--out", tmp_path).code == 4 and len(server.requests) == 5

    file.write_text(
        f"{SWEEP}\n[budget]\nmoney = 0.0007\n"
    )  # seven tenths of a thousandth: five answers cost .0006
    stopped = trivium("sweep", file, "--out", tmp_path, "--json")
    assert stopped.code == 4 and len(server.requests) == 6 and stopped.json["stopped"].startswith("money")
    file.write_text(SWEEP)
    done = trivium("sweep", file, "--out", tmp_path, "--json")
    assert done.code == 0 and len(server.requests) == 24 and done.json["stopped"] is None


def test_a_model_that_fails_is_left_and_the_others_go_on(
    trivium: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command fails at the end, says which and why, and goes on later."""
    works = False

    def respond(request: Request) -> Reply:
        broken = request.body["model"] == "good" and not works
        return error(401, "no such key") if broken else said(request)

    with OpenAIServer(respond) as server:
        monkeypatch.setenv("TRIVIUM_CHAT_BASE_URL", server.base_url)
        failed = trivium("sweep", folder / "sweep.toml", "--out", tmp_path)
        assert failed.code == 1 and "openai:good failed" in failed.out and "no such key" in failed.out
        assert "4 of 8 cells complete" in failed.out
        works = True
        assert trivium("sweep", folder / "sweep.toml", "--out", tmp_path).code == 0


def test_judges_cost_and_one_that_fails_leaves_the_rest(
    trivium: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hand: of three sentences one is no known answer; five grades an answer, each 100 tokens read and 10 written."""
    works = False

    def respond(request: Request) -> Reply:
        if request.body["model"] != "judge":
            return said(request)
        if not works:
            return error(401, "no such key")
        grade = 1 if "Titan" in request.body["messages"][-1]["content"].rpartition("Question: ")[2] else 5
        return streamed(json.dumps({"reason": "so", "grade": grade}), usage=(100, 10))

    file = folder / "judged.toml"
    file.write_text(
        """
        store = "store"
        questions = "questions.jsonl"
        retrievers = ["vector"]
        judge_by = ["grades"]
        measure = "f1"
        [[model]]
        name = "none"
        [[judge]]
        name = "openai:judge"
        prompt_price = 10
        """
    )
    with OpenAIServer(respond) as server:
        monkeypatch.setenv("TRIVIUM_CHAT_BASE_URL", server.base_url)
        failed = trivium("sweep", file, "--out", tmp_path, "--json")
        assert failed.code == 1 and list(failed.json["failures"]) == ["openai:judge"]
        (cell,) = failed.json["cells"]
        assert (cell["complete"], cell["judged"]) == (True, False) and "correctness" not in cell["means"]
        works = True
        (cell,) = trivium("sweep", file, "--out", tmp_path, "--json").json["cells"]
        assert cell["judged"] and cell["means"]["correctness"] == pytest.approx(2 / 3)
        assert cell["judge_cost"] == pytest.approx(3 * 5 * 100 * 10 / 1e6) and cell["cost"] == 0


FOLLOWED = """
store = "store"
questions = "questions.jsonl"
k = [1, 3]
retrievers = ["vector"]
rerank = ["bm25", { name = "llm-pointwise:openai:grader", prompt_price = 7, completion_price = 11 }]
cut = ["near:0.5", "gap:1-2"]
measure = "contained"
[[model]]
name = "none"
"""


def grading(request: Request) -> Reply:
    """As :func:`said`, and a reranker that grades Triton's passage best: 100 tokens read, 7 written a passage."""
    if request.body["model"] != "grader":
        return said(request)
    score = 5 if "Neptune" in request.body["messages"][-1]["content"] else 1
    return streamed(json.dumps({"score": score}), usage=(100, 7))


def test_contexts_are_also_reranked_and_cut(
    trivium: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each context after each reranker, and all of them ended by each cut; a cut with bounds of its own once, whatever k.
    By hand: the grader reads 100 and writes 7 of each of four passages, at 7 and 11 a million, for each of three
    questions of a cell; 6 of the 15 cells ask it. With k = 1 it always gives Triton's passage, which answers one."""
    file = folder / "followed.toml"
    file.write_text(FOLLOWED)
    with OpenAIServer(grading) as server:
        monkeypatch.setenv("TRIVIUM_CHAT_BASE_URL", server.base_url)
        whole = trivium("sweep", file, "--out", tmp_path / "whole", "--json")
        assert whole.code == 0, whole.err
        assert len(server.requests) == 5 * 3 * 4
        file.write_text(FOLLOWED.replace("k = [1, 3]", "k = [1]").replace(', "gap:1-2"', ""))
        trivium("sweep", file, "--out", tmp_path / "grown")
        file.write_text(
            f"{FOLLOWED}[budget]\ntokens = 4000"
        )  # 24 passages have been graded, and the rest of a question
        assert trivium("sweep", file, "--out", tmp_path / "grown").code == 4
        assert len(server.requests) == 5 * 3 * 4 + 40
        file.write_text(FOLLOWED)
        grown = trivium("sweep", file, "--out", tmp_path / "grown", "--json")
        assert len(server.requests) == 2 * 5 * 3 * 4
    for name in TABLES:
        assert (tmp_path / "grown" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert without_times(grown.json) == without_times(whole.json)

    cells = {(cell["k"], cell["rerank"], cell["cut"]): cell for cell in whole.json["cells"]}
    grader = "llm-pointwise:openai:grader"
    rerankers = (None, "bm25", grader)
    assert set(cells) == {
        *((k, rerank, cut) for k in (1, 3) for rerank in rerankers for cut in (None, "near:0.5")),
        *((None, rerank, "gap:1-2") for rerank in rerankers),
    }
    for (_, rerank, _), cell in cells.items():
        asks = rerank == grader
        assert cell["search_tokens"] == {"prompt": 1200 * asks, "completion": 84 * asks}
        assert cell["search_cost"] == pytest.approx((1200 * 7 + 84 * 11) / 1e6 * asks)
        assert cell["warnings"] == {} and cell["context"] == "vector"
    assert whole.json["tokens"] == 5 * 1284
    assert cells[1, grader, None]["means"]["contained"] == pytest.approx(1 / 3)
    assert cells[1, None, None]["passages"] == 1 and cells[3, None, None]["passages"] == 3
    assert cells[None, grader, "gap:1-2"]["passages"] == 1  # a grade of 5, then of 1
    assert whole.json["baseline"] == "none, k 1, vector"
    page = (tmp_path / "whole" / "sweep.html").read_text("utf-8")
    assert (
        f"none, k 3, vector &gt; {grader} &gt; near:0.5" in page and '<th scope="col">passages</th>' in page
    )
    with (tmp_path / "whole" / "scores.csv").open(newline="") as table:
        rows = {row["cell"]: row for row in csv.DictReader(table)}
    assert rows[f"none, vector > {grader} > gap:1-2"]["passages"] == "1.0"


def test_a_reranker_that_fails_is_told_of(
    trivium: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The passages are those of the search, and so are the scores; JSON, tables and page say of how many answers, also
    when nothing is asked again."""
    file = folder / "failing.toml"
    file.write_text(FOLLOWED.replace("k = [1, 3]", "k = [3]").replace('"near:0.5", "gap:1-2"', '"near:0.5"'))
    refused = error(401, "no such key")
    with OpenAIServer(
        lambda request: refused if request.body["model"] == "grader" else said(request)
    ) as server:
        monkeypatch.setenv("TRIVIUM_CHAT_BASE_URL", server.base_url)
        report = trivium("sweep", file, "--out", tmp_path, "--json").json
        asked = len(server.requests)
        again = trivium("sweep", file, "--out", tmp_path)
        assert again.code == 0 and len(server.requests) == asked
    cells = {(cell["rerank"], cell["cut"]): cell for cell in report["cells"]}
    grader = "llm-pointwise:openai:grader"
    for (rerank, cut), cell in cells.items():
        assert cell["complete"] and sum(cell["warnings"].values()) == (3 if rerank == grader else 0)
        if rerank == grader:
            assert cell["means"] == cells[None, cut]["means"]
            assert all("no such key" in why and "order of the search" in why for why in cell["warnings"])
    with (tmp_path / "scores.csv").open(newline="") as table:
        assert [row["warnings"] for row in csv.DictReader(table)] == ["0", "0", "3", "0", "0", "3"]
    line = f"warning: none, k 3, vector > {grader}: 3 of 3 questions: {grader}: "
    assert line in again.out and line.replace(">", "&gt;") in (tmp_path / "sweep.html").read_text("utf-8")
    assert any(line.endswith(" warnings") or " warnings " in line for line in again.out.splitlines())


def test_answers_say_what_the_selector_took(
    trivium: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``evaluate answers`` with a selector that asks a model: three questions, 50 tokens read and 4 written each."""
    with OpenAIServer(lambda _: streamed('{"places": [1]}', usage=(50, 4))) as server:
        monkeypatch.setenv("TRIVIUM_CHAT_BASE_URL", server.base_url)
        asked = [
            "evaluate",
            "answers",
            folder / "questions.jsonl",
            "--store",
            folder / "store",
            "--out",
            tmp_path,
        ]
        asked += ["--retriever", "vector", "path"]
        monkeypatch.setenv("TRIVIUM_PATH_SELECTOR", "llm-all:openai:chooser")
        done = trivium(*asked, "--json")
    assert done.code == 0, done.err
    rows = done.json["rows"]
    assert rows["path"]["search_tokens"] == {"prompt": 150, "completion": 12}
    assert rows["vector"]["search_tokens"] == {"prompt": 0, "completion": 0}


def test_no_model_no_context_and_gold(
    trivium: Run, folder: Path, server: OpenAIServer, tmp_path: Path
) -> None:
    """The best sentences are asked once, whatever the prompts; a question without any context once, whatever k."""
    file = folder / "contexts.toml"
    file.write_text(
        """
        store = "store"
        questions = "questions.jsonl"
        prompts = ["extractive", "several-hops"]
        k = [1, 2]
        fusions = ["rrf"]
        gold = true
        no_context = true
        baseline = { context = "no-context" }
        [[model]]
        name = "none"
        [[model]]
        name = "openai:good"
        """
    )
    report = trivium("sweep", file, "--out", tmp_path, "--json").json
    cells = [(c["model"], c["prompt"], c["k"], c["context"]) for c in report["cells"]]
    assert cells[:4] == [("none", None, k, context) for k in (1, 2) for context in ("rrf", "gold")]
    assert cells.count(("openai:good", "extractive", None, "no-context")) == 1 and len(cells) == 4 + 8 + 2
    assert report["baseline"] == "openai:good, extractive, t 0, no-context"
    alone = [
        r.body["messages"] for r in server.requests if "passage" not in r.body["messages"][-1]["content"]
    ]
    assert len(alone) == 6
    by_context = {c["context"]: c["means"] for c in report["cells"]}
    assert by_context["no-context"]["gold_offered"] == 0 and by_context["gold"]["gold_offered"] == 1


def test_what_is_wrong_with_a_file_is_said(
    trivium: Run, folder: Path, server: OpenAIServer, tmp_path: Path
) -> None:
    """With the key; nothing is made and nothing asked."""
    for change, word in {
        "k = [2]\nsamples = 3": "samples: Extra inputs are not permitted, got 3",
        "k = [0]": "k.1: Input should be greater than or equal to 1, got 0",
        "k = []": "k: List should have at least 1 item",
        'k = ["2"]': "k.1: Input should be a valid integer, got '2'",
        "k = [2, 2]": "k: expected every one once, got 2 again",
        "k = [2]\nbudget = { euros = 3 }": "budget.euros: Extra inputs are not permitted, got 3",
        'k = [2]\nbaseline = { model = "none" }': "baseline that is one of the cells",
        'k = [2]\nrerank = ["bm26"]': "rerank.1.name: unknown reranker 'bm26': did you mean bm25",
        'k = [2]\nrerank = ["bm25", { name = "bm25" }]': "rerank: expected every one once, got 'bm25' again",
        'k = [2]\nrerank = [{ name = "bm25", price = 1 }]': "rerank.1.price: Extra inputs",
        'k = [2]\ncut = ["elbow"]': "cut.1: unknown cut 'elbow'",
        'k = [2]\ncut = ["near:0.7", "near:0.70"]': "cut: expected every one once, got 'near:0.7' again",
        'k = [2]\ncut = ["probability"]': "the cut probability needs probabilities",
        'k = [2]\nrerank = ["bm25"]\nbaseline = { rerank = "weighted" }': "baseline that is one of the cells",
        'k = [2]\njudge_by = ["feeling"]': "judge_by of grades, ragas, got feeling",
    }.items():
        file = folder / "wrong.toml"
        file.write_text(SWEEP.replace("k = [2]", change))
        done = trivium("sweep", file, "--out", tmp_path / "out")
        assert done.code == 1 and word in " ".join(done.err.split()), (change, done.err)
    file.write_text(SWEEP.replace('"exact_match"', '"beauty"'))
    assert "expected as measure one of exact_match, f1" in " ".join(
        trivium("sweep", file, "--out", tmp_path / "out").err.split()
    )
    assert not (tmp_path / "out").exists() and not server.requests


def test_sum_of_five_chooses_and_each_judge_keeps_its_scores(
    trivium: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hand: grades of 2 and 5 are .25 and 1 (hallucination .75 and 0): 125 and 500 in sum."""

    def respond(request: Request) -> Reply:
        system = request.body["messages"][0]["content"]
        if '"grade"' in system:
            grade = 2 if request.body["model"] == "hard" else 5
            return streamed(json.dumps({"reason": "so", "grade": grade}), usage=(100, 10))
        return said(request)

    file = folder / "sums.toml"
    file.write_text(
        """
        store = "store"
        questions = "questions.jsonl"
        retrievers = ["vector"]
        k = [1, 2]
        measure = "sum of five"
        [[model]]
        name = "openai:good"
        [[judge]]
        name = "openai:hard"
        [[judge]]
        name = "openai:mild"
        """
    )
    with OpenAIServer(respond) as server:
        monkeypatch.setenv("TRIVIUM_CHAT_BASE_URL", server.base_url)
        report = trivium("sweep", file, "--out", tmp_path, "--json").json
        told = trivium("sweep", file, "--out", tmp_path).out
    cell, other = report["cells"]
    hard, mild = cell["by_judge"].values()
    assert (hard["correctness"], mild["correctness"], cell["means"]["correctness"]) == (0.25, 1, 0.625)
    assert (hard["sum_of_five"], mild["sum_of_five"]) == pytest.approx((125, 500))
    assert cell["sum_of_five"] == pytest.approx(312.5)
    assert (report["measure"], other["p_holm"]) == ("sum_of_five", 1)
    assert "312.5" in told
    with (tmp_path / "scores.csv").open() as table:
        assert next(csv.DictReader(table))["sum_of_five"] == "312.5"
