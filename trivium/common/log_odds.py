"""Probabilities, their log-odds, and words for people."""

from __future__ import annotations

import math
from collections.abc import Sequence

_MOST = 50.0
_LEAST = 1e-6
SURE, LIKELY, UNLIKELY = 0.8, 0.5, 0.05
"""Probabilities from which something is called sure, likely or maybe. The web page has the same (``why.js``)."""


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


def percent(probability: float) -> str:
    """Format a probability as a percentage.

    >>> percent(0.5), percent(0.9), percent(0.0001), percent(0.9999)
    ('50 %', '90 %', '< 1 %', '> 99 %')
    """
    if probability < 0.01:
        return "< 1 %"
    return "> 99 %" if probability > 0.99 else f"{100 * probability:.0f} %"


def in_words(confidence: float) -> str:
    """Say in a word and a percentage how sure an answer is. Below one half answers are more often right than the number
    says, so that the word stands alone.

    >>> in_words(0.85), in_words(0.5), in_words(0.2)
    ('sure (85 %)', 'likely (50 %)', 'maybe')
    """
    word = _word(confidence)
    return word if word == "maybe" else f"{word} ({percent(confidence)})"


def words_for(probabilities: Sequence[float]) -> list[str]:
    """Say in a word for each of some passages how likely it answers a question. Where none is likely but several are
    together, these are "one of these".

    >>> words_for([0.85, 0.1, 0.01]), words_for([0.26, 0.16, 0.15, 0.02])
    (['sure', 'maybe', 'unlikely'], ['one of these', 'one of these', 'one of these', 'unlikely'])
    """
    together: list[int] = []
    total = 0.0
    for place in sorted(range(len(probabilities)), key=lambda place: -probabilities[place]):
        if total < LIKELY and probabilities[place] >= UNLIKELY:
            together.append(place)
            total += probabilities[place]
    shared = together if total >= LIKELY and len(together) > 1 else []
    return [
        "one of these" if place in shared else "unlikely" if probability < UNLIKELY else _word(probability)
        for place, probability in enumerate(probabilities)
    ]


def _word(probability: float) -> str:
    return "sure" if probability >= SURE else "likely" if probability >= LIKELY else "maybe"
