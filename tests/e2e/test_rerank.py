"""``--rerank`` and ``--cut`` as a user meets them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.conftest import Run
from tests.fakes.cross_encoder_files import write_cross_encoder
from trivium.engine import Engine
from trivium.sample import question_files

QUESTION = "Who discovered the moons of Mars?"


def test_search_and_ask_give_what_the_engine_gives(trivium: Run, sample_store: Path) -> None:
    options = ["--rerank", "weighted:0.7", "--cut", "gap:2-8", "--set", "rerank.passages=12"]
    found = trivium("search", QUESTION, "--store", sample_store, *options, "--json")
    with Engine.open(sample_store) as engine:
        hits = engine.search(QUESTION, rerank="weighted:0.7", cut="gap:2-8", settings={"rerank.passages": 12})
    assert [hit["uri"] for hit in found.json["hits"]] == [hit.uri for hit in hits]
    assert [hit["rerank_score"] for hit in found.json["hits"]] == [hit.rerank_score for hit in hits]
    assert found.json["warnings"] == []
    answer = trivium("ask", QUESTION, "--store", sample_store, *options, "--json")
    assert [hit["uri"] for hit in answer.json["passages"]] == [hit.uri for hit in hits]
    assert "warnings" not in trivium("search", QUESTION, "--store", sample_store, "--json").json


def test_a_cross_encoder_from_a_folder_and_one_that_is_damaged(
    trivium: Run, sample_store: Path, tmp_path: Path
) -> None:
    """The damaged one is told of on stderr, and the passages are those of a search without it."""
    folder = write_cross_encoder(tmp_path / "model")
    asked = ["search", QUESTION, "--store", sample_store, "--k", "3"]
    good = trivium(*asked, "--rerank", f"cross-encoder:{folder}", "--json")
    assert good.code == 0 and all(hit["rerank_score"] is not None for hit in good.json["hits"])
    (folder / "model.onnx").write_bytes(b"no model")
    bad = trivium(*asked, "--rerank", f"cross-encoder:{folder}")
    assert bad.code == 0
    assert bad.out == trivium(*asked).out
    assert "warning: cross-encoder:" in bad.err and "in the order of the search" in bad.err


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--rerank", "bm26"], "did you mean bm25"),
        (["--rerank", "weighted:x"], "a weight from 0 to 1"),
        (["--cut", "elbow"], "unknown cut"),
        (["--cut", "probability", "--retriever", "vector"], "needs probabilities"),
        (["--set", "rerank.second=3"], "rerank.seconds"),
    ],
    ids=str,
)
def test_what_is_named_wrongly_ends_with_2(
    trivium: Run, sample_store: Path, wrong: list[str], said: str
) -> None:
    result = trivium("search", QUESTION, "--store", sample_store, *wrong)
    assert result.code == 2
    assert said in " ".join(result.err.replace("│", " ").split())


def test_evaluate_measures_each_system_also_reranked_and_cut(
    trivium: Run, sample_store: Path, tmp_path: Path
) -> None:
    """A row more for each; BM25 over lexical's own list changes nothing."""
    questions, _ = question_files()
    result = trivium(
        "evaluate", questions, "--store", sample_store, "--retriever", "vector", "lexical", "--fusion", "default",
        "--rerank", "bm25", "weighted:0.7", "--cut", "gap:1-6", "--runs", tmp_path / "runs", "--json",
    )  # fmt: skip
    rows = result.json["rows"]
    systems = ("vector", "lexical", "default")
    assert set(rows) == {
        f"{system}{after}{end}"
        for system in systems
        for after in ("", " > bm25", " > weighted:0.7")
        for end in ("", " > gap:1-6")
    }
    assert rows["lexical > bm25"]["hit@5"] == rows["lexical"]["hit@5"]
    assert rows["default > bm25"]["mrr"] != rows["default"]["mrr"]
    assert rows["default > gap:1-6"]["hit@5"] <= rows["default"]["hit@5"]
    assert rows["default > gap:1-6"]["hit@1"] == rows["default"]["hit@1"]
    assert 1 <= rows["default > gap:1-6"]["passages"] <= 6
    assert len(list((tmp_path / "runs").glob("*.run"))) == len(rows)
