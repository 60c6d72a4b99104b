"""Values that texts state (amounts, times, days, shares), and whether two texts state different ones of the same kind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trivium.answering.comparing_words import UNITS
from trivium.answering.table_dates import MONTHS
from trivium.answering.table_rows import NUMBER, plain_number
from trivium.parser.tables import cells_of
from trivium.text.languages import ENGLISH, function_words
from trivium.text.normalise import words

CHANGED = re.compile(
    r"\b(?:from\b.{1,40}\bto\b|instead of|no longer|(?:rise|raise|lower|increase|reduce|replace)[sd]?\b|goes (?:up|down)"
    r"|,\s+not\s+[€$£]?\d|(?:is|are) now\b|(?:it|they|this) (?:was|were)\b|previously|formerly"
    r"|not\b.{1,40}\bas (?:printed|stated|written))",
    re.IGNORECASE,
)
"""How a text says that something else was true before."""
_FROM_TO = re.compile(r"\bfrom\b.{1,40}\bto\b", re.IGNORECASE)
_VALUE = re.compile(
    r"(?<![\w.,:/#§])(?<![^\W\d_][-–])"
    r"(?:(?P<time>[0-2]?\d:[0-5]\d)|(?P<currency>[€$£]|EUR|USD|GBP|CHF)? ?(?!0\d)"
    rf"(?P<number>\d{{1,3}}(?: \d{{3}})+(?!\d)|{NUMBER.pattern}))(?![-.,:/]?\d)"
    r"(?:[ \u00a0\u202f-]?(?P<unit>[%€$£]|[^\W\d_][\w²³·/]{0,20})(?: (?P<more>[^\W\d_]{2,20}))?)?"
    r"|\b(?P<setting>[a-z]{2,12}):(?P<level>\d{1,6})\b"
)
_PHONE = re.compile(r"(?<!\w)\+?0\d{1,5}(?:[ /-]\d{1,6})+")
_NUMBERING = re.compile(r"\A\s*(?:\d{1,3}(?:\.\d{1,3})+\.?|\(?\w{1,2}[.)])\s")
_IN_BRACKETS = re.compile(r"\(([^()]{1,20})\)")
_YEAR = re.compile(r"(?:19|20)\d\d")
_MONTH = re.compile(r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\b")
_RELATIVE = re.compile(r"[^.,;\d]{0,30}\b(?:less|more|extra|cheaper|dearer)\b", re.IGNORECASE)
"""What follows a value that is only a difference."""
_EACH = frozenset(["a", "an", "per", "each", "every"])
_BETWEEN = _EACH | frozenset(
    words("to and or not from instead of no longer until rather than by in version was")
)
"""Words between two values of one unit."""
_MONEY = frozenset(
    ["eur", "usd", "gbp", "chf", "price:", "cost:", "fee:", "charge:", "rent:", "tariff:", "fare:"]
)
"""Kinds of amounts of money: currencies, and heads of columns without one."""
_FUNCTION_WORDS = function_words(ENGLISH)
_SHORT_UNITS = {"s": "second", "sec": "second", "hr": "h", "d": "day", "chf": "chf"}


class Value(NamedTuple):
    """A value as a number, a time or a day, and the words that tell its kind: its unit, or the head of its column."""

    value: str
    kinds: frozenset[str]


def values_of(text: str) -> list[Value]:
    """Return the values of a sentence or of a row of a table, of columns for several years those of the last one; years,
    codes and telephone numbers are none.

    >>> [(one.value, *one.kinds) for one in values_of("The price goes up from 32 to 36 euros at 7:45.")]
    [('32', 'eur'), ('36', 'eur'), ('7:45', 'time')]
    >>> [(one.value, *sorted(one.kinds)) for one in values_of("Course: Basic; Price (EUR): 420; Duration: 5 days")]
    [('420', 'eur', 'price:'), ('5', 'day', 'duration:')]
    """
    cells = [cell for line in text.splitlines() for cell in cells_of(line)]
    if not any(head for head, _ in cells):
        cells = [("", _NUMBERING.sub("", text, count=1))]
    years = [max(_YEAR.findall(head), default="") for head, _ in cells]
    cells = [cell for cell, year in zip(cells, years, strict=True) if year in ("", max(years))]
    common = [cell for head, cell in cells if words(head) == ["unit"] and len(words(cell)) == 1]
    return [
        Value(value, kinds | _of_head(head) | frozenset(_kinds(" ".join(common))))
        for head, cell in cells
        for value, kinds in _in_sentence(cell)
        if kinds or head
    ]


def differ(one: str, other: str, days: bool) -> bool:
    """Whether two texts that speak of the same thing state different values of one kind: none in common, or one that the
    other says to be no longer true. Days of the year count only with ``days``.
    """
    first, second = _by_kind(one), _by_kind(other)
    return any(
        set(first[kind]).isdisjoint(second[kind])
        or _changed(one, first[kind], second[kind])
        or _changed(other, second[kind], first[kind])
        for kind in first.keys() & second.keys()
        if kind != "date" or (days and not _same_month(one, first[kind], other, second[kind]))
    )


def _same_month(one: str, days: Sequence[str], other: str, other_days: Sequence[str]) -> bool:
    """Whether one of two texts names a month of the other's days and no day of it: "January 2006", "19 January 2006"."""
    texts = (one, days, other_days), (other, other_days, days)
    return any(
        {word[:3].lower() for word in _MONTH.findall(text)}.difference(day[-3:] for day in own)
        & {day[-3:] for day in others}
        for text, own, others in texts
    )


