"""Which of the first rows of a table name its columns, judged by what is below them.

Words above numbers are names. So are years, dates and the numbers of a sequence, which are values elsewhere: where they
are of one kind, in order, and what is below them is of another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

Row = Sequence[str]
"""The cells of a row as shown, empty ones as empty texts."""

_MAX_HEADER = 100  # characters of a header; what is longer is content
_DATE = (
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[-+]\d{2}:?\d{2})?)?"
    r"|\d{1,2}:\d{2}(?::\d{2})?"
)
_NUMBER = re.compile(
    r"[-+(]?\s*(?:[$€£¥]\s*)?[-+]?(?:\d[\d.,'\u00a0\u202f ]*|\.\d+)(?:[eE][-+]?\d+)?\s*[%$€£¥)]?"
    rf"|{_DATE}|true|false|yes|no|n/?a|-",
    re.IGNORECASE,
)
_MOMENT = re.compile(_DATE)
_YEAR = re.compile(r"(?:1[89]|20)\d{2}(?:\.0)?|2100(?:\.0)?")
_INTEGER = re.compile(r"\d{1,3}")
_FRACTION = re.compile(r"\d[.,]\d|%")
_MAX_STEP = 10
"""Between two years that are the heads of neighbouring columns; prices of a thousand or two are further apart."""
_DIGITS_OF_A_YEAR = 4
_FEW_INTEGERS = 4
"""Numbers in a row that are a sequence by chance hardly ever, whatever is below them."""


def is_value(text: str) -> bool:
    """Whether a cell is a number, a date, a time, or one of a few words that stand for a value.

    >>> [is_value(text) for text in ("1,250.50", "12 %", "2024-05-01", "Oslo", "Q1 2024")]
    [True, True, True, False, False]
    """
    return len(text) <= _MAX_HEADER and _NUMBER.fullmatch(text.strip()) is not None


def header_of(rows: Sequence[Row], *, headed: bool) -> Row | None:
    """The first of the rows if it names the columns, judged by what is below it; None if it does not. ``headed``: it does
    unless that is plainly wrong.

    >>> header_of([("Country", "Population"), ("Norway", "5.5"), ("Sweden", "10.6")], headed=False)
    ('Country', 'Population')
    >>> header_of([("Country", "2019", "2020"), ("Norway", "5.3", "5.4")], headed=False)
    ('Country', '2019', '2020')
    >>> header_of([("Norway", "5.5"), ("Sweden", "10.6")], headed=True) is None
    True
    """
    if len(rows) < 2:
        return None
    first, below = rows[0], rows[1:]
    names = [cell.strip() for cell in first]
    filled = [name for name in names if name]
    width = max(sum(1 for cell in row if cell.strip()) for row in below)
    if not filled or len(filled) < min(width, 2) or len(filled) * 2 < width:
        return None
    if any(len(name) > _MAX_HEADER for name in filled) or len({*filled}) < len(filled):
        return None
    columns = [
        [row[at].strip() for row in below if at < len(row) and row[at].strip()] for at in range(len(names))
    ]
    words = [
        (name, column)
        for name, column in zip(names, columns, strict=True)
        if name and column and not is_value(name)
    ]
    typed = any(all(map(is_value, column)) for _, column in words)
    values = [at for at, name in enumerate(names) if name and is_value(name)]
    if values:
        named = not names[0] or not is_value(names[0])
        return (
            first
            if named and _are_labels(names, values, columns, below, headed=headed, typed=typed)
            else None
        )
    if typed or headed:
        return first
    # Text in all columns: three or more have headers, two may be names and values. A value that occurs again is none.
    recurs = any(name in column for name, column in words)
    return first if len(filled) > 2 and not recurs else None


def _are_labels(
    names: Sequence[str],
    values: Sequence[int],
    columns: Sequence[Sequence[str]],
    below: Sequence[Row],
    *,
    headed: bool,
    typed: bool,
) -> bool:
    """Whether the cells of a first row that are values (``values``: their columns) name the columns below them.
    ``typed``: another cell of the row does, a word above numbers."""
    labels = [names[at] for at in values]
    cells = [cell for at in values for cell in columns[at]]
    if not cells:
        return False
    if all(map(_MOMENT.fullmatch, labels)):
        several = len(labels) > 1 or typed
        return not any(map(_MOMENT.fullmatch, cells)) and (several or all(map(is_value, cells)))
    if all(map(_YEAR.fullmatch, labels)):
        steps = {int(after[:4]) - int(before[:4]) for before, after in pairwise(labels)}
        if all(map(_YEAR.fullmatch, cells)) or not (min(steps, default=1) > 0 or max(steps) < 0):
            return False
        near = max(map(abs, steps), default=_MAX_STEP + 1) <= _MAX_STEP or (
            len(labels) > 2 and len(steps) == 1
        )
        return typed or near or _have_fractions(cells) or (headed and _are_of_other_size(cells))
    if all(map(_INTEGER.fullmatch, labels)):
        if not _count(labels) or any(
            _count([row[at].strip() for at in values if at < len(row)]) for row in below
        ):
            return False
        return len(labels) >= _FEW_INTEGERS or (
            len(labels) > 1 and (typed or not names[0] or _have_fractions(cells))
        )
    return False


def _count(labels: Sequence[str]) -> bool:
    """Whether cells count one by one, from 0 or 1."""
    first = labels[0] if labels else ""
    return first in ("0", "1") and list(labels) == [
        str(number) for number in range(int(first), int(first) + len(labels))
    ]


def _have_fractions(cells: Sequence[str]) -> bool:
    return all(map(_FRACTION.search, cells))


def _are_of_other_size(cells: Sequence[str]) -> bool:
    """Whether cells are numbers, several, and none has as many digits as a year."""
    return len(cells) > 1 and all(
        is_value(cell) and sum(map(str.isdigit, cell)) != _DIGITS_OF_A_YEAR for cell in cells
    )
