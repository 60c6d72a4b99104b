"""The loops of :mod:`trivium.fusion.standardise`. Loads numba, see :mod:`trivium.common.compiled`."""

from __future__ import annotations

import numpy as np

from trivium.common.arrays import Floats
from trivium.common.compiled import compiled


@compiled
def fill_gaps(scores: Floats, below: float) -> None:
    """Fill NaN in each column of ``scores`` (n, m) with its lowest number minus ``below`` times its range, or with 0
    if the column has no number.
    """
    rows, columns = scores.shape
    low, high = np.full(columns, np.inf), np.full(columns, -np.inf)
    for row in range(rows):
        for column in range(columns):
            score = scores[row, column]
            if score < low[column]:
                low[column] = score
            if score > high[column]:
                high[column] = score
    for column in range(columns):
        known = np.isfinite(low[column])
        low[column] = low[column] - below * (high[column] - low[column]) if known else 0.0
    for row in range(rows):
        for column in range(columns):
            if np.isnan(scores[row, column]):
                scores[row, column] = low[column]


@compiled
def scale_columns(scores: Floats, constant: float, out: Floats) -> None:
    """Fill ``out`` (n, m) with the columns of ``scores`` scaled to mean 0 and deviation 1. Columns whose deviation is
    not above ``constant`` times their mean (or times 1, if that is larger) become 0.
    """
    rows, columns = scores.shape
    mean, deviation = np.zeros(columns), np.zeros(columns)
    for row in range(rows):
        for column in range(columns):
            mean[column] += scores[row, column]
    mean /= rows
    for row in range(rows):
        for column in range(columns):
            off = scores[row, column] - mean[column]
            deviation[column] += off * off
    deviation = np.sqrt(deviation / rows)
    for column in range(columns):
        if deviation[column] <= constant * max(1.0, abs(mean[column])):
            deviation[column] = 0.0
    for row in range(rows):
        for column in range(columns):
            spread = deviation[column]
            out[row, column] = (scores[row, column] - mean[column]) / spread if spread > 0 else 0.0
