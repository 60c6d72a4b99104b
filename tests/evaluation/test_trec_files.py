"""TREC files: nothing is lost on the way out and back, and other tools read the same numbers."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.datasets.gold import Gold
from trivium.errors import InputError
from trivium.evaluation.ranking_measures import CMC_DEPTH, cumulative_matches, measure
from trivium.evaluation.trec_files import decode, encode, read_qrels, read_run, write_qrels, write_run


def test_judgements_in_the_columns_of_beir_are_read(tmp_path: Path) -> None:
    """There a document is found by itself, and an identifier is not percent-encoded."""
    path = tmp_path / "qrels.tsv"
    path.write_text("query-id\tcorpus-id\tscore\nq 1\t100%25\t2\nq 1\tb\t1\nq2\tb\t0\n")
    assert read_qrels(path) == {"q 1": Gold((("100%25",), ("b",)), (2, 1))}
    path.write_text("q\tb\t1\nq\tc\thigh\n")
    with pytest.raises(InputError, match="line 2: expected a whole number"):
        read_qrels(path)


ID = st.text(min_size=1, max_size=12)


@settings(deadline=None, max_examples=50)
@given(ID)
def test_an_encoded_identifier_is_one_field_and_decodes_to_itself(identifier: str) -> None:
    field = encode(identifier)
    assert field.split() == [field]
    assert field.isprintable() or not identifier.isprintable()
    assert decode(field) == identifier


def test_only_white_space_controls_and_percent_signs_are_encoded() -> None:
    assert encode("C%23 (é)\u00a0#chunk-1\x00") == "C%2523%20(é)%C2%A0#chunk-1%00"
    with pytest.raises(InputError, match="empty"):
        encode("")


@settings(deadline=None, max_examples=50)
@given(
    st.dictionaries(
        ID,
        st.lists(st.tuples(ID, st.floats(-1e9, 1e9)), min_size=1, max_size=6, unique_by=lambda hit: hit[0]),
    )
)
def test_a_run_comes_back_in_its_order_with_its_scores(tmp_path_factory, rankings) -> None:
    """The order is the judged one, whatever the scores; falling scores come back to the last bit."""
    path = tmp_path_factory.getbasetemp() / "any.run"
    write_run(path, "vector", rankings)
    back = read_run(path)
    assert list(back) == list(rankings)
    for question, ranking in rankings.items():
        assert [chunk for chunk, _ in back[question]] == [chunk for chunk, _ in ranking]
        written = [score for _, score in back[question]]
        assert all(a > b for a, b in pairwise(written))
        given_scores = [score for _, score in ranking]
        if all(a > b for a, b in pairwise(given_scores)):
            assert written == given_scores


def test_tied_scores_fall_by_one_bit_so_that_sorting_keeps_the_order(tmp_path: Path) -> None:
    write_run(tmp_path / "x.run", "path", {"q": [("b", 1.0), ("a", 1.0), ("c", 0.1)]})
    assert (tmp_path / "x.run").read_text().splitlines() == [
        "q Q0 b 1 1.0 path",
        "q Q0 a 2 0.9999999999999999 path",
        "q Q0 c 3 0.1 path",
    ]


@settings(deadline=None, max_examples=50)
@given(st.dictionaries(ID, st.lists(st.lists(ID, min_size=1, max_size=3), min_size=1, max_size=3)))
def test_judgements_come_back_with_their_groups(tmp_path_factory, parts) -> None:
    gold = {question: Gold.of(groups) for question, groups in parts.items()}
    path = tmp_path_factory.getbasetemp() / "qrels.txt"
    write_qrels(path, gold)
    assert read_qrels(path) == gold


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_is_refused(tmp_path: Path, score: float) -> None:
    with pytest.raises(InputError, match="finite"):
        write_run(tmp_path / "x.run", "vector", {"q": [("a", score)]})


@pytest.mark.parametrize(
    ("text", "says"),
    [("q Q0 a 1 0.5", "line 1: expected 6 columns, got 5"), ("q Q0 a one 0.5 r", "rank and a score")],
)
def test_a_malformed_run_is_refused_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "x.run").write_text(text)
    with pytest.raises(InputError, match=says):
        read_run(tmp_path / "x.run")


def test_malformed_judgements_and_missing_files_are_input_errors(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("q 0 a yes\n")
    with pytest.raises(InputError, match="line 1: expected a whole number"):
        read_qrels(tmp_path / "q")
    with pytest.raises(InputError, match="readable TREC file"):
        read_run(tmp_path / "missing.run")
    with pytest.raises(InputError, match="can be written"):
        write_run(tmp_path / "q" / "x.run", "r", {})


MEASURES = {
    **{f"hit@{k}": f"hit_rate@{k}" for k in (1, 3, 5)},
    **{f"precision@{k}": f"precision@{k}" for k in (1, 3, 4, 5, 6, 8, 10, 20)},
    **{f"recall@{k}": f"recall@{k}" for k in (1, 3, 4, 5, 6, 8, 10, 20)},
    **{f"f1@{k}": f"f1@{k}" for k in (1, 3, 5)},
    **{f"mrr{at}": f"mrr{at}" for at in ("", "@5", "@10")},
    **{f"map{at}": f"map{at}" for at in ("", "@5", "@20")},
    **{f"ndcg@{k}": f"ndcg@{k}" for k in (5, 10, 20)},
}

MATCHES = [f"hit_rate@{k}" for k in range(1, CMC_DEPTH + 1)]
"""The CMC, rank by rank."""

RANX = """
import json, sys
from ranx import Qrels, Run, evaluate
qrels = Qrels.from_file(sys.argv[1], kind="trec")
run = Run.from_file(sys.argv[2], kind="trec")
evaluate(qrels, run, json.loads(sys.argv[3]), make_comparable=True)
json.dump({metric: dict(run.scores[metric]) for metric in run.scores}, sys.stdout)
"""


def test_ranx_reads_the_files_and_finds_the_same_measures(tmp_path: Path) -> None:
    """80 random questions, some without hits, many tied scores, each gold chunk its own group. ranx runs in a
    process of its own with its compiler off, which takes two seconds instead of thirty."""
    rng = np.random.default_rng(7)
    pool = [f"Page {i}#A %23 section#chunk-{i}" for i in range(40)]
    gold, rankings = {}, {}
    for q in range(80):
        name = f"question {q:02d}"
        gold[name] = Gold.of([[pool[i]] for i in rng.choice(40, rng.integers(1, 5), replace=False)])
        ties = np.sort(np.round(rng.random(40), 1))[::-1]
        hits = rng.permutation(40)[: 0 if q % 10 == 0 else rng.integers(1, 41)]
        rankings[name] = [(pool[i], float(s)) for i, s in zip(hits, ties, strict=False)]
    write_qrels(tmp_path / "qrels.txt", gold)
    write_run(tmp_path / "row.run", "row", rankings)
    arguments = [
        tmp_path / "qrels.txt",
        tmp_path / "row.run",
        json.dumps(sorted({*MEASURES.values(), *MATCHES})),
    ]
    answer = subprocess.run(
        [sys.executable, "-c", RANX, *map(str, arguments)],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        check=True,
        text=True,
    )
    theirs = json.loads(answer.stdout)
    uris = [[c for c, _ in rankings[q]] for q in gold]
    ours = measure(list(gold.values()), uris)
    for mine, other in MEASURES.items():
        expected = [theirs[other][encode(question)] for question in gold]
        assert ours[mine].tolist() == pytest.approx(expected), mine
    matches = [np.mean([theirs[name][encode(question)] for question in gold]) for name in MATCHES]
    assert cumulative_matches(list(gold.values()), uris).tolist() == pytest.approx(matches)
