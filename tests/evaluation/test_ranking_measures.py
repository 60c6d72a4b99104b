"""Retrieval measures: by hand on four small rankings, and against scikit-learn on random ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.datasets.gold import Gold
from trivium.errors import InputError
from trivium.evaluation.ranking_measures import CMC_DEPTH, cumulative_matches, measure


def one(gold: list[list[str]], ranking: str) -> dict[str, float]:
    return {name: float(v[0]) for name, v in measure([Gold.of(gold)], [list(ranking)]).items()}


def test_two_gold_chunks_at_ranks_two_and_five() -> None:
    m = one([["g"], ["h"]], "agbch")
    assert (m["hit@1"], m["hit@3"], m["hit@5"]) == (0, 1, 1)
    assert (m["recall@1"], m["recall@3"], m["recall@5"], m["recall@20"]) == (0, 0.5, 1, 1)
    assert (m["all@4"], m["all@5"], m["all@6"]) == (0, 1, 1)
    assert (m["precision@3"], m["precision@5"], m["precision@8"]) == (1 / 3, 2 / 5, 2 / 8)
    assert m["mrr"] == m["mrr@5"] == 1 / 2
    assert m["map"] == pytest.approx((1 / 2 + 2 / 5) / 2)
    gain = 1 / math.log2(3) + 1 / math.log2(6)
    assert m["ndcg@5"] == pytest.approx(gain / (1 + 1 / math.log2(3)))
    assert m["f1@3"] == pytest.approx(2 * (1 / 3) * 0.5 / (1 / 3 + 0.5))
    assert m["f2@3"] == pytest.approx(5 * (1 / 3) * 0.5 / (4 / 3 + 0.5))
    assert m["f3@3"] == pytest.approx(10 * (1 / 3) * 0.5 / (9 / 3 + 0.5))


def test_every_measure_at_cutoffs_of_ones_own() -> None:
    """Gold at ranks 2 and 25: half of it among 24, all among 25. Each measure has these cutoffs and no
    others, whatever is usual, and the same value as at a usual one."""
    gold, ranking = [Gold.of([["g"], ["h"]])], [["a", "g", *map(str, range(22)), "h"]]
    m = {name: float(values[0]) for name, values in measure(gold, ranking, (2, 24, 25)).items()}
    assert {name.rpartition("@")[2] for name in m if "@" in name} == {"2", "24", "25"}
    assert {name.partition("@")[0] for name in m} == {
        name.partition("@")[0] for name in measure(gold, ranking)
    }
    assert (m["recall@2"], m["recall@24"], m["recall@25"]) == (0.5, 0.5, 1)
    assert (m["all@24"], m["all@25"], m["hit@2"]) == (0, 1, 1)
    assert (m["precision@25"], m["mrr@2"]) == (2 / 25, 0.5)
    assert m["map@25"] == pytest.approx((1 / 2 + 2 / 25) / 2) and m["map@24"] == 1 / 4
    assert m["f1@25"] == pytest.approx(2 * 0.08 / 1.08)
    usual, own = measure(gold, ranking), measure(gold, ranking, [5])
    assert {name: usual[name] for name in own} == own
    # A cutoff beyond all lists: nothing more is found there.
    assert float(measure(gold, ranking, [100])["precision@100"][0]) == 0.02
    for wrong in ([], [0], [3, -1]):
        with pytest.raises(InputError, match="expected cutoffs of 1 or more"):
            measure(gold, ranking, wrong)


def test_alternatives_of_a_group_count_once_except_for_precision() -> None:
    """g and G are one thing to find, h another one, never found."""
    m = one([["g", "G"], ["h"]], "gGabc")
    assert (m["recall@3"], m["all@5"], m["hit@1"]) == (0.5, 0, 1)
    assert m["precision@3"] == pytest.approx(2 / 3)
    assert m["map"] == 0.5
    assert m["ndcg@5"] == pytest.approx(1 / (1 + 1 / math.log2(3)))


def test_nothing_retrieved_scores_zero_in_everything_and_stays_in_the_mean() -> None:
    assert set(one([["g"]], "").values()) == {0.0}
    assert measure([Gold.of([["g"]])] * 2, [[], ["g"]])["hit@1"].mean() == 0.5


def test_precision_divides_by_the_cutoff_however_few_were_retrieved() -> None:
    m = one([["g"]], "g")
    assert (m["precision@5"], m["precision@10"], m["precision@20"]) == (0.2, 0.1, 0.05)


def test_precision_at_ten_and_twenty_by_hand() -> None:
    """Gold at ranks 2, 10, 11 and 21."""
    m = one([["a"], ["b"], ["c"], ["d"]], "1a2345678bc" + "ABCDEFGHI" + "d")
    assert (m["precision@10"], m["precision@20"]) == (0.2, 0.15)


def test_gold_beyond_the_cutoff_counts_only_without_one() -> None:
    ranking = "abcdefijklmnopqrstuvwxg"  # g at rank 23
    m = one([["g"]], ranking)
    assert (m["mrr@20"], m["map@20"], m["recall@20"]) == (0, 0, 0)
    assert m["mrr"] == m["map"] == pytest.approx(1 / 23)


def test_more_groups_than_the_cutoff_can_still_be_an_ideal_ranking() -> None:
    m = one([[c] for c in "abcdefgh"], "abcdefgh")
    assert (m["ndcg@5"], m["map"], m["recall@4"], m["all@6"], m["all@8"]) == (1, 1, 0.5, 0, 1)


def test_the_curve_of_cumulative_matches_is_the_share_of_questions_matched_by_each_rank() -> None:
    gold = [Gold.of([["g"]])] * 4
    curve = cumulative_matches(gold, [list("g"), list("ag"), list("abg"), []])
    assert curve.tolist() == [0.25, 0.5] + [0.75] * (CMC_DEPTH - 2)


def test_a_ranking_missing_or_with_a_repeated_chunk_is_refused() -> None:
    with pytest.raises(InputError, match="one ranking for each of 1"):
        measure([Gold.of([["g"]])], [])
    with pytest.raises(InputError, match="listed twice"):
        measure([Gold.of([["g"]])], [["a", "a"]])


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10_000))
def test_random_rankings_score_as_scikit_learn_says(seed: int) -> None:
    """30 chunks all ranked, 1 to 6 of them gold, each its own group."""
    # Here, as they take a second of every process of a run.
    from sklearn.metrics import average_precision_score, ndcg_score, precision_recall_fscore_support

    rng = np.random.default_rng(seed)
    order = rng.permutation(30)
    is_gold = np.zeros(30, dtype=int)
    is_gold[rng.choice(30, size=rng.integers(1, 7), replace=False)] = 1
    m = one_of(is_gold, order)
    score = np.empty(30)
    score[order] = -np.arange(30)
    assert m["map"] == pytest.approx(average_precision_score(is_gold, score))
    for k in (5, 10, 20):
        assert m[f"ndcg@{k}"] == pytest.approx(ndcg_score([is_gold], [score], k=k))
    for k in (1, 3, 4, 5, 6, 8):
        top = np.isin(np.arange(30), order[:k]).astype(int)
        for beta in (1, 2, 3):
            p, r, f, _ = precision_recall_fscore_support(
                is_gold, top, beta=beta, average="binary", zero_division=0.0
            )
            assert (m[f"precision@{k}"], m[f"recall@{k}"]) == pytest.approx((p, r))
            assert m[f"f{beta}@{k}"] == pytest.approx(f)


def one_of(is_gold: np.ndarray, order: np.ndarray) -> dict[str, float]:
    gold = Gold.of([str(i)] for i in np.flatnonzero(is_gold))
    return {n: float(v[0]) for n, v in measure([gold], [[str(i) for i in order]]).items()}


GROUPS = st.lists(st.integers(0, 4), min_size=8, max_size=8)


@settings(deadline=None, max_examples=50)
@given(GROUPS, st.permutations("abcdefgh"), st.integers(0, 8))
def test_every_measure_is_in_the_unit_interval_and_grows_with_a_longer_list(
    group_of: list[int], order: list[str], cut: int
) -> None:
    gold = Gold.of([c for c, g in zip("abcdefgh", group_of, strict=True) if g == n] for n in set(group_of))
    short, long = measure([gold] * 2, [order[:cut], order]).values(), measure([gold], [order]).values()
    for both, alone in zip(short, long, strict=True):
        assert 0 <= both[0] <= both[1] <= 1 + 1e-12
        assert both[1] == alone[0]


def test_hit_all_and_recall_are_consistent() -> None:
    rng = np.random.default_rng(5)
    gold = [Gold.of([[str(c)] for c in rng.choice(20, 3, replace=False)]) for _ in range(200)]
    m = measure(gold, [[str(c) for c in rng.permutation(20)] for _ in gold])
    assert ((m["recall@5"] > 0) == (m["hit@5"] == 1)).all()
    assert ((m["recall@5"] == 1) == (m["all@5"] == 1)).all()
    assert (m["recall@4"] <= m["recall@6"]).all()
    assert 0 < m["all@8"].mean() < 1
