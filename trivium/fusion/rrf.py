"""Reciprocal rank fusion (Cormack, Clarke & Büttcher, SIGIR 2009)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from trivium.fusion.score_table import Fused, Table


@dataclass(frozen=True, slots=True)
class ReciprocalRank:
    """Each retriever that returned a candidate at rank r adds 1 / (constant + r). Scores lie in [0, m / constant)."""

    constant: float = 60.0
    name: str = "rrf"
    needs_signals: ClassVar[bool] = False
    log_odds: ClassVar[bool] = False

    def fuse(self, table: Table) -> Fused:
        contributions = np.where(table.ranks > 0, 1.0 / (self.constant + table.ranks), 0.0)
        return Fused(contributions.sum(axis=1), lambda rows: contributions[list(rows)])
