"""Rows of a table by what one column says: a day, weekdays or months, or that there is no price."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from trivium.answering.comparing_words import PRICE
from trivium.answering.recurring_days import IN_MONTHS, ON_WEEKDAYS, WEEK, YEAR, Cycle
from trivium.answering.table_dates import LASTING, PERIOD, Day, days_of, within
from trivium.answering.table_rows import Row, Table, numbers

_NOTED = "created updated changed"
"""Heads of days that are about the row, and are meant only if they are named."""
_NOT_THEN = "closed closing except off rest"
"""Heads of weekdays or months in which something is not."""


class Chosen(NamedTuple):
    """The head of a column, and the rows of which it says what is asked for."""

    head: str
    rows: list[Row]


def columns_of_days(question: str, table: Table) -> Iterator[tuple[re.Match[str], Chosen | None]]:
    """Yield the day, the weekdays and the month that a question asks for, each as it says them, if a column has any, with
    the rows of the column that is meant; None if that is not certain.
    """
    period = PERIOD.search(question)
    if period is not None and (
        dated := {head: days for head, cells in _cells(table).items() if (days := days_of(cells))}
    ):
        yield period, _by_date(period, table, dated)
        question = without(period)
    for cycle, asks in (WEEK, ON_WEEKDAYS), (YEAR, IN_MONTHS):
        found = list(asks.finditer(question))
        if not found:
            continue
        columns = {
            head: named
            for head, cells in _cells(table).items()
            if any(named := [cycle.named_in(cell) for cell in cells])
        }
        if columns:
            yield found[0], _by_cycle(found[0], cycle, table, columns) if len(found) == 1 else None
            question = without(found[0])


def rows_without_price(table: Table, noun: frozenset[str]) -> list[Row] | None:
    """Return the rows of which every price is 0; None if a price is no number, or of what has another heading than the
    ``noun`` that is asked for.
    """
    if noun.isdisjoint(table.names):
        return None
    prices = [column for head, column in table.filled.items() if table.is_about(head, PRICE)]
    read = [numbers([cell for _, cell in column]) for column in prices]
    if not prices or [] in read:
        return None
    dear: dict[Row, bool] = {}
    for column, values in zip(prices, read, strict=True):
        for (row, _), value in zip(column, values, strict=True):
            dear[row] = dear.get(row, False) or value != 0
    return [row for row, costs in dear.items() if not costs]


def only(columns: Mapping[str, object], *ways: Callable[[str], bool]) -> str | None:
    """Return the head of the only column that is meant in the first way in which any is; None if there are several."""
    for way in ways:
        fitting = [head for head in columns if way(head)]
        if fitting:
            return fitting[0] if len(fitting) == 1 else None
    return None


def without(match: re.Match[str]) -> str:
    """Return a text without what was found in it."""
    return f"{match.string[: match.start()]}{match.string[match.end() :]}"


def _cells(table: Table) -> dict[str, list[str]]:
    return {head: [cell for _, cell in column] for head, column in table.filled.items()}


def _by_date(period: re.Match[str], table: Table, columns: Mapping[str, Sequence[Day]]) -> Chosen | None:
    """Choose by the only column of days or the one that the question names."""
    head = only(
        columns,
        lambda head: table.is_about(head, without(period)),
        lambda head: not table.is_about(head, f"{LASTING} {_NOTED}"),
    )
    lasts = head and table.is_about(head, LASTING) and not table.is_about(head, period["when"])
    if head is None or lasts:
        return None
    if min(columns[head])[0] == 0 and period["year"] not in (None, *table.above):
        return None  # nothing tells the year
    rows = zip(table.filled[head], columns[head], strict=True)
    return Chosen(head, [row for (row, _), day in rows if within(period, day)])


def _by_cycle(
    asked: re.Match[str], cycle: Cycle, table: Table, columns: Mapping[str, Sequence[frozenset[int] | None]]
) -> Chosen | None:
    """Choose by the column of weekdays or months that the question names, or the only one that names what is asked for,
    if all its cells are understood.
    """
    wanted = cycle.asked(asked["name"])
    having = {
        head: days
        for head, days in columns.items()
        if any(one and not one.isdisjoint(wanted) for one in days)
    }
    head = only(columns, lambda head: table.is_about(head, without(asked)))
    head = head or only(having, lambda head: not table.is_about(head, _NOT_THEN))
    if head is None or None in columns[head]:
        return None
    if table.is_about(without(asked), _NOT_THEN) != table.is_about(head, _NOT_THEN):
        return None  # "Which shops are closed on Sundays?"
    rows = zip(table.filled[head], columns[head], strict=True)
    return Chosen(head, [row for (row, _), named in rows if named and not named.isdisjoint(wanted)])
