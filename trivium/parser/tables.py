"""Writes a table as lines of text in which every cell has its row header and its column header, and reads them again.

    Country | Capital | Population
    Country: Norway; Capital: Oslo; Population: 5 million

A row of headers is a separate line and names the columns of the rows below it. A header that spans several columns is
written once per row, before the first of them and its inner header:

    City: Oslo; Population 2010: 599,000, 2020: 693,000

Without headers the cells are only separated.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from trivium.parser.text_runs import COLON, LINE, TextRun

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


Labels = list[tuple[str, ...]]
"""The headers of each column, outermost first."""

BETWEEN_CELLS = "; "
WITHIN_HEADER = ", "
_BETWEEN_HEADERS = " | "
_MAX_HEADERS = 50  # per column; the label made of them is truncated long before
_MAX_LABEL = 80  # maximum number of characters of a column's header that are repeated in its rows


def linearise(table: Table, line: str = LINE) -> TextRun:
    """Return the caption and rows of a table, separated by ``line`` (a nested table is written on a single line)."""
    out = TextRun()
    out.append(table.caption)
    grid = place(table.rows, table.groups)
    width = max((row[-1].last + 1 for row in grid if row), default=0)
    labels: Labels = []
    head: list[list[PlacedCell]] = []
    for index, row in enumerate(grid):
        if _is_repeated(row, grid[index + 1 : index + 4]):
            continue
        if _is_head(row, width, in_head=index in table.head_rows):
            head.append(row)
            labels = []
            _write(out, [p for p in row if not p.is_repeat], labels, line)
            continue
        if head:
            labels, head = _labels(head, width), []
        _write(out, row, [] if _spans(row, width) else labels, line)
    return out


def _is_repeated(row: list[PlacedCell], following: list[list[PlacedCell]]) -> bool:
    """Whether a row has only headers of the rows below, which repeat them."""
    if not row or not all(placed.cell.is_header and placed.cell.rows > 1 for placed in row):
        return False
    for below in following:
        if not all(above.cell is placed.cell for above, placed in zip(row, below, strict=False)):
            return False
        if not all(placed.cell.is_header for placed in below[len(row) :]):
            return True
        if not all(placed.cell.rows > 1 for placed in below):
            return False
    return False


def _spans(row: list[PlacedCell], width: int) -> bool:
    """Whether a single cell spans the whole table: a title or the name of a group of rows."""
    return len(row) == 1 and row[0].last - row[0].first + 1 >= width


def _is_head(row: list[PlacedCell], width: int, *, in_head: bool) -> bool:
    """Whether a row names columns: it contains only headers, and more than a title that spans the table."""
    filled = 0
    covered = 0
    has_plain = is_tall = False
    for placed in row:
        cell = placed.cell
        if placed.is_repeat:
            # Beside one header, a value from above is that of a row which has no cells of its own otherwise.
            has_plain = has_plain or (cell.length > 0 and not cell.is_header)
            continue
        if cell.length:
            if not (cell.is_header or in_head) or (cell.of_row and not in_head):
                return False
            filled += 1
            covered = placed.last - placed.first + 1
            is_tall = cell.rows > 1
        has_plain = has_plain or not cell.is_header
    if filled == 1:
        return covered < width and (in_head or not (has_plain or is_tall))
    return filled > 1


def _labels(head: list[list[PlacedCell]], width: int) -> Labels:
    names: list[dict[str, None]] = [{} for _ in range(width)]
    for row in head:
        for placed in row:
            if not placed.cell.length:
                continue
            text = placed.cell.text
            for column in range(placed.first, placed.last + 1):
                if len(names[column]) < _MAX_HEADERS:
                    names[column].setdefault(text)
    return [tuple(column) for column in names]


def shortened(label: str) -> str:
    """Truncate a header to a length that can be repeated."""
    label = label.rstrip(" :")
    if len(label) <= _MAX_LABEL:
        return label
    return label[: _MAX_LABEL + 1].rsplit(None, 1)[0][:_MAX_LABEL]


def _write(out: TextRun, row: list[PlacedCell], labels: Labels, line: str) -> None:
    """Write a row: ``label: cell; label: cell``, or ``header: cell; cell``, or ``cell | cell``."""
    has_row_header = len(row) > 1 and row[0].cell.is_header and not row[-1].cell.is_header
    between = BETWEEN_CELLS if labels or has_row_header else _BETWEEN_HEADERS
    before = line
    previous: tuple[str, ...] = ()
    for placed in row:
        cell = placed.cell
        if not cell.length:
            out.append(cell)  # only the links of its images
            continue
        names = _names(labels, placed) if labels else ()
        again = shared(previous, names) if before is not line else 0
        label = shortened(" ".join(names[again:]))
        has_lines = any(LINE in part for part in cell.parts)  # code
        named = f"{label}:{line}" if has_lines else label + COLON
        out.extend(line if has_lines else WITHIN_HEADER if again else before, named if label else "", cell)
        before = COLON if has_row_header and not labels and placed is row[0] else between
        before = line if has_lines else before
        previous = names


def shared(previous: tuple[str, ...], names: tuple[str, ...]) -> int:
    """Return how many of a cell's headers were just written for the previous cell: all, all but the innermost, none."""
    if not names or names == previous:
        return len(names)
    return len(names) - 1 if names[:-1] == previous[:-1] else 0


def _names(labels: Labels, placed: PlacedCell) -> tuple[str, ...]:
    if placed.first == placed.last:
        return labels[placed.first]
    covered = dict.fromkeys(
        filter(None, (shortened(" ".join(n)) for n in labels[placed.first : placed.last + 1]))
    )
    return (" / ".join(covered),) if covered else ()


def cells_of(line: str) -> list[tuple[str, str]]:
    """Return the labels and cells of a row; an empty label for a cell without.

    >>> cells_of("Port Quercy; Depth (m): 1.4; Open: May; June")
    [('', 'Port Quercy'), ('Depth (m)', '1.4'), ('Open', 'May; June')]
    """
    cells: list[tuple[str, str]] = []
    for part in line.split(BETWEEN_CELLS):
        label, colon, cell = part.partition(COLON)
        if colon:
            cells.append((label, cell))
        elif cells:
            cells[-1] = cells[-1][0], f"{cells[-1][1]}{BETWEEN_CELLS}{part}"
        else:
            cells.append(("", part))
    return cells


def head_rows(text: str) -> list[str]:
    """Return the lines of a text that only name the columns of the rows below.

    >>> head_rows("Boards\\nWood | Price\\nWood: Larch; Price: 22.10")
    ['Wood | Price']
    """
    if _BETWEEN_HEADERS not in text:
        return []
    lines = text.splitlines()
    return [line for at, line in enumerate(lines) if _names_columns(line, lines[at + 1 : at + 3])]


def _names_columns(line: str, below: list[str]) -> bool:
    names = [name for name in line.split(_BETWEEN_HEADERS) if name]
    labels = [label for row in below for label, _ in cells_of(row) if label]
    return len(names) > 1 and any(label.startswith(tuple(names)) for label in labels)
