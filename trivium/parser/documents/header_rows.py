"""Detects which of the first rows of a table are column headers, based on the rows below.

Words above numbers are headers. Years, dates and sequence numbers, which otherwise are values, are headers if they are
of one kind, in order, and above values of another kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from trivium.parser.tables import Table, place

Row = Sequence[str]
"""The cells of a row as displayed; empty cells are empty strings."""

Labels = tuple[tuple[str, ...], ...]
"""The headers of each column, outermost first."""

_SAMPLE = 50
_MAX_HEADER = 100  # characters; longer cells are content
_DATE = (
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[-+]\d{2}:?\d{2})?)?"
    r"|\d{1,2}:\d{2}(?::\d{2})?"
)
_NUMBER = re.compile(
    r"[-+(]?\s*(?:[$€£¥]\s*)?[-+]?(?:\d[\d.,'\u00a0\u202f ]*|\.\d+)(?:[eE][-+]?\d+)?\s*[%$€£¥)]?"
    rf"|{_DATE}|true|false|yes|no|n/?a|-|=.+",
    re.IGNORECASE,
)
_MOMENT = re.compile(_DATE)
_YEAR = re.compile(r"(?:1[89]|20)\d{2}(?:\.0)?|2100(?:\.0)?")
_INTEGER = re.compile(r"\d{1,3}")
_FRACTION = re.compile(r"\d[.,]\d|%")
_MAX_STEP = 10
"""Maximum difference of two years that head adjacent columns; prices of a thousand or two differ more."""
_DIGITS_OF_A_YEAR = 4
_FEW_INTEGERS = 4
"""A sequence of this many integers is a header regardless of the values below, because it hardly occurs by chance."""


def is_value(text: str) -> bool:
    """Whether a cell is a number, a date, a time, a formula, or one of a few words that represent a value.

    >>> [is_value(text) for text in ("1,250.50", "12 %", "2024-05-01", "Oslo", "Q1 2024")]
    [True, True, True, False, False]
    """
    if isinstance(text, ShownNumber):
        return True
    return len(text) <= _MAX_HEADER and _NUMBER.fullmatch(text.strip()) is not None


class ShownNumber(str):
    """A number as a spreadsheet shows it, such as ``7.50 kr``."""

    __slots__ = ()

    def strip(self, _characters: str | None = None, /) -> ShownNumber:
        """Return itself: it has no space at its ends."""
        return self


class SpannedRow(list[str]):
    """A row with cells that span columns: ``spans`` contains the first and last column of each. The text of such a cell
    is in its first column.
    """

    __slots__ = ("spans",)

    def __init__(self, cells: Iterable[str], spans: Sequence[tuple[int, int]]) -> None:
        super().__init__(cells)
        self.spans = spans


@dataclass(frozen=True, slots=True)
class Head:
    """The number of header rows, and the headers of each column."""

    rows: int
    labels: Labels


def head_of(rows: Sequence[Row], *, headed: bool) -> Head | None:
    """Return the header of a table, of one or two rows; None if it has none. ``headed``: assume a header unless that is
    clearly wrong.

    >>> head_of([("", "Sales", ""), ("Town", "Q1", "Q2"), ("Oslo", "1", "2")], headed=False).labels
    (('Town',), ('Sales', 'Q1'), ('Sales', 'Q2'))
    """
    labels = _two_rows(rows)
    if labels is not None:
        return Head(2, labels)
    first = header_of(rows, headed=headed)
    return (
        None if first is None else Head(1, tuple((name,) if (name := cell.strip()) else () for cell in first))
    )


def head_rows(table: Table) -> set[int]:
    """Return the numbers of the header rows of a table with merged cells."""
    rows = []
    for placed in place(table.rows[:_SAMPLE]):
        row = SpannedRow(
            [""] * (placed[-1].last + 1 if placed else 0), [(one.first, one.last) for one in placed]
        )
        for one in placed:
            row[one.first] = one.cell.text
        rows.append(row)
    head = head_of(rows, headed=False)
    return set() if head is None else set(range(head.rows))


def _two_rows(rows: Sequence[Row]) -> Labels | None:
    """Return the column headers given by two rows, of which the first names groups of columns: merged cells, or cells
    followed by empty ones as in a sheet saved as CSV. None if they are not headers.
    """
    if len(rows) < 3:
        return None
    spans = [span for span in rows[0].spans if span[1] > span[0]] if isinstance(rows[0], SpannedRow) else []
    merged = bool(spans)
    width = max(len(rows[0]), len(rows[1]), *(last + 1 for _, last in spans), 1)
    top, second = ([*map(str.strip, row), *[""] * (width - len(row))] for row in rows[:2])
    below = rows[2:]
    columns = [[row[at].strip() for row in below if at < len(row) and row[at].strip()] for at in range(width)]
    spans = spans or _groups(top, second)
    spans = [(first, last) for first, last in spans if top[first] and any(second[first + 1 : last + 1])]
    only = (
        spans[0] if len(spans) == 1 and not any(top[: spans[0][0]]) else None
    )  # no column before it is named
    if only and all(only[0] <= at <= only[1] for at in range(width) if second[at]):
        return None  # a title
    inner = [at for first, last in spans for at in range(first, last + 1)]
    if not spans or any(len(name) > _MAX_HEADER for name in (*top, *second)):
        return None
    if any(is_value(name) and not _YEAR.fullmatch(name) for name in top if name):
        return None
    for first, last in spans:
        names = [name for name in second[first : last + 1] if name]
        values = [at for at in range(first, last + 1) if is_value(second[at])]
        if len({*names}) < len(names) or (values and len(values) < len(names)):
            return None
        if values and not _are_labels(second, values, columns, below, headed=True, typed=False):
            return None
    typed = all(all(map(is_value, columns[at])) for at in inner) and any(columns[at] for at in inner)
    others = [second[at] for at in range(width) if at not in inner and second[at] and second[at] != top[at]]
    if any(map(is_value, others)) or (not typed and (others or not merged)):
        return None
    outer = list(top)
    for first, last in spans:
        outer[first : last + 1] = [top[first]] * (last + 1 - first)
    return tuple(
        tuple(dict.fromkeys(filter(None, (above, name)))) for above, name in zip(outer, second, strict=True)
    )


def _groups(top: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    """Return the ranges of cells followed by empty ones, if all of these have a cell below."""
    spans: list[tuple[int, int]] = []
    for at, name in enumerate(top):
        if name:
            spans.append((at, at))
        elif spans and second[at] and second[spans[-1][0]]:
            spans[-1] = (spans[-1][0], at)
    return [span for span in spans if span[1] > span[0]]


def header_of(rows: Sequence[Row], *, headed: bool) -> Row | None:
    """Return the first row if it names the columns, judging by the rows below it; else None. ``headed``: assume that it
    does unless that is clearly wrong.

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
    # Text in all columns: tables of three or more have headers, two columns may be names and values. A header does not
    # recur as a value.
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
    """Whether the cells of a first row that look like values (``values``: their columns) name the columns below them.
    ``typed``: another cell of the row does, a word above numbers.
    """
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
    """Whether cells count upwards from 0 or 1."""
    first = labels[0] if labels else ""
    return first in ("0", "1") and list(labels) == [
        str(number) for number in range(int(first), int(first) + len(labels))
    ]


def _have_fractions(cells: Sequence[str]) -> bool:
    return all(map(_FRACTION.search, cells))


def _are_of_other_size(cells: Sequence[str]) -> bool:
    """Whether there are several cells, all numeric, and none has as many digits as a year."""
    return len(cells) > 1 and all(
        is_value(cell) and sum(map(str.isdigit, cell)) != _DIGITS_OF_A_YEAR for cell in cells
    )
