"""Fits the weights of the convex combination on questions with known gold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats
from trivium.errors import FusionError


@dataclass(frozen=True, slots=True)
class Example:
    """The candidates of one question: standardised ``features`` (n, m), which of them are ``gold`` (n,), and the
    question's ``weight``.
    """

    features: Floats
    gold: NDArray[np.bool_]
    weight: float = 1.0


def fit_weights(examples: Sequence[Example], *, ridge: float = 1e-3) -> Floats:
    """Return non-negative weights (m,) that sum to 1 and rank gold candidates first.

    Minimises the softmax cross-entropy of the gold among each question's candidates (the list-wise loss of ListNet),
    with an L2 penalty of ``ridge``. It is smooth and convex, so the optimum does not depend on the starting point,
    whereas hit@k is a step function. The scale of the solution is irrelevant for ranking and dropped. Questions
    without gold among their candidates are ignored. Raises FusionError when none is left.
    """
    from scipy.optimize import minimize

    usable = [example for example in examples if example.gold.any() and not example.gold.all()]
    if not usable:
        raise FusionError("cannot fit weights: no question has both a gold candidate and another")
    stacked = np.concatenate([example.features for example in usable])
    gold = np.concatenate([example.gold for example in usable]).astype(float)
    sizes = np.array([len(example.gold) for example in usable])
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    importance = np.array([example.weight for example in usable])
    importance = importance / importance.sum()
    share = gold / np.repeat(np.add.reduceat(gold, starts), sizes)
    row_importance = np.repeat(importance, sizes)

    def loss(weights: Floats) -> tuple[float, Floats]:
        logits = stacked @ weights
        logits -= np.repeat(np.maximum.reduceat(logits, starts), sizes)
        exponentials = np.exp(logits)
        totals = np.add.reduceat(exponentials, starts)
        probabilities = exponentials / np.repeat(totals, sizes)
        log_probabilities = logits - np.repeat(np.log(totals), sizes)
        value = -np.sum(row_importance * share * log_probabilities) + ridge * weights @ weights
        slope = stacked.T @ (row_importance * (probabilities - share)) + 2 * ridge * weights
        return float(value), slope

    columns = stacked.shape[1]
    found = minimize(
        loss, np.full(columns, 0.5), jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * columns
    ).x
    total = found.sum()
    return np.asarray(found / total if total > 0 else np.full(columns, 1 / columns))
