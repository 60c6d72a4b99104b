"""Agreement of two judges beyond chance: Cohen's kappa (Cohen, 1960), and its weighted form (Cohen, 1968)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from trivium.common.arrays import Floats, Integers

GOOD = 0.75
"""Values from here on (a grade of 4 or 5) count as good; for measures where lower is better, values up to 1 minus
this.
"""
_GRADES = 5


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of two judges on one measure, over the ``answers`` that both judged. ``kappa`` is for "good or not"
    (see :data:`GOOD`), ``weighted`` for five grades with quadratic weights: 1 is perfect, 0 is chance level; NaN if
    both give everything the same grade. ``same`` is the share of answers on which both agree that they are good or
    not.
    """

    measure: str
    first: str
    second: str
    answers: int
    same: float
    kappa: float
    weighted: float


def agreements(values: Mapping[str, Mapping[str, Floats]]) -> list[Agreement]:
    """Compare every pair of judges on every measure that both judge. ``values`` are judge -> measure -> (answers,),
    NaN without a judgement.
    """
    judges = list(values)
    return [
        _agreement(measure, first, second, values[first][measure], values[second][measure])
        for place, first in enumerate(judges)
        for second in judges[place + 1 :]
        for measure in values[first]
        if measure in values[second]
    ]


def _agreement(measure: str, first: str, second: str, one: Floats, other: Floats) -> Agreement:
    both = ~(np.isnan(one) | np.isnan(other))
    good, also = one[both] >= GOOD, other[both] >= GOOD
    if measure == "hallucination":
        good, also = one[both] <= 1 - GOOD, other[both] <= 1 - GOOD
    step, also_step = (np.rint(v[both] * (_GRADES - 1)).astype(np.int64) for v in (one, other))
    count = int(both.sum())
    return Agreement(
        measure,
        first,
        second,
        count,
        float((good == also).mean()) if count else math.nan,
        kappa(good.astype(np.int64), also.astype(np.int64), 2),
        kappa(step, also_step, _GRADES, weighted=True),
    )


def kappa(first: Integers, second: Integers, categories: int, *, weighted: bool = False) -> float:
    """Return Cohen's kappa of two raters' categories (items,), from 0 to ``categories`` - 1: 1 minus the observed
    disagreement divided by that expected by chance. With ``weighted``, a disagreement counts by the square of its
    size. NaN for no items, and if no disagreement is expected.

    >>> round(kappa(np.array([1, 1, 0, 0]), np.array([1, 0, 0, 0]), 2), 3)
    0.5
    """
    if not len(first):
        return math.nan
    seen = np.zeros((categories, categories))
    np.add.at(seen, (first, second), 1.0)
    by_chance = np.outer(seen.sum(axis=1), seen.sum(axis=0)) / len(first)
    rank = np.arange(categories)
    apart = (rank[:, None] - rank[None, :]) ** 2 if weighted else rank[:, None] != rank[None, :]
    expected = float((apart * by_chance).sum())
    return math.nan if expected == 0 else 1.0 - float((apart * seen).sum()) / expected
