"""Probabilities that a passage supports a statement: logistic regressions on a few features, fitted by
``experiments/answers`` and stored in ``classifiers.json``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from trivium.common.log_odds import probability_of

NO_EMBEDDER = "none"
"""Key of the classifiers that use words only. They serve embedders without a fitted classifier, since the scale of
cosines depends on the embedder.
"""


@dataclass(frozen=True, slots=True)
class SupportClassifier:
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

        >>> SupportClassifier(0.0, {"covered": 2.0}, 0.5).probability({"covered": 0.0, "cosine": 0.9})
        0.5
        """
        total = self.intercept + sum(weight * features[name] for name, weight in self.weights.items())
        return probability_of(total)


def load_classifier(embedder: str) -> SupportClassifier:
    """Return the classifier for an embedder."""
    by_embedder = _shipped()
    return SupportClassifier(**by_embedder.get(embedder, by_embedder[NO_EMBEDDER]))


@cache
def _shipped() -> dict[str, Any]:
    text = files(__package__).joinpath("classifiers.json").read_text("utf-8")
    classifiers: dict[str, Any] = json.loads(text)
    return classifiers
