"""Probabilities that a sentence answers a question, that a collection has something relevant to it, or that a passage
supports a statement: logistic regressions on a few features, fitted by ``experiments/answers`` and stored in
``classifiers.json``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

Task = Literal["sentence", "sentence_alone", "nearness", "support"]
"""``sentence_alone`` applies when there are too few sentences for one to stand out."""
NO_EMBEDDER = "none"
"""Key of the classifiers that use words only. They serve embedders without a fitted classifier, since the scale of
cosines depends on the embedder.
"""


@dataclass(frozen=True, slots=True)
class SentenceClassifier:
    """A logistic regression. ``weights`` are by feature name. Probabilities of at least ``threshold`` count as yes."""

    intercept: float
    weights: Mapping[str, float]
    threshold: float

    @property
    def needs_cosine(self) -> bool:
        """Whether texts must be embedded."""
        return "cosine" in self.weights

    def probability(self, features: Mapping[str, float]) -> float:
        """Return the probability, in [0, 1]. Features without a weight are ignored.

        >>> SentenceClassifier(0.0, {"covered": 2.0}, 0.5).probability({"covered": 0.0, "cosine": 0.9})
        0.5
        """
        total = self.intercept + sum(weight * features[name] for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, total))))


def load_classifier(task: Task, embedder: str) -> SentenceClassifier:
    """Return the classifier of a task for an embedder."""
    by_embedder = shipped()[task]
    return SentenceClassifier(**by_embedder.get(embedder, by_embedder[NO_EMBEDDER]))


@cache
def shipped() -> dict[str, Any]:
    """Return the shipped classifiers by task and embedder."""
    text = files(__package__).joinpath("classifiers.json").read_text("utf-8")
    classifiers: dict[str, Any] = json.loads(text)
    return classifiers