def _changed(text: str, values: Sequence[str], others: Sequence[str]) -> bool:
    """Whether a text says that a value is no longer true, and others have it and not the new one."""
    new = values[-1 if _FROM_TO.search(text) else 0]
    return new not in others and not set(values).isdisjoint(others) and CHANGED.search(text) is not None


def _by_kind(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for value, kinds in values_of(text):
        for kind in [*kinds, *(["money"] if kinds & _MONEY else [])]:
            found.setdefault(kind, []).append(value)
    return found


def _in_sentence(text: str) -> Iterator[Value]:
    text = _PHONE.sub("", text)
    matches = list(_VALUE.finditer(text))
    found = [_value(match) for match in matches]
    for order in (range(len(found) - 1, 0, -1), range(len(found))):
        # "from 32 to 36 euros", "20 minutes instead of 25"
        for place in order:
            for here, there in ((place - 1, place), (place, place - 1)):
                if place and not found[here].kinds and found[there].kinds:
                    gap = text[matches[place - 1].end() : matches[place].start()]
                    if _BETWEEN.issuperset(words(f"{matches[place - 1]['unit'] or ''} {gap}")):
                        found[here] = Value(found[here].value, found[there].kinds)
    for match, value in zip(matches, found, strict=True):
        is_year = not value.kinds and _YEAR.fullmatch(match[0].split()[0]) is not None
        if not (is_year or _RELATIVE.match(text, match.end())):
            yield value


def _value(match: re.Match[str]) -> Value:
    if match["time"]:
        return Value(match["time"].lstrip("0"), frozenset(["time"]))
    if match["setting"]:
        return Value(match["level"], frozenset([match["setting"]]))
    number = f"{float(plain_number(match['number'].replace(' ', '')).lstrip('-')):g}"
    unit, more = match["unit"] or "", match["more"] or ""
    if unit[:3].lower() in MONTHS and len(unit) > 2 and (unit[0].isupper()):
        return Value(f"{number} {unit[:3].lower()}", frozenset(["date"]))
    each = [f"per {more.lower()}"] if unit.lower() in _EACH and more else []  # "36 a year"
    if match["currency"]:
        return Value(number, frozenset([*_kinds(match["currency"]), *each]))
    is_year = _YEAR.fullmatch(match["number"]) is not None
    kinds = each if each or unit.lower() in _FUNCTION_WORDS or is_year else _kinds(unit)
    if kinds and not each and unit.lower() not in UNITS and more not in _BETWEEN:
        kinds += _kinds(more)
    return Value(number, frozenset(kinds))


def _of_head(head: str) -> frozenset[str]:
    """Return the units of a head, and its other words with a colon: "Nodes: 5" is no number of nodes in a sentence."""
    units = [*UNITS.values(), *_kinds(" ".join(_IN_BRACKETS.findall(head)))]
    return frozenset(kind if kind in units else f"{kind}:" for kind in _kinds(head))


def _kinds(text: str) -> list[str]:
    """Return the words of a unit or a head, those of units as one word for each."""
    found = re.findall(r"[€$£%]|[^\W\d_][\w²³·]{0,20}", text.lower())
    return [
        UNITS.get(word)
        or _SHORT_UNITS.get(word)
        or (word[:-1] if word.endswith("s") and len(word) > 3 else word)
        for word in found
        if word not in _FUNCTION_WORDS or word in UNITS or word in _SHORT_UNITS
    ]
