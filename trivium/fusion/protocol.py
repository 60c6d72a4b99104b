"""The fusion protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from trivium.common.arrays import Floats
from trivium.fusion.table import Table


@dataclass(frozen=True, slots=True)
class Fused:
    """The fused scores of one question's candidates.

    ``scores`` (n,): higher is better. ``baseline`` is the score of an average candidate (SHAP's base value), and
    ``explain(rows)`` (r, m) what each column of the table adds to it in these rows: ``baseline +
    explain(rows).sum(axis=1) == scores[rows]``.
    """

    scores: Floats
    explain: Callable[[Sequence[int]], Floats]
    baseline: float = 0.0


class Fusion(Protocol):
    """Turns a table of raw scores into one score per candidate."""

    @property
    def name(self) -> str: ...

    @property
    def needs_signals(self) -> bool:
        """Whether it uses the signals of a table, which take time to compute."""
        ...

    @property
    def log_odds(self) -> bool:
        """Whether its scores are log-odds of relevance, calibrated on the training data."""
        ...

    def fuse(self, table: Table) -> Fused: ...
