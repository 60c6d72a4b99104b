"""Every number of training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trivium.errors import ConfigurationError
from trivium.training.limits import check_least
from trivium.training.thesis_settings import ThesisSettings


@dataclass(frozen=True, slots=True)
class Settings:
    """How a network is trained.

    ``hidden`` are the units of its layers, ``dropout`` the share of them left out in a step. Its score is what they
    say and ``prior`` times the first column, the standardised score of the first retriever (``vector``). AdamW learns
    at ``rate``, which falls to zero over ``epochs`` along a cosine, with weight ``decay``; ``batch`` questions a
    step. Of a question all gold (up to a quarter) and other candidates up to ``candidates`` are looked at, drawn anew
    every ``redrawn`` epochs. The part ``teacher`` of the loss says how far the network is from boosted ``trees`` that
    have not seen the question's pages; 0 does without them. One part in ``watched`` of the pages is kept back to tell
    which epoch was the best.

    A network is the mean of ``members`` that differ in their ``seed``. It is judged in ``folds``. Raises
    ConfigurationError for numbers that make no sense.
    """

    hidden: tuple[int, ...] = (128, 64)
    dropout: float = 0.2
    rate: float = 2e-3
    decay: float = 1e-2
    epochs: int = 14
    batch: int = 64
    candidates: int = 64
    redrawn: int = 5
    watched: int = 8
    teacher: float = 0.0
    trees: int = 200
    prior: float = 3.0
    members: int = 3
    folds: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        check_least(
            self, epochs=1, batch=1, candidates=4, redrawn=1, watched=2, trees=1, members=1, folds=2, seed=0
        )
        if not all(units >= 1 for units in self.hidden):
            raise ConfigurationError(f"layers need 1 unit or more, got {self.hidden}")
        if not 0 <= self.prior < float("inf"):
            raise ConfigurationError(f"the prior must be 0 or a positive number, got {self.prior}")
        if not 0 <= self.teacher <= 1:
            raise ConfigurationError(f"the teacher's part must be in [0, 1], got {self.teacher}")
        if not (0 <= self.dropout < 1 and self.rate > 0 and self.decay >= 0):
            raise ConfigurationError("expected a dropout in [0, 1), a positive rate and a decay of 0 or more")


PRESETS: Mapping[str, Settings | ThesisSettings] = {"default": Settings(), "thesis": ThesisSettings()}
"""Settings by name."""
