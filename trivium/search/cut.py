"""Where a list of passages ends, by its scores: in place of a fixed number of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from trivium.errors import InputError

Rule = Literal["gap", "drop", "probability", "chance"]
RULES: tuple[Rule, ...] = get_args(Rule)
_THRESHOLDS: dict[Rule, float] = {"drop": 0.3, "probability": 0.05, "chance": 0.95}
"""The usual threshold of the rules that have one; each lies between 0 and 1."""
_BOUNDS = re.compile(r"(\d{1,6})-(\d{0,6})")
FORMS = "gap, drop:SHARE, probability:P or chance:P, each also with bounds, as in gap:2-12"
"""How a cut may be written, for messages."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a list ends. With scores s1 >= s2 >= ... and bounds ``min_k`` and ``max_k`` (None: the number of passages
    that was asked for):

    - ``gap``: before the largest drop s(i) - s(i+1) with min_k <= i <= max_k, the first of equal ones. It always finds
      one, unless all these scores are equal: then the list runs to max_k.
    - ``drop``: before the first drop, i >= min_k, that is at least ``threshold`` (a share) of the way from s1 to
      s(max_k). Over a plateau, where no drop is that large, the list runs on to max_k.
    - ``probability``: passages are left out that are less likely right than ``threshold``.
    - ``chance``: as soon as it is at least ``threshold`` likely that one of the passages is right, taking them as
      independent: 1 - (1 - p1) (1 - p2) ... .

    The first two go by the scores that the passages are ordered by, whatever their scale; the others need a fusion that
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

        >>> Cut.read("drop:0.25:2-12")
        Cut(rule='drop', threshold=0.25, min_k=2, max_k=12)
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
        return self.rule in ("probability", "chance")

    def most(self, k: int) -> int:
        """How many passages it keeps at most where ``k`` were asked for."""
        return k if self.max_k is None else self.max_k

    def kept(self, scores: Sequence[float], k: int, probabilities: Sequence[float] = ()) -> list[int]:
        """Which passages stay, as places in the list from 0, rising. ``scores`` are in the order of the list, one more
        than :meth:`most` where there are more; ``probabilities`` beside them where they are needed. At least ``min_k``
        stay where there are so many."""
        most = min(self.most(k), len(scores))
        least = min(self.min_k, most)
        if most == 0:
            return []
        limit = 0.0 if self.threshold is None else self.threshold
        if self.threshold is None and self.rule in _THRESHOLDS:
            limit = _THRESHOLDS[self.rule]
        if self.rule == "probability":
            likely = [place for place in range(most) if probabilities[place] >= limit]
            others = [place for place in range(most) if probabilities[place] < limit]
            return sorted([*likely, *others[: max(0, least - len(likely))]])
        if self.rule == "chance":
            return list(range(_enough(probabilities[:most], limit, least)))
        drops = [scores[place - 1] - scores[place] for place in range(least, min(most + 1, len(scores)))]
        if self.rule == "gap":
            largest = max(drops, default=0.0)
            count = least + drops.index(largest) if largest > 0 else most
        else:
            needed = limit * (scores[0] - scores[most - 1])
            count = next((least + place for place, drop in enumerate(drops) if 0 < needed <= drop), most)
        return list(range(min(count, most)))


def _enough(probabilities: Sequence[float], chance: float, least: int) -> int:
    """How many of the first are enough."""
    none_right = 1.0
    for count, probability in enumerate(probabilities, start=1):
        none_right *= 1.0 - probability
        if count >= least and 1.0 - none_right >= chance:
            return count
    return len(probabilities)
