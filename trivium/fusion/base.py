"""What a fusion is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from trivium.fusion.table import Table


@dataclass(frozen=True, slots=True)
class Fused:
    """The outcome for one question's candidates.

    ``scores`` (n,): higher is better. ``contributions`` (n, m): what each column of the table added;
    ``baseline + contributions.sum(axis=1) == scores``.
    """

    scores: NDArray[np.float64]
    contributions: NDArray[np.float64]
    baseline: float = 0.0


class Fusion(Protocol):
    """Turns a table of raw scores into one score a candidate."""

    @property
    def name(self) -> str: ...

    def fuse(self, table: Table) -> Fused: ...
