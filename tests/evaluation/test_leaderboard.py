"""The order, the numbers and the tests of a leaderboard."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy

from trivium.datasets.gold import Gold
from trivium.errors import InputError
from trivium.evaluation.leaderboard import rank_runs
from trivium.evaluation.significance import holm

PAGES = ["Mars", "Mars", "Mars", "Io", "Io", "Venus", "Earth", "Moon", "Pluto", "Ceres"]
GOLD = {f"q{i}": Gold.of([[f"{page}#chunk-{i}"]]) for i, page in enumerate(PAGES)}


def run(*ranks: int | None) -> dict[str, list[tuple[str, float]]]:
    """A run that has the gold of each question at this rank; a question with None is not answered."""
    return {
        question: [(f"other-{place}", 1 - place / 100) for place in range(1, rank)]
        + [(answer.groups[0][0], 1 - rank / 100)]
        for (question, answer), rank in zip(GOLD.items(), ranks, strict=True)
        if rank is not None
    }


RUNS = {
    "never": run(*[21] * 10),
    "best": run(*[1] * 9, 3),
    "half": run(1, 1, 2, 1, 3, None, 1, 1, 4, 20),
}


def test_the_best_run_is_first_and_what_the_others_are_tested_against() -> None:
    found = rank_runs(RUNS, GOLD)
    assert (found.measure, found.baseline, found.hindsight) == ("hit@1", "best", True)
    assert [(place.name, place.interval.mean, place.answered) for place in found.places] == [
        ("best", 0.9, 10),
        ("half", 0.5, 9),
        ("never", 0.0, 10),
    ]
    best, half, never = found.places
    assert best.against is None and best.p_holm is None and best.mark == ""
    assert half.against is not None and half.against.difference.mean == pytest.approx(-0.4)
    assert half.matches == tuple([0.5, 0.6, 0.7, 0.8] + [0.8] * 15 + [0.9])
    assert (half.means["precision@10"], half.means["precision@20"]) == pytest.approx((0.08, 0.045))
    assert never.matches == (0.0,) * 20


def test_whole_documents_are_flipped() -> None:
    """Seven documents; ``best`` beats ``never`` on six of them: 2 of 2^6 patterns are as extreme."""
    never = rank_runs(RUNS, GOLD).places[-1]
    assert rank_runs(RUNS, GOLD).clusters == 7
    assert never.against is not None and never.against.p == 2 / 64


@pytest.mark.parametrize("by", ["mrr", "hit@1", "precision@5", "ndcg@10"])
@pytest.mark.parametrize("baseline", ["best", "half", "never"])
def test_p_values_are_those_of_scipy_on_the_sums_of_documents(by: str, baseline: str) -> None:
    found = rank_runs(RUNS, GOLD, by, baseline)
    assert (found.baseline, found.hindsight, found.resampled) == (baseline, False, "documents")
    documents = list(dict.fromkeys(PAGES))
    sums = {}
    for place in found.places:
        alone = [
            rank_runs({"x": RUNS[place.name]}, {q: answer}, by).places[0].means[by]
            for q, answer in GOLD.items()
        ]
        sums[place.name] = np.array(
            [
                sum(v for v, page in zip(alone, PAGES, strict=True) if page == document)
                for document in documents
            ]
        )
    theirs = {}
    for name, own in sums.items():
        if name != baseline:
            theirs[name] = scipy.stats.permutation_test(
                (own, sums[baseline]),
                lambda a, b: np.sum(a - b),
                permutation_type="samples",
                n_resamples=np.inf,
            ).pvalue
    ours = {place.name: place.against.p for place in found.places if place.against is not None}
    assert ours == pytest.approx(theirs)
    corrected = {place.name: place.p_holm for place in found.places if place.p_holm is not None}
    assert list(corrected.values()) == holm(list(ours.values()))


def test_marks_are_for_differences_that_survive_the_correction() -> None:
    gold = {f"q{i}": Gold.of([[f"page {i}#chunk-1"]]) for i in range(12)}
    good = {question: [(answer.groups[0][0], 1.0)] for question, answer in gold.items()}
    bad = {question: [("other", 1.0)] for question in gold}
    found = rank_runs({"bad": bad, "good": good, "same": good}, gold, baseline="same")
    assert [(place.name, place.mark) for place in found.places] == [("good", ""), ("same", ""), ("bad", "▼")]
    found = rank_runs({"bad": bad, "good": good}, gold, baseline="bad")
    assert [(place.name, place.mark) for place in found.places] == [("good", "▲"), ("bad", "")]


def test_questions_on_one_document_are_resampled_one_by_one() -> None:
    gold = {f"q{i}": Gold.of([[f"Mars#chunk-{i}"]]) for i in range(4)}
    found = rank_runs({"a": {"q0": [("Mars#chunk-0", 1.0)]}}, gold)
    assert (found.resampled, found.clusters, found.questions) == ("questions", 4, 4)
    assert found.places[0].against is None


def test_the_leaderboard_is_plain_json() -> None:
    answer = json.loads(json.dumps(rank_runs(RUNS, GOLD).to_json(), allow_nan=False))
    assert [(place["rank"], place["name"]) for place in answer["places"]] == [
        (1, "best"),
        (2, "half"),
        (3, "never"),
    ]
    assert answer["places"][1]["against"]["against"] == "best" and answer["places"][0]["against"] is None


def test_unknown_names_and_nothing_to_rank_are_refused() -> None:
    with pytest.raises(InputError, match=r"one of the runs as baseline \(never, best, half\), got 'vector'"):
        rank_runs(RUNS, GOLD, baseline="vector")
    with pytest.raises(InputError, match=r"expected a measure, one of hit, .*, got 'hits'"):
        rank_runs(RUNS, GOLD, "hits")
    with pytest.raises(InputError, match="0 runs and 10 questions"):
        rank_runs({}, GOLD)
