"""Standardisation, imputation and the two first fusions give the numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from trivium.errors import FusionError
from trivium.fusion.convex import Convex, impute, load, logarithm, parse, standardise
from trivium.fusion.registry import FUSIONS, make_fusion
from trivium.fusion.rrf import ReciprocalRank
from trivium.fusion.score_table import Table

WITHOUT_TRAINING = [name for name in FUSIONS if name != "network"]


def table(columns: dict[str, list[float]], ranks: list[list[int]] | None = None) -> Table:
    raw = np.array(list(columns.values()), dtype=float).T
    count = raw.shape[0]
    given_ranks = np.ones(raw.shape, dtype=np.int64) if ranks is None else np.array(ranks)
    return Table(
        chunks=tuple(f"c{row}" for row in range(count)),
        columns=tuple(columns),
        raw=raw,
        ranks=given_ranks,
        source_nodes=tuple({} for _ in range(count)),
    )


def test_a_missing_score_lies_a_twentieth_of_the_range_below_the_lowest() -> None:
    filled = impute(np.array([[1.0, np.nan], [np.nan, np.nan], [3.0, np.nan]]))
    assert filled.tolist() == [[1.0, 0.0], [0.9, 0.0], [3.0, 0.0]]


def test_imputing_leaves_a_whole_table_and_its_input_alone() -> None:
    scores = np.array([[1.0], [np.nan]])
    impute(scores)
    assert np.isnan(scores[1, 0])


@given(arrays(float, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=st.floats(-1e6, 1e6)))
def test_standardised_columns_have_mean_0_and_deviation_1_or_are_zero(scores: np.ndarray) -> None:
    standard = standardise(scores)
    assert np.all(np.isfinite(standard))
    for column in standard.T:
        assert abs(column.mean()) < 1e-6
        assert column.std() == pytest.approx(1, abs=1e-6) or not column.any()


@given(
    arrays(float, (6, 3), elements=st.floats(-100, 100).map(lambda x: round(x, 3))),
    st.floats(0.1, 10),
    st.floats(-5, 5),
)
def test_standardisation_forgets_unit_and_origin(scores: np.ndarray, scale: float, shift: float) -> None:
    """A cosine and a BM25 score become comparable: an affine change of a column changes nothing."""
    assert standardise(scores * scale + shift) == pytest.approx(standardise(scores), abs=1e-4)


def test_reciprocal_rank_adds_one_over_sixty_plus_rank() -> None:
    fused = ReciprocalRank().fuse(table({"a": [1, 2], "b": [1, np.nan]}, [[2, 1], [1, 0]]))
    assert fused.scores.tolist() == pytest.approx([1 / 62 + 1 / 61, 1 / 61])
    assert fused.explain([1])[0].tolist() == [1 / 61, 0]


def test_the_convex_combination_by_hand() -> None:
    """z of [1, 3] is [-1, 1]; weights .25 and .75 (given as 1 and 3) make -.25+.75 and .25-.75."""
    fused = Convex({"a": 1, "b": 3}).fuse(table({"a": [1, 3], "b": [9, 5]}))
    assert fused.scores.tolist() == pytest.approx([0.5, -0.5])
    assert fused.explain([0, 1]).tolist() == [[-0.25, 0.75], [0.25, -0.75]]


def test_contributions_add_up_to_the_score() -> None:
    fused = load("bge-small").fuse(table({"vector": [0.1, 0.5, 0.3], "walk": [1e-3, 0, 1e-6]}))
    assert fused.explain(range(len(fused.scores))).sum(axis=1) == pytest.approx(fused.scores)


def test_retrievers_that_were_not_asked_leave_their_weight_to_the_others() -> None:
    alone = Convex({"a": 0.2, "b": 0.8}).fuse(table({"a": [1, 3]}))
    assert alone.scores.tolist() == [-1, 1]


def test_views_without_weight_still_rank_when_they_are_all_there_is() -> None:
    assert Convex({"a": 1}).fuse(table({"b": [1, 3]})).scores.tolist() == [-1, 1]


def test_zero_mass_counts_as_half_the_smallest() -> None:
    assert np.exp(logarithm(np.array([0.0, 0.2, 0.4]))).tolist() == pytest.approx([0.1, 0.2, 0.4])
    assert logarithm(np.zeros(2)).tolist() == [0, 0]


@pytest.mark.parametrize("weights", [{"a": -1.0}, {"a": float("nan")}, {"a": 0.0}, {}])
def test_weights_that_are_no_weights_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(FusionError):
        Convex(weights)


@pytest.mark.parametrize(
    "text", ["", "{}", '{"weights": []}', '{"weights": {"*": {"a": "x"}}, "logarithmic": []}']
)
def test_malformed_weight_files_are_named_as_such(text: str) -> None:
    with pytest.raises(FusionError, match="malformed"):
        parse(text, "minilm")


def test_every_named_fusion_can_be_made_and_others_are_refused() -> None:
    for name in WITHOUT_TRAINING:
        assert make_fusion(name, "bge-small").fuse(table({"vector": [0.1, 0.2]})).scores.shape == (2,)
    with pytest.raises(FusionError, match="expected one of default"):
        make_fusion("best", "bge-small")


def test_no_candidates_give_no_scores() -> None:
    empty = Table((), ("vector", "walk"), np.zeros((0, 2)), np.zeros((0, 2), dtype=np.int64), ())
    for name in WITHOUT_TRAINING:
        assert make_fusion(name, "bge-small").fuse(empty).scores.shape == (0,)
