"""Assigns header lines above a table to its columns; a header may span several columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trivium.parser.documents.pdf.lines import Cell

_ALIGNED = 1.0
"""Tolerance in font sizes for aligning the middle or an edge of a header with its column."""
_CENTRED = 1.2
"""Tolerance for aligning the middle of a title with that of the columns below it."""
_EACH = 0.05
"""Bonus per additional column."""
_UNLIKELY = 1.0
"""Penalty for a multi-column title over one column, or a header continued on the next line over several."""
_ELSEWHERE = 2.0
"""Penalty for a cell that is not aligned with the column it heads."""
_SHARED = 1.0
"""Penalty for two cells of a line that head the same column."""
_WIDER = 2.0
"""Maximum width of a header relative to the line below, if it is continued there."""

_YEAR = re.compile(r"\W*(?:(?:fiscal|fy|q[1-4])\s*)?(?:19|20)\d\d\W*(?:\([a-z\d]\))?", re.IGNORECASE)
_GOES_ON = re.compile(r"[a-z(/&%]")
_UNFINISHED = re.compile(r".*(?:[-–/,&]|\b(?:and|of|the|to|for|in|at|by|from|or|per|on))", re.IGNORECASE)

Extent = tuple[float, float]
Place = tuple[int, int]
"""The first and last column that a cell heads."""


class Head:
    """A header cell over the columns ``first`` to ``last``."""

    __slots__ = ("cell", "first", "last", "text")

    def __init__(self, cell: Cell, first: int, last: int) -> None:
        self.cell, self.first, self.last, self.text = cell, first, last, cell.text


def heads_of(lines: Sequence[Sequence[Cell]], columns: Sequence[Extent]) -> list[list[Head]]:
    """Return the headers in consecutive lines, from top to bottom. The first column contains labels and has no header.
    A header continued on the next line is merged and placed where it ends; lines without headers are left out.
    """
    lowest: list[Head | None] = [None] * len(columns)
    placed: list[list[Head]] = []
    for at in reversed(range(len(lines))):
        line = sorted(lines[at], key=lambda cell: cell.x0)
        row = _placed(line, columns, lowest, alone=len(line) == 1 and not _goes_on(line[0], lines[:at]))
        kept = []
        for head in row:
            below = lowest[head.first]
            if head.first == head.last and below is not None and below.first == below.last:
                below.text = f"{head.text} {below.text}"
                below.cell = _over(head.cell, below.cell)
            else:
                kept.append(head)
                for column in range(head.first, head.last + 1):
                    lowest[column] = head
        placed.append(kept)
    rows = [row for row in reversed(placed) if row]
    if rows and all(head.first == head.last for row in rows for head in row):
        return [sorted((head for row in rows for head in row), key=lambda head: head.first)]
    return rows


def _over(cell: Cell, below: Cell) -> Cell:
    text = f"{cell.text} {below.text}"
    return Cell(text, min(cell.x0, below.x0), max(cell.x1, below.x1), cell.size, cell.bold, cell.italic)


def _goes_on(cell: Cell, above: Sequence[Sequence[Cell]]) -> bool:
    """Whether the only cell of a line begins or ends where one of several headers in the line above does, as the unit of
    its column. That of all columns may be below the middle of one.
    """
    heads = above[-1] if above and len(above[-1]) > 1 else ()
    return any(min(abs(head.x0 - cell.x0), abs(head.x1 - cell.x1)) < 0.3 * cell.size for head in heads)


def _placed(
    line: Sequence[Cell], columns: Sequence[Extent], lowest: Sequence[Head | None], *, alone: bool
) -> list[Head]:
    """Assign the cells of a line to columns with the lowest total penalty. Several cells of one column are merged."""
    chains: dict[int, tuple[float, tuple[Place, ...]]] = {0: (0.0, ())}  # by the last column used
    for index, cell in enumerate(line):
        after = line[index - 1].x1 if index else float("-inf")
        before = line[index + 1].x0 if index + 1 < len(line) else float("inf")
        free = [
            column
            for column in range(1, len(columns))
            if after < _middle(columns[column]) < before or _overlap(columns[column], cell) > 0
        ]
        longer: dict[int, tuple[float, tuple[Place, ...]]] = {}
        for missed, first, last in _places(cell, free, columns, lowest, alone=alone):
            for taken, (cost, chain) in chains.items():
                if first <= taken and (first, last) != chain[-1]:
                    continue
                total = cost + missed + (_SHARED if first <= taken else 0.0)
                if last not in longer or total < longer[last][0]:
                    longer[last] = total, (*chain, (first, last))
        if not longer:  # more cells than columns: join it with the previous one
            longer = {taken: (cost, (*chain, chain[-1])) for taken, (cost, chain) in chains.items()}
        chains = longer
    heads: list[Head] = []
    for cell, (first, last) in zip(line, min(chains.values())[1], strict=True):
        if heads and first <= heads[-1].last:
            heads[-1].text += f" {cell.text}"
        else:
            heads.append(Head(cell, first, last))
    return heads


def _places(
    cell: Cell, free: Sequence[int], columns: Sequence[Extent], lowest: Sequence[Head | None], *, alone: bool
) -> list[tuple[float, int, int]]:
    """Return candidate columns for a cell, among those not needed by other cells of its line: the penalty in font
    sizes, the first and the last column.
    """
    if alone and free and cell.text.startswith("("):
        return [(0.0, free[0], free[-1])]  # the unit of all columns
    size = max(cell.size, 4.0)
    under = [column for column in free if _overlap(_head(columns[column], lowest[column]), cell) > 0]
    titles = list(_titles(cell, free, columns, lowest, alone=alone))
    heads = [head for column in under if (head := lowest[column]) is not None]
    if alone and not titles and any(_YEAR.fullmatch(head.text) for head in heads):
        return [(0.0, free[0], free[-1])]  # "As of December 31," above years
    found: list[tuple[float, int, int]] = []
    wrapped = False
    for column in under:
        missed = _missed(_head(columns[column], lowest[column]), cell) / size
        if missed <= _ALIGNED:
            goes_on = len(under) == 1 and _is_wrapped(cell, lowest[column])
            wrapped = wrapped or goes_on
            found.append((missed + (_UNLIKELY if titles and not goes_on else 0.0), column, column))
    found.extend((missed + _UNLIKELY * wrapped, first, last) for missed, first, last in titles)
    if not found or not alone:
        found.append((_ELSEWHERE, *_nearest(cell, under, free, columns, alone=alone)))
    return found


def _nearest(
    cell: Cell, under: Sequence[int], free: Sequence[int], columns: Sequence[Extent], *, alone: bool
) -> Place:
    if alone and len(under) != 1 and free:
        return free[0], free[-1]
    if under:
        return under[0], under[-1]
    middle = _middle((cell.x0, cell.x1))
    nearest = min(free or range(1, len(columns)), key=lambda column: abs(_middle(columns[column]) - middle))
    return nearest, nearest


def _titles(
    cell: Cell, free: Sequence[int], columns: Sequence[Extent], lowest: Sequence[Head | None], *, alone: bool
) -> Iterator[tuple[float, int, int]]:
    """Yield ranges of columns over whose middle a cell is centred; as many columns as possible if the cell is alone in
    its line.
    """
    size = max(cell.size, 4.0)
    middle = _middle((cell.x0, cell.x1))
    for at, first in enumerate(free):
        for last in free[at + 1 :]:
            start, end = _extent(columns[first], lowest[first])[0], _extent(columns[last], lowest[last])[1]
            if cell.x0 < start - 2 * size or cell.x1 > end + 2 * size:
                continue
            heads = _head(columns[first], lowest[first])[0], _head(columns[last], lowest[last])[1]
            box = (
                2 * columns[first][1] - columns[first + 1][1],
                columns[last][1],
            )  # numbers are right-aligned
            missed = min(abs(_middle(extent) - middle) for extent in ((start, end), heads, box)) / size
            if missed <= _CENTRED:
                yield (0.0 if alone else missed) - _EACH * (last - first), first, last


def _is_wrapped(cell: Cell, below: Head | None) -> bool:
    """Whether a header continues on the line below, rather than being a title of several columns."""
    if below is None:
        return True
    if below.first != below.last or _YEAR.fullmatch(below.text):
        return False
    if _GOES_ON.match(below.text) or _UNFINISHED.fullmatch(cell.text):
        return True
    return cell.x1 - cell.x0 <= _WIDER * (below.cell.x1 - below.cell.x0)


def _head(column: Extent, below: Head | None) -> Extent:
    return column if below is None or below.first != below.last else (below.cell.x0, below.cell.x1)


def _extent(column: Extent, below: Head | None) -> Extent:
    """Return the extent of a column with its header."""
    head = _head(column, below)
    return min(column[0], head[0]), max(column[1], head[1])


def _missed(extent: Extent, cell: Cell) -> float:
    return min(
        abs(extent[0] - cell.x0), abs(extent[1] - cell.x1), abs(_middle(extent) - _middle((cell.x0, cell.x1)))
    )


def _middle(extent: Extent) -> float:
    return (extent[0] + extent[1]) / 2


def _overlap(extent: Extent, cell: Cell) -> float:
    return min(extent[1], cell.x1) - max(extent[0], cell.x0)
