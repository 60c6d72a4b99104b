"""Platt scaling: turn a network's scores into log-odds whose sigmoid is the probability that a candidate is gold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from trivium.common.arrays import Floats
from trivium.fusion.network import Network
from trivium.training.data import Example

BINS = 10
_MIN_SLOPE = 1e-3


@dataclass(frozen=True, slots=True)
class PlattScaling:
    """``slope * score + intercept`` (Platt scaling). The slope is positive, so rankings do not change."""

    slope: float = 1.0
    intercept: float = 0.0

    def __call__(self, scores: Floats) -> Floats:
        return self.slope * scores + self.intercept


@dataclass(frozen=True, slots=True)
class Bin:
    """Candidates of similar predicted probability: the mean ``predicted`` probability, the ``observed`` share of
    gold, and their ``weight``, the share of all candidates; all in [0, 1]."""

    predicted: float
    observed: float
    weight: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """The result of :func:`calibrate`.

    ``scaling`` is fitted to all questions. ``before`` and ``after`` are the expected calibration error, in [0, 1],
    without scaling and with one fitted to the other folds; ``bins`` are those of ``after``."""

    scaling: PlattScaling
    before: float
    after: float
    bins: tuple[Bin, ...]


def calibrate(logits: Sequence[Floats], examples: Sequence[Example], fold: NDArray[np.int64]) -> Calibration:
    """Fit and evaluate Platt scaling on out-of-fold scores.

    ``logits`` holds the scores (n,) of each question's candidates, ``fold`` (questions,) the fold each question was held
    out in. A question counts by its weight, spread evenly over its candidates."""
    sizes = [len(scores) for scores in logits]
    scores = np.concatenate(list(logits))
    gold = np.concatenate([example.gold for example in examples]).astype(np.float64)
    weights = np.repeat([example.weight / max(len(example.gold), 1) for example in examples], sizes)
    folds = np.repeat(fold, sizes)
    scalings = {
        k: fit_platt(scores[folds != k], gold[folds != k], weights[folds != k])
        for k in np.unique(fold).tolist()
    }
    slope = np.array([scalings[k].slope for k in folds.tolist()])
    intercept = np.array([scalings[k].intercept for k in folds.tolist()])
    after = probability_bins(expit(slope * scores + intercept), gold, weights)
    return Calibration(
        scaling=fit_platt(scores, gold, weights),
        before=expected_calibration_error(probability_bins(expit(scores), gold, weights)),
        after=expected_calibration_error(after),
        bins=after,
    )


def fit_platt(scores: Floats, gold: Floats, weights: Floats) -> PlattScaling:
    """The weighted logistic regression of ``gold`` (0 or 1) on ``scores``, all of shape (n,)."""
    weights = weights / weights.sum()

    def loss(parameters: Floats) -> tuple[float, Floats]:
        logits = parameters[0] * scores + parameters[1]
        value = weights @ (np.logaddexp(0, logits) - gold * logits)
        gradient = weights * (expit(logits) - gold)
        return float(value), np.array([gradient @ scores, gradient.sum()])

    optimum = minimize(
        loss, [1.0, 0.0], jac=True, method="L-BFGS-B", bounds=[(_MIN_SLOPE, None), (None, None)]
    )
    return PlattScaling(float(optimum.x[0]), float(optimum.x[1]))


def probability_bins(predicted: Floats, gold: Floats, weights: Floats) -> tuple[Bin, ...]:
    """Ten equally wide bins of predicted probability; empty bins are left out."""
    place = np.minimum((predicted * BINS).astype(np.int64), BINS - 1)
    total = np.bincount(place, weights, BINS)
    sums = np.bincount(place, weights * predicted, BINS), np.bincount(place, weights * gold, BINS)
    return tuple(
        Bin(float(sums[0][k] / total[k]), float(sums[1][k] / total[k]), float(total[k] / total.sum()))
        for k in np.flatnonzero(total).tolist()
    )


def expected_calibration_error(bins: Sequence[Bin]) -> float:
    """The expected calibration error: the weighted mean of |predicted - observed|, in [0, 1]."""
    return sum(bin.weight * abs(bin.predicted - bin.observed) for bin in bins)


def apply(scaling: PlattScaling, network: Network) -> Network:
    """The network with the scaling folded into its last layer."""
    weights, bias = network.layers[-1]
    last = (
        weights * np.float32(scaling.slope),
        bias * np.float32(scaling.slope) + np.float32(scaling.intercept),
    )
    return replace(network, layers=(*network.layers[:-1], last))
