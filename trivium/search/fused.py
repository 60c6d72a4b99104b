"""Candidates of a question and their fused scores. How many are asked for changes neither score nor order of any.

A fusion compares candidates with each other, so a score depends on which others there are. Candidates are therefore
scored in rounds: first those of lists of :data:`~trivium.search.candidates.DEPTH`, which is enough for most searches.
Where more are wanted the retrievers are asked for longer lists, and what only those bring follows behind, while the first
keep their scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from trivium.common.arrays import Floats
from trivium.fusion.base import Fused, Fusion
from trivium.fusion.table import Table, joined
from trivium.retrievers.base import Query, Retriever
from trivium.search.candidates import DEPTH, gather
from trivium.search.stages import StageObserver, ignore_stages, observed

DEEPER = 4
"""How many times as long the lists of the next round are. Fixed: rounds may not depend on how many hits are wanted."""
STEP = 1e-3
"""How far behind the last candidate of one round the first of the next comes at least."""


def fuse_candidates(
    query: Query,
    retrievers: Mapping[str, Retriever],
    fusion: Fusion,
    count: int,
    on_stage: StageObserver = ignore_stages,
    recall: Query | None = None,
) -> tuple[Table, Fused]:
    """At least ``count`` candidates, or all that the retrievers find, with their fused scores. In the order of the scores
    the candidates for a small ``count`` are the beginning of those for a large one.

    Candidates of a later round have the scores that the fusion gives them among all of that round, lowered by one number
    where the best of them would not come behind the round before.
    """

    def of_lists(depth: int) -> Table:
        return gather(
            query, retrievers, depth, signals=fusion.needs_signals, recall=recall, on_stage=on_stage
        )

    table = of_lists(DEPTH)
    with observed(on_stage, "fuse"):
        fused = fusion.fuse(table)
    deepest, depth = table, DEPTH
    while len(table.chunks) < count and _may_find_more(deepest, depth):
        depth *= DEEPER
        deepest = of_lists(depth)
        known = set(table.chunks)
        new = [row for row, uri in enumerate(deepest.chunks) if uri not in known]
        if new:
            with observed(on_stage, "fuse"):
                fused = _behind(fused, fusion.fuse(deepest), new, len(table.columns))
            table = joined(table, deepest.take(new))
    return table, fused


def _may_find_more(table: Table, depth: int) -> bool:
    """Whether some retriever's list was as long as it was allowed to be."""
    return bool((table.ranks >= depth).any())


def _behind(first: Fused, later: Fused, new: Sequence[int], columns: int) -> Fused:
    """The outcome for the candidates of ``first``, then for the rows ``new`` of ``later``. The baseline is that of
    ``first``; the difference, and what the rows are lowered by, is shared by all columns."""
    known = len(first.scores)
    limit = float(first.scores.min()) - STEP if known else np.inf
    lowered = max(0.0, float(later.scores[list(new)].max()) - limit)

    def explain(rows: Sequence[int]) -> Floats:
        shares = np.zeros((len(rows), columns))
        old = [place for place, row in enumerate(rows) if row < known]
        added = [place for place, row in enumerate(rows) if row >= known]
        if old:
            shares[old] = first.explain([rows[place] for place in old])
        if added:
            own = later.explain([new[rows[place] - known] for place in added])
            shares[added] = own + (later.baseline - first.baseline - lowered) / columns
        return shares

    scores = np.concatenate([first.scores, later.scores[list(new)] - lowered])
    return Fused(scores, explain, first.baseline)
