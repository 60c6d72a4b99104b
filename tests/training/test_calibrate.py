"""Scores become log-odds, and no ranking moves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from tests.fusion.test_network import network
from trivium.training.calibrate import (
    PlattScaling,
    apply,
    calibrate,
    expected_calibration_error,
    fit_platt,
    probability_bins,
)
from trivium.training.data import Example


def _world(questions: int = 400) -> tuple[list[np.ndarray], list[Example], np.ndarray]:
    """Gold is drawn with the probability sigmoid(2 s - 1) of a score s."""
    generator = np.random.default_rng(0)
    scores = [generator.normal(0, 2, 20) for _ in range(questions)]
    examples = [
        Example(np.zeros((20, 1), np.float32), generator.random(20) < expit(2 * own - 1), 1.0)
        for own in scores
    ]
    return scores, examples, np.arange(questions) % 5


def test_the_line_is_found() -> None:
    """The one the gold was drawn by; errors out of fold are near nothing, and were not before."""
    found = calibrate(*_world())
    assert found.scaling.slope == pytest.approx(2, abs=0.15)
    assert found.scaling.intercept == pytest.approx(-1, abs=0.1)
    assert found.before > 0.05
    assert found.after < 0.02
    assert sum(bin.weight for bin in found.bins) == pytest.approx(1)


def test_scores_that_say_the_opposite_do_not_turn_the_ranking_round() -> None:
    """The slope stays above zero."""
    scores, examples, fold = _world(50)
    found = calibrate([-own for own in scores], examples, fold)
    assert found.scaling.slope > 0


def test_a_question_counts_by_its_weight() -> None:
    """Doubling a question is weighing it twice."""
    scores, gold = np.array([0.0, 1.0, 2.0, 0.5]), np.array([0.0, 1.0, 1.0, 1.0])
    twice = fit_platt(np.append(scores, 0.0), np.append(gold, 0.0), np.ones(5))
    weighed = fit_platt(scores, gold, np.array([2.0, 1.0, 1.0, 1.0]))
    assert (twice.slope, twice.intercept) == pytest.approx((weighed.slope, weighed.intercept), rel=1e-3)


def test_the_expected_error_by_hand() -> None:
    """Told .2 and .9, half each; a quarter and all are gold."""
    told = np.array([0.2, 0.2, 0.2, 0.2, 0.9, 0.9, 0.9, 0.9])
    gold = np.array([1, 0, 0, 0, 1, 1, 1, 1.0])
    bins = probability_bins(told, gold, np.ones(8))
    assert [(bin.predicted, bin.observed, bin.weight) for bin in bins] == [
        (pytest.approx(0.2), 0.25, 0.5),
        (pytest.approx(0.9), 1.0, 0.5),
    ]
    assert expected_calibration_error(bins) == pytest.approx((0.05 + 0.1) / 2)
    assert probability_bins(np.array([1.0]), np.ones(1), np.ones(1))[0].predicted == 1


def test_the_line_is_folded_into_the_last_layer() -> None:
    """Of every member."""
    own = network(4)
    rows = np.random.default_rng(0).normal(size=(9, 4))
    np.testing.assert_allclose(
        apply(PlattScaling(0.5, -3.0), own).logits(rows), 0.5 * own.logits(rows) - 3, rtol=1e-5, atol=1e-5
    )
