"""Scores become log-odds, and no ranking moves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import check_grad, minimize
from scipy.special import expit

from tests.fusion.test_network import network
from trivium.training import calibrate as calibrating
from trivium.training.calibrate import (
    Scaling,
    apply,
    calibrate,
    expected_calibration_error,
    probability_bins,
)
from trivium.training.training_data import Example

World = tuple[list[NDArray[np.float64]], list[Example], NDArray[np.int64]]
TRUE = Scaling(2.0, -1.0, 0.4)


def _world(questions: int = 400, slope: float = 1.0) -> World:
    """Gold is drawn with the probability that a scaling says, after which ``slope`` stretches the scores."""
    generator = np.random.default_rng(0)
    scores = [generator.normal(0, 2, 20) for _ in range(questions)]
    examples = [
        Example(np.zeros((20, 1), np.float32), generator.random(20) < expit(TRUE(own)), 1.0) for own in scores
    ]
    return [slope * own for own in scores], examples, np.arange(questions) % 5


def test_the_scaling_by_hand() -> None:
    """A line, less a share of the logarithm of the sum of all exponentials."""
    scores = np.array([1.0, 0.0, -1.0])
    line = 2 * scores - 1
    assert Scaling(2, -1, 0.5)(scores) == pytest.approx(line - 0.5 * np.log(np.exp(line).sum()))
    assert Scaling(2, -1)(scores) == pytest.approx(line)


def test_what_the_gold_was_drawn_by_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no question is taken to be without an answer; errors out of fold are near nothing, and were not before."""
    monkeypatch.setattr(calibrating, "UNANSWERED", 0.0)
    found = calibrate(*_world(2000))
    assert found.scaling.slope == pytest.approx(TRUE.slope, abs=0.15)
    assert found.scaling.intercept == pytest.approx(TRUE.intercept, abs=0.25)
    assert found.scaling.competition == pytest.approx(TRUE.competition, abs=0.07)
    assert found.before > 0.05
    assert found.after < 0.02
    assert sum(bin.weight for bin in found.bins) == pytest.approx(1)


def test_the_minimum_is_where_the_gradient_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is handed to the search for it is the gradient of what is handed to it, at some places."""
    losses = []

    def watch(loss: object, start: object, **options: object) -> object:
        losses.append(loss)
        return real(loss, start, **options)

    real = minimize
    monkeypatch.setattr("scipy.optimize.minimize", watch)
    calibrate(*_world(20))
    for place in ([1.0, 0.0, 0.0], [0.5, -2.0, 0.3], [2.0, 1.0, 0.8]):
        assert check_grad(lambda x: losses[0](x)[0], lambda x: losses[0](x)[1], np.array(place)) < 1e-6


def test_who_asks_what_is_not_there_is_told_less() -> None:
    """The best of wrong candidates is less likely right for a fit that has seen questions without an answer."""
    scores, examples, fold = _world()
    usual = calibrate(scores, examples, fold).scaling
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(calibrating, "UNANSWERED", 0.0)
        trusting = calibrate(scores, examples, fold).scaling
    wrong = np.array([0.5, 0.2, 0.1, -1.0])
    assert usual(wrong).max() < trusting(wrong).max()


def test_one_that_stands_alone_is_more_likely_than_one_of_many() -> None:
    """At the same score."""
    found = calibrate(*_world()).scaling
    alone, many = np.array([1.0, -3.0, -3.0]), np.array([1.0, 1.0, 0.9])
    assert found(alone)[0] > found(many)[0]
    assert (np.diff(found(many)) <= 0).all()


def test_scores_that_say_the_opposite_do_not_turn_the_ranking_round() -> None:
    """The slope stays above zero."""
    found = calibrate(*_world(50, slope=-1.0))
    assert found.scaling.slope > 0


def test_a_question_counts_by_its_weight() -> None:
    """Doubling a question is weighing it twice; one without candidates says nothing."""
    scores, examples, _ = _world(30)
    fold = np.arange(30) % 2
    weighed = calibrate(scores, [replace(examples[0], weight=2.0), *examples[1:]], fold).scaling
    twice = calibrate([*scores, scores[0]], [*examples, examples[0]], np.append(fold, 0)).scaling
    assert twice.slope == pytest.approx(weighed.slope, rel=1e-2)
    assert twice.competition == pytest.approx(weighed.competition, abs=1e-2)
    empty = Example(np.zeros((0, 1), np.float32), np.zeros(0, bool), 1.0)
    more = calibrate([*scores, np.zeros(0)], [*examples, empty], np.append(fold, 0)).scaling
    assert more == calibrate(scores, examples, fold).scaling


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
        apply(Scaling(0.5, -3.0, 0.5), own).logits(rows), 0.5 * own.logits(rows) - 3, rtol=1e-5, atol=1e-5
    )
