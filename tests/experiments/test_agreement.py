"""Cohen's kappa against scikit-learn, and where it has nothing to say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.answers.agreement import agreements, kappa

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40)


@settings(deadline=None)  # scikit-learn is imported by the first
@given(pairs=PAIRS, weighted=st.booleans())
def test_kappa_is_that_of_scikit_learn(pairs: list[tuple[int, int]], weighted: bool) -> None:
    """Plain and with quadratic weights, over all five categories."""
    from sklearn.metrics import cohen_kappa_score  # two seconds, which not every process of a run should pay

    first, second = np.array(pairs, dtype=np.int64).T
    ours = kappa(first, second, 5, weighted=weighted)
    if len({*first, *second}) == 1:
        assert math.isnan(ours)
        return
    weights = "quadratic" if weighted else None
    assert ours == pytest.approx(cohen_kappa_score(first, second, labels=range(5), weights=weights))


def test_agreement_is_over_the_answers_that_both_judged() -> None:
    """Good is from .75 on, and of hallucination up to .25; nothing judged by both agrees about nothing."""
    one = {"correctness": np.array([1.0, 0.75, 0.5, 0.0, math.nan]), "hallucination": np.array([0.0, 0.25])}
    other = {"correctness": np.array([0.75, 0.5, 0.5, 0.25, 1.0]), "hallucination": np.array([1.0, 0.25])}
    correctness, hallucination = agreements({"a": one, "b": other, "c": {}})
    assert (correctness.first, correctness.second, correctness.answers) == ("a", "b", 4)
    assert correctness.same == 0.75 and correctness.kappa == pytest.approx(0.5)
    assert (hallucination.answers, hallucination.same, hallucination.kappa) == (2, 0.5, 0.0)
    nothing = {"correctness": np.full(2, math.nan)}
    (silent,) = agreements({"a": nothing, "b": nothing})
    assert silent.answers == 0 and math.isnan(silent.kappa) and math.isnan(silent.same)
