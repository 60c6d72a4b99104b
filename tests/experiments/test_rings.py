"""The rings on five passages, without the other systems' packages: what is missing, written, and not asked again."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from experiments.rings import peers, run
from trivium.evaluation.trec_files import read_qrels, read_run

TEXTS = {
    "Ferry": "The ferry to Ulm leaves at six.",
    "Lamps": "The widow Oss lights the lamps of the harbour.",
    "Salt": "Salt is weighed on the old scale.",
    "Sugar": "Sugar is weighed on the new scale.",
    "Goats": "Goats graze on the hill.",
}
ASKED = {"when does the ferry leave": ["Ferry"], "what is weighed on a scale": ["Salt", "Sugar"]}


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of results of a run over one set, whose data are made up."""
    corpus = [{"title": title, "text": text} for title, text in TEXTS.items()]
    questions = [
        {
            **{"question": text, "answers": [""], "evidence": ["of another form"], "gold_any": True},
            "gold_passages": [{"title": title, "text": TEXTS[title]} for title in titles],
        }
        for text, titles in ASKED.items()
    ]
    for name, rows in (("corpus", corpus), ("questions", questions)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setattr(run, "SETS", (run.Set("tiny", ("corpus.jsonl",), "questions.jsonl", judged=True),))
    monkeypatch.setattr(run, "EMBEDDER", "minilm")
    given = ["run", "--out", str(tmp_path / "out"), "--data", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", given)
    return tmp_path / "out"


def test_every_missing_package_is_said_before_anything_is_built(
    out: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(peers, "PACKAGES", ("numpy", "no-such-one", "nor-this"))
    with pytest.raises(SystemExit):
        run.main()
    assert capsys.readouterr().err == "error: packages are missing: pip install no-such-one nor-this\n"
    assert not out.exists()


def test_a_set_is_asked_once_and_its_tables_compare_with_the_default(
    out: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The passages and vectors of the store are those of the other system; of a judged set every passage counts."""

    def made(corpus: peers.Corpus, folder: Path) -> list[peers.Made]:
        assert len(corpus.texts) == 5 and "Salt: Salt is weighed on the old scale." in corpus.texts
        np.testing.assert_allclose(np.linalg.norm(corpus.vectors, axis=1), 1, atol=0.01)
        return [peers.Made("theirs", lambda *_: [(corpus.uris[0], 1.0)])]

    monkeypatch.setattr(peers, "PACKAGES", ())
    monkeypatch.setattr(peers, "make", made)
    run.main()
    first = capsys.readouterr().out
    assert (
        "| tiny | 2 | 2 |" in first
        and "| tiny | 2 | 5 |" in first
        and "recall@100" in first
        and "theirs" in first
    )
    assert sorted(len(gold.groups) for gold in read_qrels(out / "tiny" / "qrels.txt").values()) == [1, 2]
    assert len(read_run(out / "tiny" / "vector.run")["line-1"]) == 5
    assert (out / "tables.md").read_text("utf-8").strip() in first
    monkeypatch.setattr(run, "ask", None)
    run.main()
    assert capsys.readouterr().out in first


def test_the_fusion_of_neo4j_graphrag_takes_the_larger_share_of_the_best() -> None:
    """By hand: the nearest passage and the one with most words have 1, and the first of equals comes first."""
    pytest.importorskip("bm25s")
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]], dtype=np.float32)
    corpus = peers.Corpus(["a", "b", "c"], ["red", "blue boat", "green"], vectors)
    found = peers._graphrag(corpus).ask("boat", np.array([1.0, 0.0], dtype=np.float32))
    assert found == [("a", 1.0), ("b", 1.0), ("c", pytest.approx(0.8))]
