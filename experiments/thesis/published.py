"""The published figures of the thesis. One hop: NQ dev, 20 % held out, ada-002; multi-hop: its own 100 questions."""

from __future__ import annotations

from collections.abc import Mapping

Figures = Mapping[str, Mapping[str, float]]
"""System -> measure -> value, without values that are unpublished or unknown."""

ONE_HOP: Figures = {
    "vector": {"hit@1": 0.398, "hit@3": 0.622, "hit@5": 0.710, "recall@5": 0.630},
    "naive hybrid": {"hit@5": 0.776},
    "hybrid": {"hit@1": 0.478, "hit@3": 0.756, "hit@5": 0.851, "recall@5": 0.780},
}
SEVERAL_HOPS: Figures = {
    "vector": {"all@6": 0.160, "recall@6": 0.418},
    "naive hybrid": {"all@6": 0.170},
    "hybrid": {"all@6": 0.430, "recall@6": 0.688},
}
STANDARDISATION = 0.05
"""Gain of hit@3 of local over global standardisation."""
IMPORTANCE: Mapping[str, float] = {
    "vector": 0.39,
    "page": 0.19,
    "section": 0.24,
    "entity": 0.11,
    "path": 0.06,
}
"""Impurity importances of a random forest."""
