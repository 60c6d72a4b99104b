"""Counts, totals and averages over the rows of a table ("How many boats have more than 4 berths?", "What do all the
repairs cost together?"), and the rows that a question asks for by conditions.

A value is computed only if the conditions of the question are certain (:mod:`trivium.answering.table_conditions`), if one
column fits, its numbers have one unit, and the whole table was read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from trivium.answering.comparing_words import AMBIGUOUS, PRICE
from trivium.answering.in_force import date_of
from trivium.answering.passages import NumberedPassage
from trivium.answering.table_conditions import (
    OF_COMPUTING,
    Reading,
    asks_for_rows,
    compares_numbers,
    selects_rows,
)
from trivium.answering.table_rows import (
    MOST_ROWS,
    NUMBER,
    Column,
    Row,
    Table,
    is_whole,
    numbers,
    plain_number,
    rows_of,
    tables_of,
)
from trivium.graph.protocols import GraphReader
from trivium.text.normalise import terms, words

Kind = Literal["average", "total", "count", "rows"]
_KINDS: dict[Kind, re.Pattern[str]] = {
    "average": re.compile(r"(?<!\ban )\b(?:on average|average|the mean)\b"),
    "total": re.compile(
        r"\b(?:in total|in all|all in all|altogether|together|combined|sum of|adds? up to|total)\b"
    ),
    "count": re.compile(r"\b(?:how many|number of|count)\b"),
}
_FURTHER = re.compile(
    r",? and (?:what|how (?:much|many|long|often)|when|where)\b[^,?]{0,60}\b(?:they|them|it|each)\b[^,?]{0,60}\??\Z",
    re.IGNORECASE,
)
"""What is asked besides of rows that are chosen ("and what do they cost?"): their cells say it."""
_SAID = re.compile(r"\b(?:totals?|in all|together|combined|sum|average|mean)\b")
_QUANTITY = re.compile(r"(?:[€$£¥] ?|[A-Z]{3} )?[-−+]?\d[\d.,\u00a0\u202f’]*(?: ?[^\d\s;][^\d;]{0,20})?")
_NO_VALUE = frozenset(words("which who whom whose where when why"))
"""Beginnings of questions that ask for rows, or for something else than a value."""
_NO_TOTAL = re.compile(r"[%°]")
_NO_AMOUNTS = frozenset(
    terms(
        "number no nr id code phone telephone tel fax mobile extension zip postcode house floor page position rank"
        " version year built founded date"
    )
)
"""Heads of columns of which numbers are names: they are not added up."""
_OF_UNITS = frozenset(terms("unit currency per"))
_MONEY = re.compile(r"\b(?:costs?|prices?|pay|spend|spent|paid|expenses?|charges?|fees?|how much)\b")


@dataclass(frozen=True, slots=True)
class Computed:
    """What was computed, in words (empty if rows are asked for), and the rows that it was computed from. ``read`` are the
    passages of the whole table.
    """

    text: str
    rows: Sequence[Row]
    read: Sequence[NumberedPassage]


def kind_of(question: str) -> Kind | None:
    """Return which value a question in English asks to compute."""
    asked = question.lower()
    return next((kind for kind, said in _KINDS.items() if said.search(asked)), None)


def to_compute(question: str, is_row: bool, text: str) -> bool:
    """Whether a question asks for what a row alone does not say: a total or average, or rows by a number."""
    kind = kind_of(question)
    compares = compares_numbers(question) and (kind is not None or asks_for_rows(question))
    not_said = kind in ("total", "average") and _SAID.search(text.lower()) is None
    return is_row and (compares or not_said)


def has_what_to_compute(question: str, passage: NumberedPassage) -> bool:
    """Whether a passage has rows of a table, and all that a question asks to count or to add up, or as its first column
    what the question asks to select.
    """
    if kind_of(question) is None:
        tables = tables_of([passage]) if selects_rows(question) else []
        return any(Reading.of(question, table).names_rows() for table in tables)
    if not rows_of(passage):
        return False
    asked = frozenset(passage.analyzer.question_terms(question)) - OF_COMPUTING
    return bool(asked) and asked <= passage.said


def computed(question: str, offered: Sequence[NumberedPassage], store: GraphReader) -> Computed | None:
    """Return what a question asks to compute, or else the rows that it asks for; None if it asks for nothing of the kind,
    or if it is not certain. Of several tables that give it, the one of the newest document does.
    """
    if "?" in question.strip().rstrip("?!. "):
        return None
    kind = kind_of(question)
    if kind is None or (kind in ("total", "average") and not _NO_VALUE.isdisjoint(words(question)[:1])):
        kind = "rows"
    if kind == "rows":
        question = _FURTHER.sub("", question)
        if not asks_for_rows(question):
            return None
    tables = tables_of(offered)
    found: list[tuple[bool, tuple[int, ...], Table, Computed]] = []
    for table in tables:
        if any(table.shares_heads(other) for other in tables if other is not table):
            continue  # rows without their first cell look like those of a table beside
        reading = Reading.of(question, table)
        one = _result(question, reading, kind)
        if one is not None and is_whole(table.rows, offered, store):
            meant = bool(reading.used) and reading.names_rows()
            found.append((meant, date_of(one.read[0]), table, one))
    found = [one for one in found if one[0]] or found
    if len({tuple(table.columns) for _, _, table, _ in found}) != 1:
        return None  # tables about other things
    (_, newest, _, one), *others = sorted(found, key=lambda one: one[1], reverse=True)
    return one if not others or newest > others[0][1] else None


def _result(question: str, reading: Reading, kind: Kind) -> Computed | None:
    rows = reading.rows(question, chosen_only=kind == "rows")
    table = reading.table
    every = len(table.rows)
    if rows is None:
        return None
    if kind == "rows":
        fits = 0 < len(rows) < min(every, MOST_ROWS + 1) and reading.is_explained(chosen_only=True)
        return Computed("", rows, table.read) if fits else None
    column = None
    if kind != "count":
        column = _amounts(question, reading, rows, kind)
        counts = kind == "total" and _KINDS["count"].search(question.lower()) is not None
        if column is None and not counts:  # "How many are there altogether?"
            return None
    if not reading.is_explained(chosen_only=False):
        return None
    if column is None:
        named = [row.cells[0][1] for row in rows]
        if len(set(named)) < len(named):
            return None  # the same thing in several rows
        return Computed(f"{len(rows)} (counted: {len(rows)} of {every} rows)", rows, table.read)
    head, amounts = column
    rows = [row for row, _ in amounts]
    cells = [cell for _, cell in amounts]
    values = numbers(cells)
    places = max(len(plain_number(one).partition(".")[2]) for cell in cells for one in NUMBER.findall(cell))
    shown, how = f"{sum(values):,.{places}f}", "in total (added up from"
    if kind == "average":
        shown = f"{sum(values) / len(values):,.{places + 2}f}".rstrip("0").rstrip(".")
        how = "on average (computed from"
    text = f"{head}: {NUMBER.sub(shown, cells[0], count=1)} {how} {len(rows)} of {every} rows)"
    return Computed(text, rows, table.read)


def _amounts(question: str, reading: Reading, rows: Sequence[Row], kind: Kind) -> tuple[str, Column] | None:
    """Return the one column of amounts that the question is about, its head and cells in ``rows``: two or more that can
    be added up.
    """
    table = reading.table
    columns = {
        head: kept
        for head, column in table.filled.items()
        if head != table.first  # it names the rows
        and _NO_AMOUNTS.isdisjoint(table.stems(head))
        and (kept := [(row, cell) for row, cell in column if row in rows])
    }
    left = reading.asked.intersection(reading.rest.split())
    by_price = bool(_MONEY.search(question.lower()))
    fitting = [head for head in columns if not left.isdisjoint(table.stems(head))]
    fitting = fitting or [head for head in columns if by_price and table.is_about(head, PRICE)]
    if len(fitting) > 1:
        fitting = [head for head in fitting if _are_amounts([cell for _, cell in columns[head]])]
    if len(fitting) != 1:
        return None
    head, cells = fitting[0], [cell for _, cell in columns[fitting[0]]]
    for other, column in table.columns.items():
        of_units = other != head and not _OF_UNITS.isdisjoint(table.stems(other))
        if of_units and len({cell for row, cell in column if row in rows}) > 1:
            return None
    no_total = kind == "total" and any(_NO_TOTAL.search(f"{head} {cell}") for cell in cells)
    if no_total or not _are_amounts(cells):
        return None
    reading.used.add(head)
    return head, columns[head]


def _are_amounts(cells: Sequence[str]) -> bool:
    """Whether cells are two or more quantities of one unit, not years."""
    values = numbers(cells)
    years = all(1500 <= one <= 2100 and cell.isdecimal() for one, cell in zip(values, cells, strict=False))
    plain = all(_QUANTITY.fullmatch(cell.strip()) and not AMBIGUOUS.search(cell) for cell in cells)
    return len(values) > 1 and not years and plain
