"""Artificial typing errors, for testing the robustness of a search."""

from __future__ import annotations

import hashlib
import re

import numpy as np

from trivium.errors import InputError

SHORTEST = 4
"""Shorter words are left unchanged."""

_WORD = re.compile(r"[^\W\d_]+")
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_KEYS = {
    letter: row[max(place - 1, 0) : place] + row[place + 1 : place + 2]
    for row in _ROWS
    for place, letter in enumerate(row)
}
"""For each letter the adjacent ones on a keyboard."""


def with_typos(text: str, rate: float, seed: int = 0, name: str = "") -> str:
    """Misspell each word of four letters or more with probability ``rate`` (0 to 1): two letters swapped, one omitted,
    one doubled, or an adjacent key. First letters and numbers are unchanged. ``name`` identifies the text: the same
    name, seed and text give the same errors. Raises InputError for a rate out of range.

    >>> with_typos("Who found the moons of Mars in 1877?", 1.0)
    'Who foudn the moosn of Masr in 1877?'
    """
    if not 0 <= rate <= 1:
        raise InputError(f"expected a share of words from 0 to 1, got {rate:g}")
    drawn = np.random.default_rng([seed, int.from_bytes(hashlib.sha256(name.encode()).digest()[:8])])

    def mistaken(match: re.Match[str]) -> str:
        word = match[0]
        if len(word) < SHORTEST or drawn.random() >= rate:
            return word
        place = int(drawn.integers(1, len(word) - 1))
        for way in drawn.permutation(len(_WAYS)).tolist():
            changed = _WAYS[way](word, place)
            if changed != word:  # swapping two equal letters is not an error
                break
        return changed

    return _WORD.sub(mistaken, text)


def _swapped(word: str, place: int) -> str:
    return word[:place] + word[place + 1] + word[place] + word[place + 2 :]


def _without(word: str, place: int) -> str:
    return word[:place] + word[place + 1 :]


def _doubled(word: str, place: int) -> str:
    return word[: place + 1] + word[place:]


def _beside(word: str, place: int) -> str:
    keys = _KEYS.get(word[place], word[place])
    return word[:place] + keys[-1] + word[place + 1 :]


_WAYS = (_swapped, _without, _doubled, _beside)
