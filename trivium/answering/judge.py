"""How probable it is that a sentence answers a question, or that a passage bears out a statement: logistic regressions on
a few features, fitted by ``experiments/answers`` and kept in ``judges.json``."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

Task = Literal["sentence", "support"]
NO_EMBEDDER = "none"
"""Names the judges that look at words alone, for embedders that none was fitted for: what a cosine means differs from
one to the next."""


@dataclass(frozen=True, slots=True)
class Judge:
    """``weights`` by name of feature. A probability of at least ``enough`` counts as yes."""

    intercept: float
    weights: Mapping[str, float]
    enough: float

    @property
    def needs_cosine(self) -> bool:
        """Whether texts have to be embedded."""
        return "cosine" in self.weights

    def probability(self, features: Mapping[str, float]) -> float:
        """In [0, 1]. Features that it has no weight for do not count.

        >>> Judge(0.0, {"covered": 2.0}, 0.5).probability({"covered": 0.0, "cosine": 0.9})
        0.5
        """
        total = self.intercept + sum(weight * features[name] for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, total))))


def judge(task: Task, embedder: str) -> Judge:
    """The judge of a task for a store filled by an embedder."""
    by_name = _kept()[task]
    return Judge(**by_name.get(embedder, by_name[NO_EMBEDDER]))


@cache
def _kept() -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(files(__package__).joinpath("judges.json").read_text("utf-8"))
    return kept
