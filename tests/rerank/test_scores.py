"""The rerankers that only combine what retrievers know: hand-computed."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rerank.candidates import candidates
from trivium.errors import ConfigurationError
from trivium.rerank.reranker import Deadline, RerankCandidate, Reranker, RerankSettings
from trivium.rerank.without_model import Bm25Reranker, TfidfReranker, WeightedReranker, scaled

NONE = float("nan")


def _scores(reranker: Reranker, passages: list[RerankCandidate]) -> list[float]:
    return [float(score) for score in reranker.rerank("?", passages, Deadline())]


def test_bm25_is_what_the_lexical_retriever_says() -> None:
    assert _scores(Bm25Reranker(), candidates("x", "y", "z", lexical=[1.5, NONE, 4.0])) == [1.5, 0.0, 4.0]


def test_tfidf_by_hand() -> None:
    """Question "red moons"; passages "Mars: red dust", "Mars: moons" of two. Of two passages a word in one weighs
    1 + ln(2 / 2) = 1, in both w = 1 + ln(2 / 3). The question's vector is (1, 1) over (red, moon), length sqrt 2; the
    first passage has mars, red and dust, length sqrt(w^2 + 2), the second mars and moon, length sqrt(w^2 + 1)."""
    w = 1 + math.log(2 / 3)
    expected = [1 / math.sqrt(2 * (w * w + 2)), 1 / math.sqrt(2 * (w * w + 1))]
    passages = candidates("red dust", "moons")
    asked = TfidfReranker().rerank("red moons", passages, Deadline())
    assert asked == pytest.approx(expected)
    assert TfidfReranker().rerank("?", passages, Deadline()) == [0, 0]


def test_a_weighted_sum_of_both_scaled() -> None:
    """vector .2 .6 .4 -> 0 1 .5; lexical 8 0 2 -> 1 0 .25; .75 of the one and .25 of the other."""
    passages = candidates("x", "y", "z", vector=[0.2, 0.6, 0.4], lexical=[8.0, 0.0, 2.0])
    assert _scores(WeightedReranker(0.75), passages) == pytest.approx([0.25, 0.75, 0.4375])


@given(
    st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 50)), min_size=1, max_size=26),
    st.sampled_from([0.0, 1.0]),
)
def test_at_the_ends_one_of_the_two_alone_decides(rows: list[tuple[float, float]], weight: float) -> None:
    dense, sparse = [row[0] for row in rows], [row[1] for row in rows]
    passages = candidates(*("x" for _ in rows), vector=dense, lexical=sparse)
    assert _scores(WeightedReranker(weight), passages) == scaled(dense if weight else sparse)


@given(st.lists(st.floats(-1e6, 1e6) | st.just(NONE), max_size=30))
def test_scaled_scores_keep_their_order_between_0_and_1(scores: list[float]) -> None:
    result = scaled(scores)
    assert all(0 <= value <= 1 for value in result)
    known = [(score, value) for score, value in zip(scores, result, strict=True) if not math.isnan(score)]
    assert all(low[1] <= high[1] for low, high in zip(sorted(known), sorted(known)[1:], strict=False))


@pytest.mark.parametrize("weight", [-0.1, 1.1, NONE])
def test_a_weight_beyond_its_range_is_refused(weight: float) -> None:
    with pytest.raises(ConfigurationError, match="from 0 to 1"):
        WeightedReranker(weight)


@pytest.mark.parametrize(
    "wrong", [{"passages": 1}, {"passages": 1001}, {"seconds": 0.0}, {"seconds": float("nan")}]
)
def test_settings_beyond_their_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError, match=rf"rerank\.{next(iter(wrong))} must be"):
        RerankSettings(**wrong)  # type: ignore[arg-type]
