"""Adapts a trained network to other documents with few questions.

A network has far more weights than fifty questions can fit. An adaptation adds to its score a weighted sum of the views,
each standardised over the candidates of the question, and changes how much the score itself counts:

    adapted = factor * score + sum over the views of  weight * standardised view

The weights and the factor (p of them) are the minimum of a convex loss, so the same questions give the same ranking.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats
from trivium.errors import InputError, MissingExtraError
from trivium.fusion.artefact import Artefact
from trivium.fusion.features import Layout
from trivium.fusion.network import Network
from trivium.fusion.registry import shipped
from trivium.training.crossfit import Crossfit, by_others
from trivium.training.fit import Added, corrected
from trivium.training.settings import MOST
from trivium.training.training_data import Collection, Example

PENALTY = 20.0
"""How strongly weights are held near 0 and the factor near 1: by this times their squares, against a loss summed over
the questions. Chosen on questions of several kinds; half and twice as much differ little (experiments/fusion).
"""


def base_of(collection: Collection, wanted: bool | None) -> Artefact | None:
    """Return the network that ships for the stores of a collection if it is to be adapted: if that is ``wanted``, and if
    None, with fewer than :data:`~trivium.training.settings.MOST` questions. None if a new one is to be trained. Raises
    InputError if it is wanted and none fits."""
    if wanted is False or (wanted is None and len(collection.hits) >= MOST):
        return None
    base = shipped(collection.embedder, collection.names)
    if base is not None and base.inputs == collection.inputs and _covers(collection.layout, base.layout):
        return base
    if wanted:
        raise InputError(
            f"there is no network to adapt for {collection.embedder} with these settings of retrievers: train a new one"
            " (--no-adapt)"
        )
    return None


def _covers(found: Layout, wanted: Layout) -> bool:
    return (
        found.retrievers == wanted.retrievers
        and set(wanted.signals) <= set(found.signals)
        and set(wanted.question) <= set(found.question)
    )


def crossfit_adapted(
    base: Artefact, examples: Sequence[Example], pages: Sequence[Sequence[str]], folds: int
) -> Crossfit:
    """Adapt ``base`` for each of some folds of pages, with the questions that share no page with the fold's. The rows of
    the ``examples`` are those of its layout."""
    scores = [base.network.logits(example.rows.astype(np.float64)) for example in examples]

    def fit(rest: Sequence[int]) -> Network:
        return adapted(base, [examples[place] for place in rest], [scores[place] for place in rest])

    return by_others(examples, pages, folds, fit)


def adapted(base: Artefact, examples: Sequence[Example], scores: Sequence[Floats] | None = None) -> Network:
    """Return the network of ``base`` adapted to questions. ``scores`` are those (n,) that it gives their candidates."""
    network, views = base.network, len(base.layout.views)
    if scores is None:
        scores = [network.logits(example.rows.astype(np.float64)) for example in examples]
    useful = [
        (example, own)
        for example, own in zip(examples, scores, strict=True)
        if example.gold.any() and not example.gold.all()
    ]
    if not useful:
        return network
    columns = [network.scaled(example.rows.astype(np.float64))[:, :views] for example, _ in useful]
    rows = np.column_stack([np.concatenate([own for _, own in useful]), np.concatenate(columns)])
    weights = _fitted(
        rows,
        np.concatenate([example.gold for example, _ in useful]),
        [len(example.gold) for example, _ in useful],
        np.array([example.weight for example, _ in useful]),
    )
    return corrected(network, float(weights[0]), Added(weights[1:].tolist()))


def _fitted(rows: Floats, gold: NDArray[np.bool_], sizes: Sequence[int], importance: Floats) -> Floats:
    """Return the weights (p,) of the columns of ``rows`` (n, p) with the smallest loss: for each gold candidate the
    softplus of how far it is below the log-sum-exp of the candidates that are not, averaged over the gold of a question;
    plus the penalty. The rows of a question follow each other, ``sizes`` says how many.
    """
    ends = np.cumsum(sizes)
    starts = ends - np.array(sizes)
    question = np.repeat(np.arange(len(sizes)), sizes)
    share = importance / importance.mean() / np.add.reduceat(gold, starts)
    start = np.zeros(rows.shape[1])
    start[0] = 1.0

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = rows @ weights
        highest = np.maximum.reduceat(np.where(gold, -np.inf, scores), starts)
        powers = np.where(gold, 0.0, np.exp(np.minimum(scores - highest[question], 0.0)))
        sums = np.add.reduceat(powers, starts)
        behind = np.where(gold, (highest + np.log(sums))[question] - scores, 0.0)
        counts = np.where(gold, share[question], 0.0)
        pull = counts / (1 + np.exp(-behind))
        pulls = np.add.reduceat(pull, starts)
        gradient = rows.T @ (pulls[question] * powers / sums[question] - pull)
        away = weights - start
        total = counts @ np.logaddexp(0, behind) + PENALTY * (away @ away)
        return float(total), gradient + 2 * PENALTY * away

    try:
        from scipy.optimize import minimize
    except ImportError as error:
        raise MissingExtraError("training a fusion", "train") from error

    optimum = minimize(loss, start, jac=True, method="L-BFGS-B")
    found: Floats = optimum.x
    return found
