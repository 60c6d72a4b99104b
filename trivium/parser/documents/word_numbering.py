"""Automatic numbers of paragraphs and headings in a Word file: "2.1", "(iv)", "Article 3"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from trivium.parser.documents.office import integer
from trivium.parser.documents.word_styles import Styles, W, is_on, value
from trivium.parser.list_numbers import MAX_ROMAN, roman

LEVELS = 9
_PLACE = re.compile(r"%([1-9])")
_MAX_LABEL = 100  # characters
_LETTERS = 26
_MAX_REPEATS = 20  # of a letter: after Z comes AA, after ZZ comes AAA


@dataclass(slots=True)
class _Level:
    start: int = 1
    format: str = "decimal"
    text: str = ""
    is_legal: bool = False
    style: str | None = None
    restarts_after: int | None = None  # the level whose numbers restart it, from 1; 0: none


class _List:
    """A list definition with the current numbers of its levels, None before the first."""

    def __init__(self, element: Any) -> None:
        self.levels = _levels(element)
        self.numbers: list[int | None] = [None] * LEVELS
        self.style = value(element, "numStyleLink")  # it is defined where this style is


class Numbering:
    """Counts the paragraphs of a document, which must be asked for in their order."""

    def __init__(self, root: Any | None, styles: Styles) -> None:
        """``root`` is the ``<w:numbering>`` element, None if there is none."""
        self._styles = styles
        self._lists: dict[str, _List] = {}
        self._of_number: dict[str, tuple[str, dict[int, _Level], dict[int, int]]] = {}
        for element in () if root is None else root.iterchildren(f"{W}abstractNum"):
            self._lists[element.get(f"{W}abstractNumId") or ""] = _List(element)
        for element in () if root is None else root.iterchildren(f"{W}num"):
            levels: dict[int, _Level] = {}
            starts: dict[int, int] = {}
            for override in element.iterchildren(f"{W}lvlOverride"):
                at = integer(override.get(f"{W}ilvl"), 0)
                levels |= _levels(override)
                start = value(override, "startOverride")
                if start is not None:
                    starts[at] = integer(start, 1)
            number = element.get(f"{W}numId") or ""
            self._of_number[number] = value(element, "abstractNumId") or "", levels, starts

    def label(self, properties: Any | None) -> str:
        """Count a paragraph with these properties (``<w:pPr>``, or None) and return its number as shown; empty if it
        has none, or a bullet.
        """
        number, level, style = self._styles.numbering(properties)
        found = self._of_number.get(number or "")
        if found is None:
            return ""
        key, own, starts = found
        linked = self._lists.get(key)
        if linked is not None and linked.style is not None:
            key = self._of_number.get(self._styles.number_of_style(linked.style) or "", (key,))[0]
        of_list = self._lists.get(key)
        if of_list is None:
            return ""
        levels = of_list.levels | own
        if level is None:
            level = next((at for at, one in levels.items() if style is not None and one.style == style), 0)
        if level not in levels:
            return ""
        self._count(of_list.numbers, level, levels, starts)
        return _shown(of_list.numbers, level, levels)

    @staticmethod
    def _count(
        numbers: list[int | None], level: int, levels: dict[int, _Level], starts: dict[int, int]
    ) -> None:
        number = numbers[level]
        if level in starts:
            numbers[level] = starts.pop(level)  # once
        else:
            numbers[level] = levels[level].start if number is None else number + 1
        for below in range(level + 1, LEVELS):
            after = levels[below].restarts_after if below in levels else None
            if after is None or level < after:
                numbers[below] = None


def _levels(parent: Any) -> dict[int, _Level]:
    found = {}
    for element in parent.iterchildren(f"{W}lvl"):
        restarts = value(element, "lvlRestart")
        found[integer(element.get(f"{W}ilvl"), 0)] = _Level(
            start=integer(value(element, "start"), 1),
            format=value(element, "numFmt") or "decimal",
            text=value(element, "lvlText") or "",
            is_legal=is_on(element, "isLgl"),
            style=value(element, "pStyle"),
            restarts_after=None if restarts is None else integer(restarts, 0),
        )
    return {at: level for at, level in found.items() if 0 <= at < LEVELS}


def _shown(numbers: list[int | None], level: int, levels: dict[int, _Level]) -> str:
    own = levels[level]
    if own.format in ("bullet", "none") and not _PLACE.search(own.text):
        return ""

    def number(match: re.Match[str]) -> str:
        at = int(match[1]) - 1
        of = levels.get(at, _Level())
        current = numbers[at]
        return formatted(of.start if current is None else current, "decimal" if own.is_legal else of.format)

    return " ".join(_PLACE.sub(number, own.text).split())[:_MAX_LABEL]


def formatted(number: int, format: str) -> str:
    """Format a number as Word and PowerPoint do. Formats that are not known are decimal.

    >>> [formatted(4, name) for name in ("decimal", "lowerRoman", "upperLetter", "ordinal", "decimalZero")]
    ['4', 'iv', 'D', '4th', '04']
    """
    kind = format.lower()
    if "roman" in kind and 0 < number < MAX_ROMAN:
        shown = roman(number).upper()
    elif "letter" in kind and number > 0:
        shown = chr(ord("A") + (number - 1) % _LETTERS) * min((number - 1) // _LETTERS + 1, _MAX_REPEATS)
    elif kind == "ordinal":
        ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
        return f"{number}{ending}"
    elif kind == "none":
        return ""
    else:
        return f"{number:02}" if kind == "decimalzero" else str(number)
    return shown.lower() if kind.startswith("lower") else shown
