"""How probable it is that a sentence answers a question, that a collection has something near it, or that a passage
supports a statement: logistic regressions on a few features, fitted by ``experiments/answers`` and kept in
``classifiers.json``."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

Task = Literal["sentence", "sentence_alone", "nearness", "support"]
"""``sentence_alone`` is for sentences of few, where none can stand out from the others."""
NO_EMBEDDER = "none"
"""Names the classifiers that use words alone. They serve embedders for which none was fitted, since a cosine means
something else with each embedder."""


@dataclass(frozen=True, slots=True)
class SentenceClassifier:
    """``weights`` by name of feature. A probability of at least ``threshold`` counts as yes."""

    intercept: float
    weights: Mapping[str, float]
    threshold: float

    @property
    def needs_cosine(self) -> bool:
        """Whether texts have to be embedded."""
        return "cosine" in self.weights

    def probability(self, features: Mapping[str, float]) -> float:
        """In [0, 1]. Features without a weight do not count.

        >>> SentenceClassifier(0.0, {"covered": 2.0}, 0.5).probability({"covered": 0.0, "cosine": 0.9})
        0.5
        """
        total = self.intercept + sum(weight * features[name] for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, total))))


def load_classifier(task: Task, embedder: str) -> SentenceClassifier:
    """The classifier of a task for a store filled by an embedder."""
    by_embedder = shipped()[task]
    return SentenceClassifier(**by_embedder.get(embedder, by_embedder[NO_EMBEDDER]))


@cache
def shipped() -> dict[str, Any]:
    """By task and embedder, what the package brings."""
    text = files(__package__).joinpath("classifiers.json").read_text("utf-8")
    classifiers: dict[str, Any] = json.loads(text)
    return classifiers
