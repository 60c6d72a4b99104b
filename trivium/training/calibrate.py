"""Turns a network's scores into log-odds whose sigmoid is the probability that a candidate is gold.

Platt scaling, a line fitted by logistic regression, is not enough: a given score is more often gold if the other
candidates of the question score much lower than if many score as high. Therefore a share of the log-sum-exp over all
candidates is subtracted (:class:`Scaling`). Within a question this shifts all scores equally, so rankings do not
change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats
from trivium.fusion.network import Network, weight_together
from trivium.training.training_data import Example

BINS = 10
UNANSWERED = 0.2
"""The weight of copies of the questions without their gold, relative to the original questions. In training every
question has an answer, but users also ask what a collection does not contain. A fit that has never seen such
questions would assign a high probability to the best of wrong candidates.
"""
_MIN_SLOPE = 1e-3
_MAX_COMPETITION = 0.9


@dataclass(frozen=True, slots=True)
class Scaling:
    """Maps a score s to ``z = slope * s + intercept``, minus ``competition`` times the log-sum-exp of z over all
    candidates of the question. The slope is positive, so rankings do not change; the competition is in [0, 0.9].
    """

    slope: float = 1.0
    intercept: float = 0.0
    competition: float = 0.0

    def __call__(self, scores: Floats) -> Floats:
        """Return the log-odds (n,) of the candidates of one question."""
        line = self.slope * scores + self.intercept
        return line - self.competition * weight_together(line) if self.competition else line


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

    scaling: Scaling
    before: float
    after: float
    bins: tuple[Bin, ...]


def calibrate(logits: Sequence[Floats], examples: Sequence[Example], fold: NDArray[np.int64]) -> Calibration:
    """Fit and evaluate the scaling on out-of-fold scores.

    ``logits`` holds the scores (n,) of each question's candidates, ``fold`` (questions,) the fold each question was held
    out in. A question counts by its weight, spread evenly over its candidates."""
    questions = [
        _Question(scores, example.gold, example.weight)
        for scores, example in zip(logits, examples, strict=True)
        if len(scores)
    ]
    folds = fold[[len(scores) > 0 for scores in logits]].tolist()
    scalings = {
        held_out: fit([own for own, k in zip(questions, folds, strict=True) if k != held_out])
        for held_out in sorted(set(folds))
    }
    gold = np.concatenate([question.gold for question in questions]).astype(np.float64)
    weights = np.concatenate([question.weights for question in questions])
    before = np.concatenate([question.scores for question in questions])
    after = np.concatenate([scalings[k](own.scores) for own, k in zip(questions, folds, strict=True)])
    bins = probability_bins(_sigmoid(after), gold, weights)
    return Calibration(
        scaling=fit(questions),
        before=expected_calibration_error(probability_bins(_sigmoid(before), gold, weights)),
        after=expected_calibration_error(bins),
        bins=bins,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Question:
    """Scores (n,) of the candidates of a question, which of them are gold (n,), and the weight of the question."""

    scores: Floats
    gold: NDArray[np.bool_]
    weight: float

    @property
    def weights(self) -> Floats:
        """Weight of each candidate (n,)."""
        return np.full(len(self.scores), self.weight / len(self.scores))

    def without_gold(self) -> _Question:
        """Return the same question without its gold candidates."""
        others = ~self.gold
        return _Question(self.scores[others], self.gold[others], UNANSWERED * self.weight)


def fit(questions: Sequence[_Question]) -> Scaling:
    """Fit the scaling by weighted maximum likelihood on the questions and on copies of them without gold."""
    unanswered = [question.without_gold() for question in questions if not question.gold.all()]
    asked = [*questions, *unanswered]
    scores = np.concatenate([question.scores for question in asked])
    gold = np.concatenate([question.gold for question in asked]).astype(np.float64)
    weights = np.concatenate([question.weights for question in asked])
    weights /= weights.sum()
    sizes = np.array([len(question.scores) for question in asked])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])

    def loss(parameters: Floats) -> tuple[float, Floats]:
        slope, intercept, competition = parameters
        line = slope * scores
        highest = np.maximum.reduceat(line, starts)
        powers = np.exp(line - np.repeat(highest, sizes))
        sums = np.add.reduceat(powers, starts)
        together = intercept + highest + np.log(sums)  # log-sum-exp of each question
        logits = line + intercept - competition * np.repeat(together, sizes)
        value = weights @ (np.logaddexp(0, logits) - gold * logits)
        pull = weights * (_sigmoid(logits) - gold)
        pulls = np.add.reduceat(pull, starts)
        mean_scores = np.add.reduceat(powers * scores, starts) / sums
        gradient = (
            pull @ scores - competition * (pulls @ mean_scores),
            (1 - competition) * pull.sum(),
            -(pulls @ together),
        )
        return float(value), np.array(gradient)

    from scipy.optimize import minimize  # of the extra `train`

    bounds = [(_MIN_SLOPE, None), (None, None), (0.0, _MAX_COMPETITION)]
    optimum = minimize(loss, [1.0, 0.0, 0.0], jac=True, method="L-BFGS-B", bounds=bounds)
    slope, intercept, competition = (float(value) for value in optimum.x)
    return Scaling(slope, intercept, competition)


def _sigmoid(logits: Floats) -> Floats:
    values: Floats = np.exp(-np.logaddexp(0, -logits))
    return values


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


def apply(scaling: Scaling, network: Network) -> Network:
    """Return the network with the slope and intercept folded into its last layer. The competition is applied by the
    fusion.
    """
    weights, bias = network.layers[-1]
    last = (
        weights * np.float32(scaling.slope),
        bias * np.float32(scaling.slope) + np.float32(scaling.intercept),
    )
    return replace(network, layers=(*network.layers[:-1], last))
