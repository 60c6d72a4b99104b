"""Days in the cells of tables ("2026-03-14", "14 March 2026", "14.03.2026"), and the month or day that a question in
English asks for ("in March", "after 14 May 2026").
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from trivium.answering.asked_kind import MONTH

MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_YEAR = r"(?:19|20)\d\d"
_CELL = re.compile(
    rf"(?P<year>{_YEAR})-(?P<month>\d\d)-(?P<day>\d\d)(?!\d)"
    rf"|(?<!\d)(?P<day_of>\d{{1,2}})(?:st|nd|rd|th)?\.? (?P<name>{MONTH})(?!\w),?(?: (?P<named>{_YEAR}))?"
    rf"|(?<![\d.])(?P<first>\d{{1,2}})\.(?P<second>\d{{1,2}})\.(?P<third>{_YEAR})",
    re.IGNORECASE,
)
PERIOD = re.compile(
    r"\b(?P<when>in|on|of|during|after|before|since|from|until)\s+(?:(?P<day>\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?)?"
    rf"(?P<name>{MONTH})(?!\w)(?:,?\s+(?P<year>{_YEAR})\b)?",
    re.IGNORECASE,
)
"""How a question asks for a month or a day."""
LASTING = "valid since from until"
"""Heads of days that begin or end a time in which other days are, too."""

Day = tuple[int, int, int]
"""Year (0 if it is not said), month and day."""


def day_of(cell: str) -> Day | None:
    """Return the only day that a cell names; None if it names none or several.

    >>> day_of("2026-03-14"), day_of("Sat, 14 March"), day_of("1 May to 30 May")
    ((2026, 3, 14), (0, 3, 14), None)
    """
    found = list(_CELL.finditer(cell))
    if len(found) != 1:
        return None
    one = found[0]
    if one["name"]:
        return int(one["named"] or 0), _month(one["name"]), int(one["day_of"])
    year, month = int(one["year"] or one["third"]), int(one["month"] or one["second"])
    return (year, month, int(one["day"] or one["first"])) if 1 <= month <= len(MONTHS) else None


def days_of(cells: Sequence[str]) -> list[Day]:
    """Return the days of a column; none if a cell does not name exactly one."""
    days = [day for cell in cells if (day := day_of(cell))]
    return days if len(days) == len(cells) else []


def within(period: re.Match[str], day: Day) -> bool:
    """Whether a day is in the period that a question asks for. What is not said of the year is taken to be alike."""
    year, month = int(period["year"] or day[0]) if day[0] else 0, _month(period["name"])
    first, last = (year, month, int(period["day"] or 1)), (year, month, int(period["day"] or 31))
    when = period["when"].lower()
    if when == "after":
        return day > last
    if when == "before":
        return day < first
    return (when == "until" or first <= day) and (when in ("since", "from") or day <= last)


def _month(name: str) -> int:
    return 1 + MONTHS.index(name[:3].lower())
