"""Rankings from tables of scores. Search displays and evaluation judges this order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.common.log_odds import probability_of
from trivium.fusion.score_table import Table
from trivium.graph.records import round_score, round_scores

Ranking = list[tuple[str, float]]


def order(chunks: Sequence[str], scores: NDArray[np.float64]) -> list[int]:
    """Return the row numbers of candidates, best first; ties are broken by uri."""
    rounded = round_scores(scores).tolist()
    return sorted(range(len(chunks)), key=lambda row: (-rounded[row], chunks[row]))


def fused_ranking(table: Table, scores: NDArray[np.float64]) -> Ranking:
    """Rank all candidates by the scores (n,) of a fusion."""
    return [(table.chunks[row], float(scores[row])) for row in order(table.chunks, scores)]


def own_ranking(table: Table, retriever: str) -> Ranking:
    """Rank the candidates that a retriever returned, in its own order."""
    column = table.column(retriever)
    ranks = table.ranks[:, column]
    rows = [int(row) for row in np.flatnonzero(ranks)]
    rows.sort(key=lambda row: int(ranks[row]))
    return [(table.chunks[row], float(table.raw[row, column])) for row in rows]


def probability(log_odds: float) -> float:
    """Convert log-odds to a probability in (0, 1), rounded to 6 significant digits.

    >>> probability(0.0), probability(-3.0)
    (0.5, 0.0474259)
    """
    return round_score(probability_of(log_odds))
