"""Which negatives the networks of the thesis's fuser learn from: random ones, and those that a first network likes."""

from __future__ import annotations

import numpy as np
from fuser_settings import ThesisSettings
from numpy.typing import NDArray

from trivium.common.arrays import Floats


def sample_negatives(
    gold: NDArray[np.bool_], settings: ThesisSettings, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Positions, ascending, of all gold candidates and of a random sample of the others, by the settings."""
    return (
        balanced(gold, generator)
        if settings.sampling == "balanced"
        else sampled(gold, settings.share, generator)
    )


def balanced(gold: NDArray[np.bool_], generator: np.random.Generator) -> NDArray[np.int64]:
    """Positions, ascending, of all gold candidates and as many random others (all, where there are fewer)."""
    others = np.flatnonzero(~gold)
    return _with_gold(gold, generator.permutation(others)[: int(gold.sum())])


def sampled(gold: NDArray[np.bool_], share: float, generator: np.random.Generator) -> NDArray[np.int64]:
    """Positions, ascending, of all gold candidates and a random share of the others (at least one)."""
    others = np.flatnonzero(~gold)
    return _with_gold(gold, generator.permutation(others)[: _count(others, share)])


def hardest(gold: NDArray[np.bool_], scores: Floats, share: float) -> NDArray[np.int64]:
    """Positions, ascending, of all gold candidates and the share of the others with the highest scores (ties: the
    first)."""
    others = np.flatnonzero(~gold)
    return _with_gold(gold, others[np.argsort(-scores[others], kind="stable")][: _count(others, share)])


def hardest_of_each(
    gold: NDArray[np.bool_], scores: Floats, question: NDArray[np.int64], share: float
) -> NDArray[np.int64]:
    """Positions, ascending, of all gold candidates and of each question's share of the others with the highest scores (at
    least one of each; ties: the first)."""
    others = np.flatnonzero(~gold)
    order = others[np.lexsort((-scores[others], question[others]))]
    _, starts, sizes = np.unique(question[order], return_index=True, return_counts=True)
    kept = [
        order[start : start + max(1, round(share * size))]
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)
    ]
    return _with_gold(gold, np.concatenate([others[:0], *kept]))


def _with_gold(gold: NDArray[np.bool_], others: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.sort(np.concatenate([np.flatnonzero(gold), others]))


def _count(others: NDArray[np.int64], share: float) -> int:
    return max(1, round(share * len(others)))
