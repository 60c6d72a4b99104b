"""Per-question standardisation of a table of scores."""

from __future__ import annotations

import numpy as np

from trivium.common.arrays import Floats

BELOW_LOWEST = 0.05
"""A missing score is imputed this share of the column's range below its lowest score."""
_CONSTANT = 1e-9
"""A column with a smaller deviation, of its mean, is constant."""


def impute(scores: Floats) -> Floats:
    """Fill the gaps (NaN) of each column just below the lowest score seen in it.

    A candidate that a view says nothing of is so ranked behind all it does speak of, but not far behind:
    the thesis imputes a constant just below the lowest score it ever saw. Columns of nothing become zero.

    >>> impute(np.array([[0.8], [np.nan], [0.6]])).ravel().round(3).tolist()
    [0.8, 0.59, 0.6]
    """
    from trivium.fusion.standardise_loops import fill_gaps  # loads numba, see trivium.common.compiled

    if not np.isnan(scores).any():
        return scores
    filled = np.array(scores, dtype=np.float64, order="C")
    fill_gaps(filled, BELOW_LOWEST)
    return filled


def standardise(scores: Floats) -> Floats:
    """Each column (n candidates x m views) to mean 0 and deviation 1 over *this question's* candidates.

    Local standardisation is worth 5 points of hit@3 over a global one in the thesis: a cosine of .6 is much for
    one question and little for another. A constant column carries nothing and becomes zero. No NaN may be left.

    >>> standardise(np.array([[1.0, 5.0], [3.0, 5.0]])).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    from trivium.fusion.standardise_loops import scale_columns  # loads numba, see trivium.common.compiled

    standard = np.empty(scores.shape)
    if len(scores):
        # Rounding leaves a constant column a deviation of about 1e-17; dividing by it would make noise of it.
        scale_columns(np.ascontiguousarray(scores, dtype=np.float64), _CONSTANT, standard)
    return standard
