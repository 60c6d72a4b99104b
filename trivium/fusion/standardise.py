"""Per-question standardisation of a table of scores."""

from __future__ import annotations

import numpy as np

from trivium.common.arrays import Floats

BELOW_LOWEST = 0.05
"""A missing score is imputed this share of the column's range below its lowest score."""


def impute(scores: Floats) -> Floats:
    """Fill the gaps (NaN) of each column just below the lowest score seen in it.

    A candidate that a view says nothing of is so ranked behind all it does speak of, but not far behind:
    the thesis imputes a constant just below the lowest score it ever saw. Columns of nothing become zero.

    >>> impute(np.array([[0.8], [np.nan], [0.6]])).ravel().round(3).tolist()
    [0.8, 0.59, 0.6]
    """
    missing = np.isnan(scores)
    if not missing.any():
        return scores
    filled = scores.copy()
    low = np.where(missing, np.inf, scores).min(axis=0, initial=np.inf)
    high = np.where(missing, -np.inf, scores).max(axis=0, initial=-np.inf)
    nothing = ~np.isfinite(low)
    low[nothing] = high[nothing] = 0.0
    value = low - BELOW_LOWEST * (high - low)
    rows, columns = np.nonzero(missing)
    filled[rows, columns] = value[columns]
    return filled


def standardise(scores: Floats) -> Floats:
    """Each column (n candidates x m views) to mean 0 and deviation 1 over *this question's* candidates.

    Local standardisation is worth 5 points of hit@3 over a global one in the thesis: a cosine of .6 is much for
    one question and little for another. A constant column carries nothing and becomes zero. No NaN may be left.

    >>> standardise(np.array([[1.0, 5.0], [3.0, 5.0]])).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    if scores.shape[0] == 0:
        return scores
    mean = scores.mean(axis=0)
    deviation = scores.std(axis=0)
    # Rounding leaves a constant column a deviation of about 1e-17; dividing by it would make noise of it.
    constant = deviation <= 1e-9 * np.maximum(1.0, np.abs(mean))
    deviation[constant] = 1.0
    standard = (scores - mean) / deviation
    standard[:, constant] = 0.0
    return np.asarray(standard)
