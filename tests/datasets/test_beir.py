"""Folders of the benchmark BEIR: built whole, and evaluated with graded judgements."""

from __future__ import annotations

import gzip
import json
from math import log2
from pathlib import Path

import numpy as np
import pytest

from trivium import Engine
from trivium.datasets.beir import read_benchmark
from trivium.datasets.questions import read_questions
from trivium.datasets.trace_gold import trace
from trivium.errors import QuestionFileError
from trivium.evaluation.run import evaluate
from trivium.evaluation.trec_files import read_qrels, write_runs
from trivium.graph.schema import Label

CORPUS = [
    {"_id": "7", "title": "Ferry", "text": "The ferry to Ulm leaves at six."},
    {"_id": "8", "title": "Ferry", "text": "Another ferry carries only goats and hay."},
    {"_id": "9", "title": "", "text": "Lamps in the harbour are lit by the widow Oss."},
    {"_id": "a_1", "text": "Salt is weighed on the old scale."},
    {"_id": "a 1", "title": None, "text": "Sugar is weighed on the new scale."},
    {"_id": "11", "title": "A title alone", "text": ""},
]
QUERIES = [
    {"_id": "q1", "text": "which ferry carries goats"},
    {"_id": "2", "text": "who lights the lamps"},
    {"_id": "unjudged", "text": "nothing of this"},
]
JUDGEMENTS = [("q1", "8", 3), ("q1", "7", 1), ("2", "9", 1), ("2", "7", 0)]


def benchmark(folder: Path, *, packed: bool = False, named: bool = True, apart: bool = True) -> Path:
    """Write a folder: files plain or gzipped, judgements below names or in TREC's columns, in a folder or beside."""
    folder.mkdir()
    for name, rows in (("corpus", CORPUS), ("queries", QUERIES)):
        data = "".join(json.dumps(row) + "\n" for row in rows).encode()
        (folder / f"{name}.jsonl{'.gz' if packed else ''}").write_bytes(
            gzip.compress(data) if packed else data
        )
    lines = [f"{q}\t{d}\t{grade}\n" if named else f"{q}\t0\t{d}\t{grade}\n" for q, d, grade in JUDGEMENTS]
    qrels = folder / "qrels" / "test.tsv" if apart else folder / "qrels.tsv"
    qrels.parent.mkdir(exist_ok=True)
    qrels.write_text("query-id\tcorpus-id\tscore\n" * named + "".join(lines))
    return folder


@pytest.mark.parametrize(
    "form", [{}, {"packed": True}, {"named": False}, {"apart": False}], ids=["plain", "gz", "trec", "beside"]
)
def test_a_folder_is_built_whole_and_its_judged_queries_are_read(
    tmp_path: Path, form: dict[str, bool]
) -> None:
    folder = benchmark(tmp_path / "set", **form)
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.build([folder], workers=1, embed=False)
        ids = {page.metadata["_id"]: page.uri for page in engine.store.pages()}
    assert sorted(ids) == ["11", "7", "8", "9", "a 1", "a_1"]
    assert (ids["7"], ids["8"], ids["9"]) == ("Ferry", "Ferry ⟦8⟧", "⟦Document 9⟧")
    first, second = read_questions(folder)
    assert (first.id, first.text, first.judged) == ("q1", "which ferry carries goats", (("8", 3), ("7", 1)))
    assert (second.id, second.judged) == ("2", (("9", 1), ("7", 0)))


def test_an_id_names_a_document_and_is_no_text(tmp_path: Path) -> None:
    """Neither words nor vectors know it, so that documents are ranked by what they say."""
    folder = benchmark(tmp_path / "set")
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.build([folder], workers=1)
        vectors = engine.store.vectors(Label.CHUNK, ["⟦Document 9⟧#chunk-1", "Ferry ⟦8⟧#chunk-1"])
        texts = [CORPUS[2]["text"], f"Ferry: {CORPUS[1]['text']}"]
        np.testing.assert_allclose(vectors, engine.embedder.embed(texts), atol=0.01)
        assert engine.search("Document 9", 3, ["lexical"]) == []
        found = {hit.page for hit in engine.search("ferry", 3, ["lexical"])}
        assert found == {"Ferry", "Ferry ⟦8⟧"}


def test_ndcg_counts_grades(tmp_path: Path) -> None:
    """By hand: grade 1 at rank 1 and grade 3 at rank 2, against 3 and 1. A document judged 0 is not relevant."""
    folder = benchmark(tmp_path / "set")
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.build([folder], workers=1, embed=False)
        questions = read_questions(folder)
        traced = trace(questions, engine.store)
    assert traced.gold["q1"].groups == (("Ferry ⟦8⟧#chunk-1",), ("Ferry#chunk-1",))
    assert traced.gold["q1"].grades == (3, 1) and traced.gold["2"].groups == (("⟦Document 9⟧#chunk-1",),)
    ranked = [[("Ferry#chunk-1", 2.0), ("Ferry ⟦8⟧#chunk-1", 1.0)], [("Ferry#chunk-1", 1.0)]]
    report = evaluate(questions, traced, {"some": ranked})
    assert report.rows["some"].values["ndcg@10"].tolist() == pytest.approx(
        [(1 + 3 / log2(3)) / (3 + 1 / log2(3)), 0]
    )
    write_runs(report, tmp_path / "runs")
    assert read_qrels(tmp_path / "runs" / "qrels.txt") == traced.gold


def test_documents_that_are_not_in_the_store_are_passed_over_while_one_is(tmp_path: Path) -> None:
    folder = benchmark(tmp_path / "set")
    (folder / "qrels" / "test.tsv").write_text("q1\t7\t2\nq1\t99\t2\n2\t98\t1\n")
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.build([folder], workers=1, embed=False)
        traced = trace(read_questions(folder), engine.store)
    assert [one.id for one in traced.questions] == [one.id for one in traced.partly] == ["q1"]
    assert [(one.id, one.reason) for one in traced.untraceable] == [("2", "the store has no document '98'")]


def test_a_document_given_twice_is_one(tmp_path: Path) -> None:
    folder = benchmark(tmp_path / "set")
    with (folder / "corpus.jsonl").open("a") as file:
        file.write(json.dumps(CORPUS[1]) + "\n" + json.dumps(CORPUS[0]) + "\n")
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.build([folder], workers=1, embed=False)
        assert engine.store.count_pages() == len(CORPUS)


def test_which_judgements_are_read_and_what_is_wrong_with_some(tmp_path: Path) -> None:
    folder = benchmark(tmp_path / "set")
    dev = folder / "qrels" / "dev.tsv"
    dev.write_text("query-id\tcorpus-id\tscore\n2\t9\t1\n")
    assert [one.id for one in read_questions(folder)] == ["q1", "2"]
    assert [one.id for one in read_questions(dev)] == ["2"]
    for text, reason in {
        "q1\t8\t1\nq1\t7\thigh\n": "line 2: expected query, document and score",
        "other\t8\t1\n": "expected judgements of the queries, got other",
        "": "expected judgements of the queries, got none",
    }.items():
        dev.write_text(text)
        with pytest.raises(QuestionFileError, match=reason):
            read_benchmark(dev)
