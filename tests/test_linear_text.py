"""No filter over a model's reply or a user's text takes more than linear time, whatever is repeated."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest

from trivium.answering.citation_marks import uncited, without_marks
from trivium.answering.repetition import repeats
from trivium.text.normalise import sentences, without_parenthesis

PIECES = [
    " ",
    "\n",
    ". ",
    "1. 2. ",
    "a b c d. ",
    "Dr. ",
    "! ",
    "[9",
    "]",
    "((",
    '"',
    "-",
    "a",
    "1,",
    "<",
    "A. ",
]
SIZES = (1_000, 4_000)
FACTOR = 8
"""Of the time for four times the length: 16 would be quadratic."""
SLOW = 0.02

WORKS: list[tuple[str, Callable[[str], object]]] = [
    ("sentences", sentences),
    ("repeats", repeats),
    ("uncited", uncited),
    ("without_marks", without_marks),
    ("without_parenthesis", without_parenthesis),
]


def seconds(work: Callable[[str], object], text: str) -> float:
    begun = time.process_time()
    work(text)
    return time.process_time() - begun


def is_slow(work: Callable[[str], object], piece: str) -> bool:
    """Whether it takes more than linear time, at each of three attempts."""
    small, large = (piece * (size // len(piece)) + "~" for size in SIZES)
    for _ in range(3):
        long = seconds(work, large)
        if long < SLOW or long < FACTOR * seconds(work, small):
            return False
    return True


@pytest.mark.parametrize(("name", "work"), WORKS)
def test_time_is_linear(name: str, work: Callable[[str], object]) -> None:
    slow = [piece for piece in PIECES if is_slow(work, piece)]
    assert not slow, name


def test_the_measure_finds_what_is_not_linear() -> None:
    assert is_slow(lambda text: re.sub(r"(?:a|aa?c)+[bc]", "", text), "a")
