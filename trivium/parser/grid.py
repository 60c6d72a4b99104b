"""The rows of a table as they are read, and the grid that row and column spans make of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from trivium.parser.runs import Run

MAX_COLUMNS = 200  # the HTML standard allows a span of 1,000 columns and 65,534 rows; wider ones are cut
MAX_ROWS = 1_000
_REPEATS = 4  # times the size of a table that its spanning cells may add to it
_CELL_COST = 8  # characters a cell counts besides its text


class Cell(Run):
    """A cell as written: its text, and how many ``columns`` and ``rows`` it spans."""

    __slots__ = ("columns", "is_header", "rows")

    def __init__(self, *, is_header: bool, columns: int = 1, rows: int = 1) -> None:
        super().__init__()
        self.is_header = is_header
        self.columns = columns
        self.rows = rows


@dataclass(slots=True)
class Table:
    """A table being read: its cells as written, row by row, and the indices of the rows in a ``<thead>``."""

    is_infobox: bool
    rows: list[list[Cell]] = field(default_factory=list)
    head_rows: set[int] = field(default_factory=set)
    caption: Run = field(default_factory=Run)


@dataclass(slots=True)
class Placed:
    """A cell at its place in the grid: it covers columns ``first`` to ``last``, both included."""

    cell: Cell
    first: int
    last: int
    is_repeat: bool = False  # it began in a row above


def parse_span(value: str | None, limit: int) -> int:
    """A ``colspan`` or ``rowspan``: 1 when malformed, the limit when it is larger or 0 ("to the end")."""
    digits = (value or "1").strip()
    if not (digits.isascii() and digits.isdigit()):
        return 1
    return min(int(digits[:6]) or limit, limit)


def place(rows: list[list[Cell]]) -> list[list[Placed]]:
    """Resolves spans: for every row all the cells that cover it, from left to right.

    A cell that spans rows comes again in each of them, as long as what is repeated stays in proportion to the
    table: a few bytes of spans must not become gigabytes of text.
    """
    budget = _REPEATS * sum(cell.length + _CELL_COST for row in rows for cell in row)
    hanging: list[tuple[Placed, int]] = []  # cells from above, by column, and how many rows they still cover
    grid: list[list[Placed]] = []
    for row in rows:
        placed: list[Placed] = []
        taken: set[int] = set()
        below: list[tuple[Placed, int]] = []
        for above, left in hanging:
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
            placed.append(Placed(cell, column, last))
            if cell.rows > 1:
                below.append((Placed(cell, column, last, is_repeat=True), cell.rows - 1))
            column = last + 1
        if taken:
            placed.sort(key=lambda p: p.first)
            below.sort(key=lambda hung: hung[0].first)
        grid.append(placed)
        hanging = below
    return grid
