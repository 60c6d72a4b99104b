"""Typing mistakes: as many as asked for, one a word, the same every time."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.errors import InputError
from trivium.synthetic.export import SHORTEST, with_typos

TEXT = "Which astronomer discovered both moons of Mars from Washington in August 1877?"


def distance(left: str, right: str) -> int:
    """Damerau and Levenshtein's distance (swapping two neighbours counts as one), by the textbook."""
    rows = [[max(i, j) if 0 in (i, j) else 0 for j in range(len(right) + 1)] for i in range(len(left) + 1)]
    for i in range(1, len(left) + 1):
        for j in range(1, len(right) + 1):
            cost = left[i - 1] != right[j - 1]
            rows[i][j] = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + cost)
            if i > 1 and j > 1 and left[i - 1] == right[j - 2] and left[i - 2] == right[j - 1]:
                rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    return rows[-1][-1]


@given(st.integers(0, 1000))
def test_at_a_rate_of_one_every_long_word_has_one_mistake_and_nothing_else_changes(seed: int) -> None:
    before, after = TEXT.split(), with_typos(TEXT, 1.0, seed).split()
    for old, new in zip(before, after, strict=True):
        word = re.sub(r"\W", "", old)
        if word.isalpha() and len(word) >= SHORTEST:
            assert distance(old, new) == 1 and old[0] == new[0]
        else:
            assert old == new


def test_the_share_is_that_of_the_words_and_the_seed_decides() -> None:
    """Over 7,000 words, the share is within two points; none at 0."""
    names = [str(number) for number in range(1000)]
    changed = sum(
        old != new
        for name in names
        for old, new in zip(TEXT.split(), with_typos(TEXT, 0.3, 5, name).split(), strict=True)
    )
    long = sum(len(word) >= SHORTEST for word in re.findall(r"[A-Za-z]+", TEXT))
    assert abs(changed / (long * len(names)) - 0.3) < 0.02
    assert with_typos(TEXT, 0.0) == TEXT
    assert with_typos(TEXT, 0.5, 1, "a") == with_typos(TEXT, 0.5, 1, "a")
    assert len({with_typos(TEXT, 0.5, seed, name) for seed in (1, 2) for name in "ab"}) == 4


@pytest.mark.parametrize("rate", [-0.1, 1.1])
def test_a_share_out_of_range_is_refused(rate: float) -> None:
    with pytest.raises(InputError, match="share of words"):
        with_typos(TEXT, rate)
