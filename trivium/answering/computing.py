"""Counts, totals and averages over the rows of a table ("How many boats have more than 4 berths?", "What do all the
repairs cost together?"), and rows by conditions on numbers ("Which boats are longer than 6 m?").

A value is computed only if every word of the question is a condition on cells, a head, above the table, or says what to
compute, if one column fits, its numbers have one unit, and the whole table was read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from operator import eq, ge, gt, le, lt
from typing import Literal

from trivium.answering.in_force import date_of
from trivium.answering.passages import NumberedPassage
from trivium.answering.tables import (
    ASKING,
    DENYING,
    MOST_ROWS,
    NUMBER,
    PRICE,
    SUPERLATIVES,
    Row,
    Table,
    is_whole,
    numbers,
    plain_number,
    rows_of,
    tables_of,
    yes_or_no,
)
from trivium.graph.protocols import GraphReader
from trivium.text.normalise import terms, words

_KINDS = {
    "average": re.compile(r"(?<!\ban )\b(?:on average|average|the mean)\b"),
    "total": re.compile(
        r"\b(?:in total|in all|all in all|altogether|together|combined|sum of|adds? up to|total)\b"
    ),
    "count": re.compile(r"\b(?:how many|number of|count)\b"),
}
_WORDS_OF_COMPUTING = frozenset(
    terms(
        "how many number of count average mean total together altogether combined sum add up all every each are there"
        " cost costs price much pay spend do does have has more less than least most exceed exceeding"
    )
)
_THINGS = frozenset(terms("item thing entry row one line kind product"))
"""Words for whatever the rows are."""
_ENDS_NOUN = frozenset(
    words(
        "are is were was have has had do does did can could will cost costs of in on with without that which who under"
        " over there at from for not no"
    )
)
_OPERATORS = {
    said: compare
    for operators, compare in (
        ("no more than|not more than|at most|up to", le),
        ("no less than|no fewer than|not less than|at least|since", ge),
        ("more than|greater than|over|above|exceeding|after", gt),
        ("less than|fewer than|under|below|before", lt),
        ("exactly", eq),
    )
    for said in operators.split("|")
}
_DEGREES = {
    word: SUPERLATIVES[superlative]
    for word, superlative in (
        *(("cheaper", "cheapest"), ("dearer", "dearest"), ("larger", "largest"), ("bigger", "largest")),
        *(("smaller", "smallest"), ("longer", "longest"), ("shorter", "shortest"), ("higher", "highest")),
        *(("lower", "lowest"), ("deeper", "deepest"), ("heavier", "heaviest"), ("lighter", "lightest")),
        *(("wider", "widest"), ("faster", "fastest"), ("slower", "slowest")),
    )
}
_UNITS = {
    word: unit
    for unit, said in (
        *(("eur", "eur euro euros €"), ("usd", "usd dollar dollars $"), ("gbp", "gbp pound pounds £")),
        *(("m", "m metre metres meter meters"), ("m²", "m² m2 sqm"), ("km", "km kilometres kilometers")),
        *(("kg", "kg kilo kilos kilograms"), ("l", "l litre litres"), ("h", "h hour hours")),
        *(("min", "min minute minutes"), ("%", "% percent"), ("kw", "kw kilowatts"), ("cm", "cm")),
    )
    for word in said.split()
}
_COMPARED = re.compile(
    rf"(?:\b(?P<word>[\w²]{{1,30}}) )?(?:\b(?P<operator>{'|'.join(_OPERATORS)}|(?P<degree>{'|'.join(_DEGREES)}) than) )?"
    r"(?<![\w/.,-])(?P<currency>[€$£])?(?P<value>\d{1,9}(?:[.,]\d{1,6})?)(?!\d|[\w/.,-]\d)"
    r"(?: ?(?P<behind>[€%]|[a-z²]{1,30}))?"
)
_NUMBER_WORDS = dict(
    zip(words("two three four five six seven eight nine ten"), map(str, range(2, 11)), strict=True)
)
_QUANTITY = re.compile(r"(?:[€$£¥] ?|[A-Z]{3} )?[-−+]?\d[\d.,\u00a0\u202f’]*(?: ?[^\d\s;][^\d;]{0,20})?")
_NO_VALUE = frozenset(words("which who whom whose where when why"))
"""Beginnings of questions that ask for rows, or for something else than a value."""
_LOGIC = frozenset(words("or nor but than more less fewer most least neither either except"))
"""Words that say how conditions belong together, or that compare: what is left of them is not understood."""
_NO_TOTAL = re.compile(r"[%°]")
_AMBIGUOUS = re.compile(r"(?<![\d.,])(?:\d{1,3}\.\d{3}|0,\d{3})(?![\d.,])")
"""Numbers that are thousands in one country and decimals in another."""
_MISSING = frozenset(["", "-", "–", "—", "n/a"])
_NO_AMOUNTS = frozenset(
    terms(
        "number no nr id code phone telephone tel fax mobile extension zip postcode house floor page position rank"
        " version year built founded date"
    )
)
"""Heads of columns of which numbers are names: they are not added up."""
_OF_UNITS = frozenset(terms("unit currency per"))
_MONEY = re.compile(r"\b(?:costs?|prices?|pay|spend|spent|paid|expenses?|charges?|fees?|how much)\b")
_ITEMS = re.compile(r"[,;/]| and ")


@dataclass(frozen=True, slots=True)
class Computed:
    """What was computed, in words (empty if rows are asked for), and the rows that it was computed from. ``read`` are the
    passages of the whole table.
    """

    text: str
    rows: Sequence[Row]
    read: Sequence[NumberedPassage]


Kind = Literal["count", "total", "average", "rows"]


def kind_of(question: str) -> Kind | None:
    """Return what a question in English asks to compute: rows by a condition on a number are "rows"."""
    asked = question.lower()
    kinds: tuple[Kind, ...] = ("average", "total", "count")
    for kind in kinds:
        if _KINDS[kind].search(asked):
            return kind
    begins = not ASKING.isdisjoint(words(question)[:4])
    return "rows" if begins and any(map(_compares, _COMPARED.finditer(asked))) else None


def _compares(match: re.Match[str]) -> bool:
    return bool(match["operator"] or match["degree"])


def to_compute(question: str, is_row: bool, text: str) -> bool:
    """Whether a question asks for what a row alone does not say: a total or average, or rows by a number."""
    kind = kind_of(question)
    if not is_row or kind is None:
        return False
    compares = any(map(_compares, _COMPARED.finditer(question.lower())))
    return compares or (kind in ("total", "average") and _KINDS[kind].search(text.lower()) is None)


def has_what_to_compute(question: str, passage: NumberedPassage) -> bool:
    """Whether a passage has rows of a table and all that a question asks to count or to add up."""
    if kind_of(question) in (None, "rows") or not rows_of(passage):
        return False
    asked = frozenset(passage.analyzer.question_terms(question)) - _WORDS_OF_COMPUTING
    return bool(asked) and asked <= passage.said


def computed(question: str, offered: Sequence[NumberedPassage], store: GraphReader) -> Computed | None:
    """Return what a question asks to compute; None if it asks for nothing of the kind, or if it is not certain. Of
    several tables that give a value, the one of the newest document does.
    """
    kind = kind_of(question)
    if kind is None or "?" in question.strip().rstrip("?!. "):
        return None
    if kind in ("total", "average") and not _NO_VALUE.isdisjoint(words(question)[:1]):
        return None
    found: dict[str, list[tuple[int, tuple[int, ...], Computed]]] = {}
    tables = tables_of(offered, question)
    for table in tables:
        if any(table.shares_heads(other) for other in tables if other is not table):
            continue  # rows without their first cell look like those of a table beside
        reading = _Reading(table, question.lower(), kind)
        one = reading.result()
        if one is not None and is_whole(table.rows, offered, store):
            rank = 0 if reading.used and reading.names_rows else 1
            found.setdefault(table.rows[0].cells[0][0], []).append((rank, date_of(one.read[0]), one))
    best = min((rank for several in found.values() for rank, _, _ in several), default=0)
    fitting = [several for several in found.values() if any(rank == best for rank, _, _ in several)]
    if len(fitting) != 1:
        return None
    if len({tuple(dict(one.rows[0].cells)) for _, _, one in fitting[0] if one.rows}) > 1:
        return None  # tables about other things
    several = sorted(fitting[0], key=lambda one: one[1], reverse=True)
    return several[0][2] if len(several) == 1 or several[0][1] > several[1][1] else None


@dataclass(slots=True)
class _Reading:
    """A question read as conditions on a table: ``used`` are the heads and ``known`` the stems that conditions explain,
    ``rest`` is what is left of the question, as stems between spaces. ``names_rows``: the head of the first column is
    what is counted.
    """

    table: Table
    question: str
    kind: Kind
    used: set[str] = field(default_factory=set)
    known: set[str] = field(default_factory=set)
    names_rows: bool = False
    rest: str = ""

    def result(self) -> Computed | None:
        noun = self._noun()
        rows = self._selected(noun)
        if rows is None:
            return None
        read = list({row.passage.number: row.passage for row in self.table.rows}.values())
        every = len(self.table.rows)
        if self.kind == "rows":
            return Computed("", rows, read) if 0 < len(rows) < min(every, MOST_ROWS + 1) else None
        left = frozenset(self.rest.split()) & self.table.asked
        column = None
        if self.kind != "count":
            column = self._amounts(left, rows)
            if column is None and self.kind == "total" and _KINDS["count"].search(self.question):
                self.kind = "count"  # "How many are there altogether?"
            elif column is None:
                return None
        if not self._explained(left - _WORDS_OF_COMPUTING - noun, noun):
            return None
        if column is None:
            named = [row.cells[0][1] for row in rows]
            if len(set(named)) < len(named):
                return None  # the same thing in several rows
            return Computed(f"{len(rows)} (counted: {len(rows)} of {every} rows)", rows, read)
        head, amounts = column
        rows = [row for row, _ in amounts]
        cells = [cell for _, cell in amounts]
        values = numbers(cells)
        places = max(
            len(plain_number(one).partition(".")[2]) for cell in cells for one in NUMBER.findall(cell)
        )
        shown, how = f"{sum(values):,.{places}f}", "in total (added up from"
        if self.kind == "average":
            shown = f"{sum(values) / len(values):,.{places + 2}f}".rstrip("0").rstrip(".")
            how = "on average (computed from"
        text = f"{head}: {NUMBER.sub(shown, cells[0], count=1)} {how} {len(rows)} of {every} rows)"
        return Computed(text, rows, read)

    def _stems(self, text: str) -> str:
        """Return the words of a text as stems, with a space around each."""
        analyzer = self.table.rows[0].passage.analyzer
        return f" {' '.join((analyzer.terms(word) or [word])[0] for word in words(text))} "

    def _noun(self) -> frozenset[str]:
        """Return what is counted: the thing behind "how many"."""
        asked = words(self.question)
        for before in (["how", "many"], ["number", "of"], ["which"], ["what"]):
            size = len(before)
            for at in range(len(asked) - size):
                if asked[at : at + size] == before:
                    run = list(takewhile(lambda word: word not in _ENDS_NOUN, asked[at + size :]))
                    plural = [word for word in run if word.endswith("s")]
                    return frozenset(self._stems(" ".join((plural or run[-1:])[:1])).split())
        return frozenset()

    def _selected(self, noun: frozenset[str]) -> list[Row] | None:
        """Return the rows that meet the conditions of the question; None if one is not certain."""
        asked = " ".join(_NUMBER_WORDS.get(word, word) for word in self.question.split())
        asked = asked.replace("square metres", "m²").replace("square meters", "m²").rstrip("?.! ")
        chosen: list[list[Row]] = []
        equal = 0
        for match in list(_COMPARED.finditer(asked)):
            rows = self._by_number(match)
            if rows is None and _compares(match):
                return None
            if rows is not None:
                chosen.append(rows)
                equal += not _compares(match)
                kept = " ".join(part for part in (match["word"], match["behind"] or "") if part)
                asked = asked.replace(match[0], kept, 1)
        if (self.kind == "rows" and not chosen) or equal > 1 or not _LOGIC.isdisjoint(words(asked)):
            return None
        self.rest = self._stems(asked)
        by_cells = self._by_cells()
        if by_cells is None:
            return None
        chosen += by_cells
        for head, column in self.table.columns().items():
            said = [yes_or_no(cell) for _, cell in column]
            named = frozenset(self._stems(head).split()) & frozenset(self.rest.split())
            if named and None not in said and not any(cell.isdecimal() for _, cell in column):
                chosen.append([row for (row, _), yes in zip(column, said, strict=True) if yes])
                self.used.add(head)
        denies = not DENYING.isdisjoint(words(asked))
        if denies and (len(chosen) != 1 or "and" in words(asked) or "," in asked):
            return None
        rows = [row for row in self.table.rows if all(row in one for one in chosen) != denies]
        left = (frozenset(self.rest.split()) & self.table.asked) - _WORDS_OF_COMPUTING
        return rows if self.kind != "rows" or self._explained(left, noun) else None

    def _by_number(self, match: re.Match[str]) -> list[Row] | None:
        """Return the rows with a number as it is asked for, in the only column that it can be about."""
        degree = _DEGREES.get(match["degree"] or "")
        compare = _OPERATORS.get(match["operator"] or "", eq)
        if degree is not None:
            compare = gt if degree[0] > 0 else lt
        if _AMBIGUOUS.search(match["value"]):
            return None
        value = numbers([match["value"]])[0]
        near = f"{match['word'] or ''} {match['behind'] or ''}"
        unit = _UNITS.get(match["currency"] or match["behind"] or "")
        columns = {
            head: (column, values)
            for head, column in self._filled().items()
            if (values := numbers([cell for _, cell in column]))
            and not any(_AMBIGUOUS.search(cell) for _, cell in column)
        }
        is_year = 1500 <= value <= 2100 and unit is None and match["value"] not in self.table.above
        ways: list[Callable[[str], bool]] = [
            lambda head: self._is_about(head, near),
            lambda head: degree is not None and self._is_about(head, degree[1]),
            lambda head: unit is not None and unit in self._units(head),
            lambda head: (
                is_year and bool(match["operator"] or match["word"] == "in") and min(columns[head][1]) >= 1500
            ),
        ]
        for way in ways:
            fitting = [head for head in columns if way(head)]
            if fitting:
                break
        if len(fitting) != 1 or (unit and self._units(fitting[0]) and unit not in self._units(fitting[0])):
            return None
        self.used.add(fitting[0])
        if unit is not None:
            self.known |= set(self._stems(match["behind"] or "").split())
        column, values = columns[fitting[0]]
        return [row for (row, _), number in zip(column, values, strict=True) if compare(number, value)]

    def _filled(self) -> dict[str, list[tuple[Row, str]]]:
        return {
            head: kept
            for head, column in self.table.columns().items()
            if (kept := [(row, cell) for row, cell in column if cell.strip().lower() not in _MISSING])
        }

    def _is_about(self, head: str, about: str) -> bool:
        return not frozenset(self._stems(head).split()).isdisjoint(self._stems(about).split())

    def _units(self, head: str) -> set[str]:
        """Return the units that a head and its first cell name."""
        cell = self._filled()[head][0][1]
        named = re.findall(r"[€$£%]|[^\W\d]+²?", f"{head} {cell}".lower())
        return {_UNITS[word] for word in named if word in _UNITS}

    def _by_cells(self) -> list[list[Row]] | None:
        """Return for each column of which cells are named, wholly or by how they begin, the rows with such a cell; None
        if words of cells could be meant in two columns.
        """
        rows_with: dict[tuple[str, str], list[Row]] = {}
        for head, column in self.table.columns().items():
            for row, cell in column:
                for item in _ITEMS.split(cell):
                    stems = self._stems(item).split()
                    for size in range(1, min(len(stems), 8) + 1):
                        for at in range(len(stems) - size + 1):
                            run = stems[at : at + size]
                            if (at == 0 or size > 1) and not self.table.heads.issuperset(run):
                                rows_with.setdefault((" ".join(run), head), []).append(row)
        chosen: dict[str, list[Row]] = {}
        for (phrase, head), rows in sorted(rows_with.items(), key=lambda one: -len(one[0][0])):
            named = f" {phrase} " in self.rest and not self.table.asked.isdisjoint(phrase.split())
            if not named or phrase.isdecimal():
                continue
            others = [one for said, one in rows_with if said == phrase and one != head]
            if others:
                return None
            self.rest = self.rest.replace(f" {phrase} ", " ")
            chosen.setdefault(head, []).extend(rows)
            self.used.add(head)
        return list(chosen.values())

    def _amounts(self, left: frozenset[str], rows: Sequence[Row]) -> tuple[str, list[tuple[Row, str]]] | None:
        """Return the one column of amounts that the question is about, its head and cells in ``rows``: two or more that
        can be added up.
        """
        columns = {
            head: kept
            for head, column in self._filled().items()
            if frozenset(self._stems(head).split()).isdisjoint(_NO_AMOUNTS)
            and (kept := [(row, cell) for row, cell in column if row in rows])
        }
        by_price = bool(_MONEY.search(self.question))
        columns.pop(self.table.rows[0].cells[0][0], None)  # it names the rows
        fitting = [head for head in columns if left & frozenset(self._stems(head).split())]
        fitting = fitting or [head for head in columns if by_price and self._is_about(head, PRICE)]
        if len(fitting) > 1:
            fitting = [head for head in fitting if _are_amounts([cell for _, cell in columns[head]])]
        if len(fitting) != 1:
            return None
        head, cells = fitting[0], [cell for _, cell in columns[fitting[0]]]
        for other, column in self.table.columns().items():
            of_units = not _OF_UNITS.isdisjoint(self._stems(other).split())
            if of_units and other != head and len({cell for row, cell in column if row in rows}) > 1:
                return None
        no_total = self.kind == "total" and any(_NO_TOTAL.search(f"{head} {cell}") for cell in cells)
        if no_total or not _are_amounts(cells):
            return None
        self.used.add(head)
        return head, columns[head]

    def _explained(self, left: frozenset[str], noun: frozenset[str]) -> bool:
        """Whether all that is left of the question, and the thing that is counted, is in heads that were needed, or above
        the table, or names its rows.
        """
        first = frozenset(self._stems(self.table.rows[0].cells[0][0]).split())
        heads = first | frozenset(self._stems(" ".join(self.used)).split())
        self.names_rows = bool(noun & first)
        if noun & self.table.heads and not noun & heads:
            return False  # "How many rooms does it have?" is looked up
        known = heads | self.table.above | self.known | _THINGS
        said = [row.said for row in self.table.rows]
        unknown = (left | noun) - known
        unknown |= {stem for stem in self.rest.split() if stem.isdecimal()} - known
        return not any(
            stem.isdecimal() or 2 * sum(stem in one for one in said) < len(said) for stem in unknown
        )


def _are_amounts(cells: Sequence[str]) -> bool:
    """Whether cells are two or more quantities of one unit, not years."""
    values = numbers(cells)
    years = all(1500 <= one <= 2100 and cell.isdecimal() for one, cell in zip(values, cells, strict=False))
    plain = all(_QUANTITY.fullmatch(cell.strip()) and not _AMBIGUOUS.search(cell) for cell in cells)
    return len(values) > 1 and not years and plain
