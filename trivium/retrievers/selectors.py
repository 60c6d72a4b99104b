"""Selectors choose among sections and paths for the path retriever."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import numpy as np

from trivium.errors import ConfigurationError
from trivium.graph.records import Floats, round_scores
from trivium.retrievers.options import Option
from trivium.retrievers.query import check_counts
from trivium.text.normalise import terms


class Selector(Protocol):
    """Reads the options as text and picks those that lead to the answer: one, several or none."""

    def select(self, question: str, options: Sequence[Option]) -> list[Option]:
        """Return the chosen options, best first. Only offered options may be returned."""
        ...


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """Settings of :class:`MatchSelector`, in standard deviations of the options' cosines.

    - ``overlap``: value of a full word overlap.
    - ``threshold``: score, above the mean, that the best option needs to be chosen at all.
    - ``margin``: maximum distance of further options from the best one.
    - ``options``: maximum number of options chosen.
    """

    overlap: float = 1.0
    threshold: float = 1.5
    margin: float = 0.5
    options: int = 3

    def __post_init__(self) -> None:
        check_counts("path.match", options=self.options)
        for name in ("overlap", "margin"):
            if not getattr(self, name) >= 0:
                raise ConfigurationError(f"path.match.{name} must be at least 0, got {getattr(self, name)}")


@dataclass(frozen=True, eq=False)
class MatchSelector:
    """Chooses without a language model, by similarity of embeddings plus word overlap.

    Cosines are standardised over the options, because their level depends on the embedder.
    """

    settings: MatchSettings = field(default_factory=MatchSettings)

    def select(self, question: str, options: Sequence[Option]) -> list[Option]:
        if not options:
            return []
        scores = self.scores(question, options)
        rounded = round_scores(scores).tolist()
        order = sorted(range(len(options)), key=lambda row: (-rounded[row], options[row].identifier))
        best = float(scores[order[0]])
        if best < self.settings.threshold:
            return []
        near = [row for row in order if scores[row] >= best - self.settings.margin]
        return [options[row] for row in near[: self.settings.options]]

    def scores(self, question: str, options: Sequence[Option]) -> Floats:
        """Return the score of each option (n,): standardised cosine plus weighted word overlap. Higher is better."""
        cosines = np.array([option.cosine for option in options], dtype=np.float64)
        standard = cosines - cosines.mean()
        deviation = math.sqrt(np.square(standard).mean())
        if deviation > 1e-9:
            standard /= deviation
        else:
            standard[:] = 0.0
        asked = frozenset(terms(question))
        overlap = np.array([word_overlap(asked, option.names) for option in options])
        scores: Floats = standard + self.settings.overlap * overlap
        return scores


def word_overlap(asked: frozenset[str], names: Sequence[str]) -> float:
    """Return the share of the names' distinct stemmed words that occur in the question, [0, 1]."""
    named: set[str] = set().union(*map(_words, names))
    return len(named & asked) / len(named) if named else 0.0


@lru_cache(maxsize=1 << 14)
def _words(name: str) -> frozenset[str]:
    """Stemmed words of a name. Cached: a title precedes every section of its page, and popular pages recur."""
    return frozenset(terms(name))
