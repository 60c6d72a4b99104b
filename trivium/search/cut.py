"""Where a list of passages ends, by its scores: in place of a fixed number of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from trivium.errors import InputError

Rule = Literal["gap", "near", "probability"]
RULES: tuple[Rule, ...] = get_args(Rule)
_THRESHOLDS: dict[Rule, float] = {"near": 0.7, "probability": 0.01}
"""The usual threshold of the rules that have one; each lies between 0 and 1."""
_BOUNDS = re.compile(r"(\d{1,6})-(\d{0,6})")
FORMS = "gap, near:SHARE or probability:P, each also with bounds, as in near:0.7:2-12"
"""How a cut may be written, for messages."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a list ends. With scores s1 >= s2 >= ... and bounds ``min_k`` and ``max_k`` (None: the number of passages
    that was asked for):

    - ``near``: behind the last score that is near the best one: at least s1 - threshold * (s1 - s(max_k)). After a sharp
      drop few are that near; over a plateau the list runs on.
    - ``gap``: before the largest drop s(i) - s(i+1) with min_k <= i <= max_k, the first of equal ones. It always finds
      one, unless all these scores are equal: then the list runs to max_k.
    - ``probability``: before the first passage that is less likely than ``threshold`` to be the first right one:
      p(i) (1 - p(1)) ... (1 - p(i-1)), taking them as independent.

    The first two go by the scores that the passages are ordered by, whatever their scale; the last needs a fusion that
    gives probabilities. Raises InputError."""

    rule: Rule
    threshold: float | None = None
    min_k: int = 1
    max_k: int | None = None

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise InputError(f"unknown cut {self.rule!r}: expected {FORMS}")
        if self.threshold is not None and self.rule not in _THRESHOLDS:
            raise InputError(f"the cut {self.rule} has no threshold, got {self.threshold:g}")
        if self.threshold is not None and not 0 < self.threshold < 1:
            raise InputError(f"{self.rule}: expected a threshold between 0 and 1, got {self.threshold:g}")
        if not 1 <= self.min_k <= (self.min_k if self.max_k is None else self.max_k):
            raise InputError(
                f"{self.rule}: expected bounds such as 2-12, got {self.min_k}-{self.max_k or ''}"
            )

    @classmethod
    def read(cls, text: str) -> Cut:
        """The cut that a text names: ``RULE[:THRESHOLD][:MIN-MAX]``, where MAX may be left out. Raises InputError.

        >>> Cut.read("near:0.6:2-12")
        Cut(rule='near', threshold=0.6, min_k=2, max_k=12)
        """
        rule, *rest = text.strip().split(":")
        bounds = _BOUNDS.fullmatch(rest[-1]) if rest else None
        numbers = rest[:-1] if bounds else rest
        try:
            (threshold,) = map(float, numbers) if numbers else (None,)
        except ValueError:
            raise InputError(f"cut: expected {FORMS}; got {text[:100]!r}") from None
        least = int(bounds[1]) if bounds else 1
        most = int(bounds[2]) if bounds and bounds[2] else None
        return cls(rule, threshold, least, most)  # type: ignore[arg-type]

    def __str__(self) -> str:
        """As :meth:`read` takes it."""
        threshold = "" if self.threshold is None else f":{self.threshold:g}"
        most = "" if self.max_k is None else self.max_k
        bounds = "" if self.min_k == 1 and self.max_k is None else f":{self.min_k}-{most}"
        return f"{self.rule}{threshold}{bounds}"

    @property
    def needs_probabilities(self) -> bool:
        """Whether it goes by how likely passages are right."""
        return self.rule == "probability"

    def most(self, k: int) -> int:
        """How many passages it keeps at most where ``k`` were asked for."""
        return k if self.max_k is None else self.max_k

    def count(self, scores: Sequence[float], k: int, probabilities: Sequence[float] = ()) -> int:
        """How many of the first passages stay. ``scores`` are in the order of the list, one more than :meth:`most` where
        there are more; ``probabilities`` beside them where they are needed. At least ``min_k`` stay where there are so
        many."""
        most = min(self.most(k), len(scores))
        least = min(self.min_k, most)
        if most == 0:
            return 0
        if self.rule == "gap":
            drops = [scores[place - 1] - scores[place] for place in range(least, min(most + 1, len(scores)))]
            largest = max(drops, default=0.0)
            return least + drops.index(largest) if largest > 0 else most
        threshold = _THRESHOLDS[self.rule] if self.threshold is None else self.threshold
        if self.rule == "near":
            limit = scores[0] - threshold * (scores[0] - scores[most - 1])
            return max(least, sum(score >= limit for score in scores[:most]))
        return max(least, _likely(probabilities[:most], threshold))


def _likely(probabilities: Sequence[float], threshold: float) -> int:
    """How many of the first come before one that is hardly the first right one."""
    none_right = 1.0
    for count, probability in enumerate(probabilities):
        if none_right * probability < threshold:
            return count
        none_right *= 1.0 - probability
    return len(probabilities)
