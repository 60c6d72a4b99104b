"""Imputes scores that some candidates cannot have, from similar candidates.

A passage from outside the collection has no links. Ranking it below all candidates that have some (as
:func:`~trivium.fusion.convex.impute` does where a retriever found nothing) would penalise it for missing data.
Instead it gets the mean of the candidates that are closest to it in the retrievers that know both (hot-deck
imputation from nearest neighbours; Andridge and Little, *A Review of Hot Deck Imputation for Survey Non-response*,
2010).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats
from trivium.fusion.convex import impute, standardise
from trivium.fusion.score_table import Table

DONORS = 5
"""Number of donor candidates."""
_KNOWING = ("vector", "lexical")
"""Retrievers whose scores define the distance between candidates."""


def borrow(
    table: Table, lacking: NDArray[np.bool_], retrievers: Sequence[str], signals: Sequence[str]
) -> Table:
    """Return a table in which the ``lacking`` candidates (n,) have, in the columns of ``retrievers`` and ``signals``,
    the mean of their donors' values, and the median of their ranks. Unchanged if there are no donors.
    """
    donors, rows = np.flatnonzero(~lacking), np.flatnonzero(lacking)
    known = [table.column(name) for name in _KNOWING if name in table.columns]
    if not len(donors) or not len(rows) or not known:
        return table
    place = standardise(impute(table.raw[:, known]))
    raw, ranks = table.raw.copy(), table.ranks.copy()
    more = {name: values.copy() for name, values in table.signals.items()}
    columns = [table.column(name) for name in retrievers if name in table.columns]
    for row in rows.tolist():
        distance = np.abs(place[donors] - place[row]).sum(axis=1)
        nearest = donors[np.argsort(distance, kind="stable")[:DONORS]]
        for column in columns:
            raw[row, column] = _mean(table.raw[nearest, column])
            ranks[row, column] = _middle(table.ranks[nearest, column])
        for name in signals:
            if name in more:
                more[name][row] = _mean(table.signals[name][nearest])
    return replace(table, raw=raw, ranks=ranks, signals=more)


def _mean(values: Floats) -> float:
    """Return the mean of the known values, NaN if there are none.

    >>> _mean(np.array([1.0, np.nan, 3.0])), _mean(np.array([np.nan]))
    (2.0, nan)
    """
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def _middle(ranks: NDArray[np.int64]) -> int:
    """Return the lower median, where 0 (not returned) counts as behind every rank.

    >>> _middle(np.array([3, 0, 1])), _middle(np.array([0, 0, 1]))
    (3, 0)
    """
    ordered = sorted(ranks.tolist(), key=lambda rank: rank or float("inf"))
    return int(ordered[(len(ordered) - 1) // 2])
