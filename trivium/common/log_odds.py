"""Probabilities and their log-odds."""

from __future__ import annotations

import math

_MOST = 50.0
_LEAST = 1e-6


def probability_of(log_odds: float) -> float:
    """Return the probability, in [0, 1], of some log-odds, which count from -50 to 50.

    >>> probability_of(0.0), probability_of(1000.0)
    (0.5, 1.0)
    """
    return 1 / (1 + math.exp(-max(-_MOST, min(_MOST, log_odds))))


def log_odds_of(probability: float) -> float:
    """Return the log-odds of a probability, which counts from a millionth to all but a millionth.

    >>> log_odds_of(0.5), round(log_odds_of(0.0), 1)
    (0.0, -13.8)
    """
    within = min(max(probability, _LEAST), 1 - _LEAST)
    return math.log(within / (1 - within))
