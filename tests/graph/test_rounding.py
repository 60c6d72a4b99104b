"""Scores rounded all at once are those rounded one by one."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trivium.graph.records import round_score, round_scores

_NEAR = st.builds(
    lambda whole, power, off: (whole + 0.5) * 10.0**power + off * 1e-12,
    st.integers(-1_000_000, 1_000_000),
    st.integers(-9, 3),
    st.integers(-3, 3),
)
"""Numbers near the middle of two that have six digits."""


@given(st.lists(st.one_of(st.floats(allow_nan=False), st.floats(-1, 1), _NEAR)))
def test_rounding_together_is_rounding_one_by_one(scores: list[float]) -> None:
    rounded = round_scores(np.array(scores, dtype=np.float64)).tolist()
    assert rounded == [round_score(score) for score in scores]


def test_what_is_no_number_stays_none() -> None:
    assert math.isnan(round_scores(np.array([np.nan]))[0])
