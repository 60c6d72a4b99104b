"""Cuts a ranking by its scores instead of at a fixed number of passages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from trivium.errors import InputError

Rule = Literal["gap", "near", "probability"]
RULES: tuple[Rule, ...] = get_args(Rule)
_THRESHOLDS: dict[Rule, float] = {"near": 0.7, "probability": 0.01}
"""Default thresholds, for the rules that have one. Thresholds lie between 0 and 1."""
_BOUNDS = re.compile(r"(\d{1,6})-(\d{0,6})")
FORMS = "gap, near:SHARE or probability:P, each also with bounds, as in near:0.7:2-12"
"""The syntax of a cut, for error messages."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A rule that decides where a ranking ends.

    For scores s1 >= s2 >= ... and bounds ``min_k`` and ``max_k`` (None: the number of passages requested):

    - ``near``: after the last score close to the best one, that is at least s1 - threshold * (s1 - s(max_k)). Keeps
      few passages before a sharp drop and many on a plateau.
    - ``gap``: before the largest drop s(i) - s(i+1) with min_k <= i <= max_k, the first one if several are equal. If
      all these scores are equal, the list runs to max_k.
    - ``probability``: before the first passage whose probability of being the first correct one, p(i) (1 - p(1)) ...
      (1 - p(i-1)) assuming independence, is below ``threshold``.

    ``near`` and ``gap`` use the scores that order the passages, on any scale; ``probability`` needs a fusion with
    calibrated probabilities. Raises InputError for invalid values.
    """

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
        """Parse a cut, ``RULE[:THRESHOLD][:MIN-MAX]`` with optional MAX. Raises InputError.

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
        """Format the cut as :meth:`read` parses it."""
        threshold = "" if self.threshold is None else f":{self.threshold:g}"
        most = "" if self.max_k is None else self.max_k
        bounds = "" if self.min_k == 1 and self.max_k is None else f":{self.min_k}-{most}"
        return f"{self.rule}{threshold}{bounds}"

    @property
    def needs_probabilities(self) -> bool:
        """Whether the rule uses the probabilities of passages."""
        return self.rule == "probability"

    def most(self, k: int) -> int:
        """Return the maximum number of passages kept when ``k`` are requested."""
        return k if self.max_k is None else self.max_k

    def count(self, scores: Sequence[float], k: int, probabilities: Sequence[float] = ()) -> int:
        """Return how many of the first passages to keep.

        ``scores`` are in ranking order and include one more than :meth:`most` if there are that many.
        ``probabilities``, in the same order, are needed by the rule ``probability`` only. At least ``min_k`` passages
        are kept if there are that many.
        """
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
    """Count the passages before the first one whose probability of being the first correct one is below
    ``threshold``.
    """
    none_right = 1.0
    for count, probability in enumerate(probabilities):
        if none_right * probability < threshold:
            return count
        none_right *= 1.0 - probability
    return len(probabilities)
