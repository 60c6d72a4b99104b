"""Removes running headers and footers and page numbers: text at the same place of many pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from trivium.parser.documents.pdf.lines import Line

_EDGE_LINES = 4
"""Number of lines at the top and bottom of a page that may be headers or footers."""
_MIN_PAGES = 3
_MIN_SHARE = 0.04
_STEP = 6.0  # maximum difference in points for two lines to be at the same place
_MIN_NUMBERED = 0.2
_PAGE_NUMBER = re.compile(r"[0-9]{1,5}")
_DIGITS = re.compile(r"\d+")
_ROMAN = re.compile(r"[ivxl]+")

_NUMBERED_PAGE = re.compile(r"page \d+(?: (?:of|/) \d+)?|\d+ (?:of|/) \d+|[–—-] ?\d+ ?[–—-]", re.IGNORECASE)
_ENDS = (".", "!", "?", ":")
"""A line that ends with one of these is text."""

_Key = tuple[str, int, bool]


def without_furniture(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Return the lines of pages, from top to bottom, without those repeated at their edges."""
    if len(pages) < _MIN_PAGES:
        return _without_repeated(pages)
    counts: Counter[_Key] = Counter()
    for lines in pages:
        counts.update(set(_keys(lines[:_EDGE_LINES], top=True)) | set(_keys(lines[-_EDGE_LINES:], top=False)))
    enough = max(_MIN_PAGES, _MIN_SHARE * len(pages))
    trimmed = [_trimmed(lines, counts, enough) for lines in pages]
    # Slides, cards and forms have one or two lines per page that differ in a number. If nothing would remain, the lines
    # are not headers or footers.
    if sum(not lines for lines in trimmed) - sum(not lines for lines in pages) > len(pages) / 2:
        trimmed = [list(lines) for lines in pages]
    return _without_numbers(trimmed)


def _without_repeated(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Handle documents of one or two pages: remove "Page 1 of 2" at their edges, and from the second page the line at
    the same place as on the first, where it may be a title.
    """
    kept: list[list[Line]] = []
    for index, lines in enumerate(pages):
        before = pages[index - 1] if index else ()
        rest = list(lines)
        for edge in (0, -1):
            while len(rest) > 1 and _is_repeated(rest[edge], before[:1] if edge == 0 else before[-1:]):
                del rest[edge]
                before = before[1:] if edge == 0 else before[:-1]
        kept.append(rest)
    return kept


def _is_repeated(line: Line, before: Sequence[Line]) -> bool:
    if len(line.cells) > 1 or line.text.endswith(_ENDS):
        return False
    return _NUMBERED_PAGE.fullmatch(line.text) is not None or any(
        line.text == other.text and abs(line.base - other.base) < _STEP for other in before
    )


def _without_numbers(pages: list[list[Line]]) -> list[list[Line]]:
    """Remove page numbers at varying heights, as below pages that are not full: numbers on a separate line that
    increase by one per page.
    """
    for edge in (0, -1):
        ahead: Counter[int] = Counter()
        for index, lines in enumerate(pages):
            if lines and _PAGE_NUMBER.fullmatch(lines[edge].text):
                ahead[int(lines[edge].text) - index] += 1
        usual, count = ahead.most_common(1)[0] if ahead else (0, 0)
        if count < max(_MIN_PAGES, _MIN_NUMBERED * len(pages)):
            continue
        for index, lines in enumerate(pages):
            if lines and _PAGE_NUMBER.fullmatch(lines[edge].text) and int(lines[edge].text) - index == usual:
                del lines[edge]
    return pages


def _trimmed(lines: Sequence[Line], counts: Counter[_Key], enough: float) -> list[Line]:
    first, last = 0, len(lines)
    for index, key in enumerate(_keys(lines[:_EDGE_LINES], top=True)):
        if _count(counts, key) < enough:
            break
        first = index + 1
    for index, key in enumerate(reversed(_keys(lines[-_EDGE_LINES:], top=False))):
        if _count(counts, key) < enough:
            break
        last = len(lines) - index - 1
    return list(lines[first:last]) if first < last else []


def _count(counts: Counter[_Key], key: _Key) -> int:
    text, place, top = key
    return counts[key] + counts.get((text, place - 1, top), 0) + counts.get((text, place + 1, top), 0)


def _keys(lines: Sequence[Line], *, top: bool) -> list[_Key]:
    keys = []
    for line in lines:
        text = _DIGITS.sub("#", line.text.casefold())
        keys.append(("#" if _ROMAN.fullmatch(text) else text, round(line.base / _STEP), top))
    return keys
