"""Weekdays and months in the cells of tables ("Mon-Fri", "May to September"), and those that a question in English asks
for ("on Saturdays", "in June").
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trivium.answering.asked_kind import MONTH
from trivium.answering.table_dates import MONTHS

_BESIDE = re.compile(
    r"\b(?:and|from|to|until|till|at|on|in|only|early|mid|late|end|beginning|of|[ap]\.?m)\b"
    r"|(?<!\d)\d{1,2}(?:st|nd|rd|th|am|pm|h)?(?![^\W_])|[\W_]",
    re.IGNORECASE,
)
"""What may stand beside weekdays or months in a cell: times, days, and what joins them."""


@dataclass(frozen=True, slots=True)
class Cycle:
    """Weekdays or months: their ``names`` by three letters, in order, the names of ``several`` of them, and what finds in
    a cell a first and a last one, or several.
    """

    names: Sequence[str]
    several: Mapping[str, range]
    in_cell: re.Pattern[str]

    @classmethod
    def of(cls, names: Sequence[str], name: str, several: Mapping[str, range]) -> Cycle:
        """Make a cycle of which ``name`` is what a name is written like, as a regular expression."""
        pattern = (
            rf"\b(?:(?P<first>{name})\.?(?!\w)"
            r"(?:(?:\s+\d{1,2})?\s?(?:-|–|—|to|until|through)\s?(?:\d{1,2}(?:st|nd|rd|th|\.)?\s)?"
            rf"(?P<last>{name})(?!\w))?|(?P<several>{'|'.join(several)})s?\b)"
        )
        return cls(names, several, re.compile(pattern, re.IGNORECASE))

    def named_in(self, cell: str) -> frozenset[int] | None:
        """Return those that a cell names, the first of the cycle as 0; None if it says more of them than times.

        >>> sorted(WEEK.named_in("Fri-Sun, 19:45")), sorted(WEEK.named_in("Mon & Thu")), WEEK.named_in("on request")
        ([4, 5, 6], [0, 3], frozenset())
        >>> sorted(YEAR.named_in("1 November - 15 Feb")), WEEK.named_in("first Monday of the month")
        ([0, 1, 10, 11], None)
        """
        found = [one for match in self.in_cell.finditer(cell) for one in self._span(match)]
        left = _BESIDE.sub("", self.in_cell.sub(" ", cell))
        return None if found and left else frozenset(found)

    def asked(self, name: str) -> frozenset[int]:
        """Return those that a question asks for by a name."""
        several = self.several.get(name.lower().removesuffix("s"))
        return frozenset([self._place(name)] if several is None else several)

    def _span(self, match: re.Match[str]) -> Sequence[int]:
        if match["several"]:
            return self.several[match["several"].lower()]
        first, last = self._place(match["first"]), self._place(match["last"] or match["first"])
        size = len(self.names)
        return [(first + more) % size for more in range((last - first) % size + 1)]

    def _place(self, name: str) -> int:
        return self.names.index(name[:3].lower())


WEEK = Cycle.of(
    ["mon", "tue", "wed", "thu", "fri", "sat", "sun"],
    r"(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?s?",
    {"weekday": range(5), "weekend": range(5, 7), "daily": range(7), "every day": range(7)},
)
YEAR = Cycle.of(
    MONTHS,
    MONTH.removesuffix(r"\.?"),
    {"all year round": range(12), "all year": range(12), "year-round": range(12)},
)
ON_WEEKDAYS = re.compile(
    r"(?:\b(?:on|at|during|every|each) )?(?:\b(?:an?|the|all) )?"
    r"\b(?P<name>(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekdays?|weekends?)\b",
    re.IGNORECASE,
)
IN_MONTHS = re.compile(rf"\b(?:in|during) (?P<name>{MONTH})(?!\w|\.?,? \d)", re.IGNORECASE)
"""How a question asks for weekdays, and for a month of no certain year."""
