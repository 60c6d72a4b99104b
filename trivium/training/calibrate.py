"""Turn a network's scores into log-odds, so that their sigmoid is the probability that a candidate is gold."""

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
_LEAST_SLOPE = 1e-3


@dataclass(frozen=True, slots=True)
class Line:
    """``slope * score + intercept`` (Platt's scaling); the slope is positive, so that no ranking moves."""

    slope: float = 1.0
    intercept: float = 0.0

    def __call__(self, scores: Floats) -> Floats:
        return self.slope * scores + self.intercept


@dataclass(frozen=True, slots=True)
class Bin:
    """Candidates of about one probability: the mean that was ``told``, the share that ``is`` gold, their ``weight``."""

    told: float
    true: float
    weight: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """``line`` of all questions; how far probabilities are off without it (``before``) and with a line of the other folds
    (``after``): the expected calibration error, in [0, 1]. ``bins`` are those after."""

    line: Line
    before: float
    after: float
    bins: tuple[Bin, ...]


def calibrate(logits: Sequence[Floats], examples: Sequence[Example], fold: NDArray[np.int64]) -> Calibration:
    """From scores out of fold. A question counts by its weight, spread over its candidates."""
    sizes = [len(own) for own in logits]
    scores = np.concatenate(list(logits))
    gold = np.concatenate([example.gold for example in examples]).astype(np.float64)
    weights = np.repeat([example.weight / max(len(example.gold), 1) for example in examples], sizes)
    part = np.repeat(fold, sizes)
    lines = {
        k: fit_line(scores[part != k], gold[part != k], weights[part != k]) for k in np.unique(fold).tolist()
    }
    slope = np.array([lines[k].slope for k in part.tolist()])
    intercept = np.array([lines[k].intercept for k in part.tolist()])
    after = bins_of(expit(slope * scores + intercept), gold, weights)
    return Calibration(
        line=fit_line(scores, gold, weights),
        before=expected_error(bins_of(expit(scores), gold, weights)),
        after=expected_error(after),
        bins=after,
    )


def fit_line(scores: Floats, gold: Floats, weights: Floats) -> Line:
    """The logistic regression of gold (0 or 1) on scores, all (n,)."""
    weights = weights / weights.sum()

    def loss(line: Floats) -> tuple[float, Floats]:
        logits = line[0] * scores + line[1]
        value = weights @ (np.logaddexp(0, logits) - gold * logits)
        slope = weights * (expit(logits) - gold)
        return float(value), np.array([slope @ scores, slope.sum()])

    found = minimize(
        loss, [1.0, 0.0], jac=True, method="L-BFGS-B", bounds=[(_LEAST_SLOPE, None), (None, None)]
    )
    return Line(float(found.x[0]), float(found.x[1]))


def bins_of(told: Floats, gold: Floats, weights: Floats) -> tuple[Bin, ...]:
    """Ten bins of probability, those with something in them."""
    place = np.minimum((told * BINS).astype(np.int64), BINS - 1)
    total = np.bincount(place, weights, BINS)
    sums = np.bincount(place, weights * told, BINS), np.bincount(place, weights * gold, BINS)
    return tuple(
        Bin(float(sums[0][k] / total[k]), float(sums[1][k] / total[k]), float(total[k] / total.sum()))
        for k in np.flatnonzero(total).tolist()
    )


def expected_error(bins: Sequence[Bin]) -> float:
    """The mean distance of what was told from what is true."""
    return sum(bin.weight * abs(bin.told - bin.true) for bin in bins)


def apply(line: Line, network: Network) -> Network:
    """The network whose scores are on the line."""
    weights, bias = network.layers[-1]
    last = (weights * np.float32(line.slope), bias * np.float32(line.slope) + np.float32(line.intercept))
    return replace(network, layers=(*network.layers[:-1], last))
