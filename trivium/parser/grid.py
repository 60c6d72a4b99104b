"""The rows of a table as parsed, and the grid that results from row and column spans."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from trivium.parser.runs import TextRun

MAX_COLUMNS = 200  # the HTML standard allows a span of 1,000 columns and 65,534 rows; wider ones are cut
MAX_ROWS = 1_000
_REPEATS = 4  # repeated cells may add at most this multiple of a table's own size
_CELL_COST = 8  # size of a cell in characters, in addition to its text


class Cell(TextRun):
    """A cell: its text, and the number of ``columns`` and ``rows`` it spans."""

    __slots__ = ("columns", "is_header", "of_row", "rows")

    def __init__(self, *, is_header: bool, columns: int = 1, rows: int = 1) -> None:
        super().__init__()
        self.of_row = False  # the page says that it is the header of a row
        self.is_header = is_header
        self.columns = columns
        self.rows = rows


@dataclass(slots=True)
class Table:
    """A table being parsed: its cells, row by row, and the indices of the rows in a ``<thead>``."""

    is_infobox: bool
    rows: list[list[Cell]] = field(default_factory=list)
    head_rows: set[int] = field(default_factory=set)
    caption: TextRun = field(default_factory=TextRun)
    has_code: bool = False
    group: int = 0
    """The element that the last row is in."""
    groups: set[int] = field(default_factory=set)
    """The indices of the first rows of ``<thead>``, ``<tbody>`` and ``<tfoot>``, which no cell above spans."""


@dataclass(slots=True)
class PlacedCell:
    """A cell in the grid; it covers columns ``first`` to ``last``, inclusive."""

    cell: Cell
    first: int
    last: int
    is_repeat: bool = False  # it started in a row above


def parse_span(value: str | None, limit: int) -> int:
    """Parse a ``colspan`` or ``rowspan``: 1 if malformed, the limit if it is larger or 0 ("to the end")."""
    digits = (value or "1").strip()
    if not (digits.isascii() and digits.isdigit()):
        return 1
    return min(int(digits[:6]) or limit, limit)


def place(rows: list[list[Cell]], groups: Container[int] = ()) -> list[list[PlacedCell]]:
    """Resolve spans: return for every row all cells that cover it, from left to right. No cell spans rows beyond the
    first ones of ``groups``.

    A cell that spans rows is repeated in each of them, up to a limit proportional to the size of the table, so that a
    few bytes of spans cannot become gigabytes of text.
    """
    budget = _REPEATS * sum(cell.length + _CELL_COST for row in rows for cell in row)
    spanning: list[
        tuple[PlacedCell, int]
    ] = []  # cells from above, by column, and how many rows they still cover
    grid: list[list[PlacedCell]] = []
    for index, row in enumerate(rows):
        if index in groups:
            spanning = []
        placed: list[PlacedCell] = []
        taken: set[int] = set()
        below: list[tuple[PlacedCell, int]] = []
        for above, left in spanning:
            budget -= above.cell.length + _CELL_COST
            if budget < 0:
                break
            placed.append(above)
            taken.update(range(above.first, above.last + 1))
            if left > 1:
                below.append((above, left - 1))
        column = 0
        for cell in row:
            while column in taken:
                column += 1
            last = column
            if cell.columns > 1:
                while last - column + 1 < cell.columns and last + 1 not in taken and last < MAX_COLUMNS:
                    last += 1
            placed.append(PlacedCell(cell, column, last))
            if cell.rows > 1:
                below.append((PlacedCell(cell, column, last, is_repeat=True), cell.rows - 1))
            column = last + 1
        if taken:
            placed.sort(key=lambda p: p.first)
            below.sort(key=lambda entry: entry[0].first)
        grid.append(placed)
        spanning = below
    return grid
