"""Types that all kinds of torture share: cases, which a seed repeats, and their outcomes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of the case of a seed. ``what`` says in a few words what was done; ``failure`` what was wrong
    afterwards, None where nothing was."""

    seed: int
    what: str
    failure: str | None = None


Outcomes = Callable[[Iterator[int], Path], Iterator[Outcome]]
"""Tries the case of each seed in a folder of its own, one after the other, and yields what came of it at once."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of fault. ``share`` is its part of a run's time, relative to the others; ``quick`` how many cases the
    tests try."""

    name: str
    share: float
    quick: int
    outcomes: Outcomes


class NotRunError(Exception):
    """A kind cannot be run here; the message says why."""


def dice(kind: str, seed: int) -> random.Random:
    """Return the random numbers of a case: the same for the same seed, on every machine."""
    return random.Random(f"{kind} {seed}")


def told(error: BaseException) -> str:
    """Format an exception as the text of a failure."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
