"""``trivium sweep`` on several stores, with prices in a currency."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Run
from tests.e2e.test_sweep import QUESTIONS, RECORDS, said
from tests.evaluation.small_store import fill_folder
from tests.fakes.openai_server import OpenAIServer
from trivium.evaluation.leaderboard import read_leaderboard

SWEEP = """
store = ["store", "smaller/store"]
questions = "questions.jsonl"
prompts = ["extractive"]
k = [2]
retrievers = ["vector"]
rerank = ["tfidf"]
no_context = true
measure = "bleu"
currency = "CHF"
baseline = { store = "smaller/store", model = "openai:good", rerank = "tfidf" }

[[model]]
name = "openai:good"
prompt_price = 1.0
completion_price = 2.0

[[model]]
name = "openai:poor"
"""


def test_the_same_questions_are_asked_of_every_store(
    trivium: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two stores x two models x two contexts, and once a model without passages. The question that only one of the stores
    answers is asked of neither; each store has runs of its own; the sum is told with its currency and what it leaves
    out. Nothing is asked again."""
    fill_folder(tmp_path, RECORDS, QUESTIONS)
    (tmp_path / "smaller").mkdir()
    some = {title: text for title, text in RECORDS.items() if title != "Triton"}
    fill_folder(tmp_path / "smaller", some, {})
    (tmp_path / "sweep.toml").write_text(SWEEP)
    with OpenAIServer(said) as server:
        monkeypatch.setenv("TRIVIUM_CHAT_BASE_URL", server.base_url)
        done = trivium("sweep", tmp_path / "sweep.toml", "--out", tmp_path / "out")
        assert done.code == 0, done.err
        assert len(server.requests) == 2 * (2 * 2 * 2 + 2)
        again = trivium("sweep", tmp_path / "sweep.toml", "--out", tmp_path / "out", "--json").json
        assert len(server.requests) == 20
    cells = {(c["store"], c["model"], c["context"], c["rerank"]): c["means"]["bleu"] for c in again["cells"]}
    assert len(cells) == len(again["cells"]) == 10 and again["asked"] == 2
    for store in ("store", "smaller/store"):
        assert cells[store, "openai:good", "vector", "tfidf"] == 1
        assert cells[store, "openai:poor", "vector", None] < 0.2
    assert ("smaller/store", "openai:good", "no-context", None) not in cells
    assert again["baseline"] == "smaller/store, openai:good, extractive, t 0, k 2, vector > tfidf"
    assert (again["currency"], again["unpriced"]) == ("CHF", ["openai:poor"])
    assert again["spent"] == pytest.approx(10 * (100 + 20) / 1e6)
    assert "tokens, 0.0012 CHF (without a price: openai:poor)" in done.out
    assert "cost (CHF)" in (tmp_path / "out" / "scores.csv").read_text("utf-8")
    for name in ("store", "smaller%2Fstore"):
        places = read_leaderboard(tmp_path / "out" / "runs" / name).places
        assert {one.name for one in places} >= {"vector", "vector > tfidf"}


def test_questions_that_no_store_shares_are_refused(trivium: Run, tmp_path: Path) -> None:
    """Each store answers another question."""
    for name, title in (("one", "Phobos"), ("other", "Titan")):
        (tmp_path / name).mkdir()
        fill_folder(tmp_path / name, {title: RECORDS[title]}, {})
    rows = [{"question": q, "answers": [a], "page": p} for q, (a, p) in QUESTIONS.items()]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "sweep.toml").write_text(
        'store = ["one/store", "other/store"]\nquestions = "questions.jsonl"\n[[model]]\nname = "none"\n'
    )
    done = trivium("sweep", tmp_path / "sweep.toml", "--out", tmp_path / "out")
    assert done.code == 1 and "known answers that are in every store" in " ".join(done.err.split())
