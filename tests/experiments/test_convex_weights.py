"""Fitted weights find the views that matter."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.convex.weights import Example, fit_weights
from trivium.errors import FusionError


def questions(signal: tuple[float, ...], seed: int = 0) -> list[Example]:
    """60 questions of 20 candidates; view j raises the gold one by ``signal[j]`` deviations."""
    random = np.random.default_rng(seed)
    made = []
    for _ in range(60):
        features = random.normal(size=(20, len(signal)))
        features[0] += signal
        made.append(Example(features, np.arange(20) == 0))
    return made


def test_a_stronger_view_gets_more_weight_and_an_empty_one_almost_none() -> None:
    strong, weak, nothing = fit_weights(questions((3.0, 1.0, 0.0)))
    assert strong > weak > nothing
    assert nothing < 0.1


def test_weights_are_a_convex_combination_and_a_misleading_view_gets_zero() -> None:
    weights = fit_weights(questions((2.0, -2.0)))
    assert weights.tolist() == [1.0, 0.0]


def test_the_fit_agrees_with_a_search_over_all_mixtures() -> None:
    """On two views an exhaustive search of the same loss's best mixture lands in the same place."""
    examples = questions((2.0, 1.0))
    found = fit_weights(examples, ridge=0.0)

    def best_loss(share: float) -> float:
        def loss(scale: float) -> float:
            total = 0.0
            for example in examples:
                logits = scale * example.features @ np.array([share, 1 - share])
                total += np.log(np.exp(logits - logits[0]).sum())
            return total

        return min(loss(scale) for scale in np.linspace(0.5, 8, 40))

    shares = np.linspace(0, 1, 101)
    assert found[0] == pytest.approx(shares[np.argmin([best_loss(s) for s in shares])], abs=0.03)


def test_questions_without_a_choice_teach_nothing_and_alone_are_refused() -> None:
    useless = Example(np.ones((3, 2)), np.zeros(3, dtype=bool))
    with_useless = fit_weights([*questions((2.0, 1.0)), useless])
    assert with_useless == pytest.approx(fit_weights(questions((2.0, 1.0))))
    with pytest.raises(FusionError, match="no question"):
        fit_weights([useless])
