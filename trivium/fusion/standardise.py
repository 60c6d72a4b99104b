"""Per-question standardisation of a table of scores."""

from __future__ import annotations

import numpy as np

from trivium.common.arrays import Floats

BELOW_LOWEST = 0.05
"""Missing scores are imputed this share of the column's range below its lowest score."""
_CONSTANT = 1e-9
"""A column is constant when its deviation is not above this multiple of its mean."""


def impute(scores: Floats) -> Floats:
    """Fill the gaps (NaN) of each column with a value just below the lowest score in it.

    A candidate that a retriever cannot score thus ranks behind those it can, but not far behind. (The thesis imputes
    a constant just below the lowest score ever seen.) Columns without any score become zero.

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
    """Scale each column (n candidates, m views) to mean 0 and deviation 1 over *this question's* candidates.

    In the thesis, local standardisation gains 5 points of hit@3 over a global one: a cosine of .6 is high for one
    question and low for another. Constant columns carry no information and become zero. The input must not contain
    NaN.

    >>> standardise(np.array([[1.0, 5.0], [3.0, 5.0]])).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    from trivium.fusion.standardise_loops import scale_columns  # loads numba, see trivium.common.compiled

    standard = np.empty(scores.shape)
    if len(scores):
        # Rounding gives a constant column a deviation of about 1e-17; dividing by it would turn it into noise.
        scale_columns(np.ascontiguousarray(scores, dtype=np.float64), _CONSTANT, standard)
    return standard
