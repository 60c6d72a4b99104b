"""How much each retriever moves the ranking: mean size of its contributions to the best hits of each set."""

from __future__ import annotations

import numpy as np

from trivium.common.arrays import Floats
from trivium.fusion.network import NetworkFusion
from trivium.search.ranking import order
from trivium.training.data import HitSet

QUESTIONS = 100
"""Of each set: the values are means, and each question takes 512 passes through the network."""
HITS = 5


def importance(fusion: NetworkFusion, one: HitSet) -> dict[str, float]:
    """Retriever -> share of the contributions, in [0, 1] and adding up to 1: the mean of the absolute Shapley values
    over the five best hits of evenly spread questions. What pulls a hit down counts like what lifts it."""
    step = max(1, len(one.hits) // QUESTIONS)
    asked = [hit for hit in one.hits[::step] if hit.table.chunks]
    total = np.zeros(len(fusion.layout.retrievers))
    for hit in asked:
        fused = fusion.fuse(hit.table)
        best = order(hit.table.chunks, fused.scores)[:HITS]
        columns = [hit.table.column(name) for name in fusion.layout.retrievers]
        total += np.abs(fused.explain(best)[:, columns]).mean(axis=0)
    shares: Floats = total / total.sum() if total.sum() > 0 else total
    return dict(zip(fusion.layout.retrievers, shares.tolist(), strict=True))
