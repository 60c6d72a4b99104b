"""Finds the columns of a page, and with them the reading order of its lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise, zip_longest
from statistics import median

from trivium.parser.documents.pdf.lines import Cell, Line

_PROSE = 20
"""Minimum number of characters of a cell to count as a line of a text column."""
_MIN_LINES = 4
"""Minimum number of lines of a column."""
_FILLED = 0.55
"""Minimum share of a column's width that its lines fill."""
_LABEL = 0.35
"""Maximum width of a number's label, as a share of the page width."""
LARGER = 1.12
"""Minimum size of a heading that is not bold, relative to the surrounding text."""
_GUTTER = 0.5
"""Minimum gap between two columns, in font sizes."""
_MARKER = 4
"""Maximum number of characters of a footnote marker."""
_NARROW = 0.3
"""Maximum width of a table's labels, as a share of the page width, if they fill their column."""
_MAX_COLUMNS = 4
_EDGE = 2.0  # points


def reading_order(lines: list[Line], columns: int = _MAX_COLUMNS) -> list[list[Line]]:
    """Return the lines as flows of text in reading order: the columns of a page, and lines that span several columns."""
    tables = _tables(lines) if columns > 1 else []
    in_tables = {id(line) for table in tables for line in table}
    text = [line for line in lines if id(line) not in in_tables]
    edge = _column_edge(text) if columns > 1 else None
    if edge is None:
        return [lines] if lines else []
    across = {
        id(line)
        for table in tables
        if min(line.x0 for line in table) < edge - _EDGE < max(line.x1 for line in table)
        for line in table
    }
    flows: list[list[Line]] = []
    wide: list[Line] = []
    band: list[Line] = []
    for line in lines:
        if id(line) in across or _is_wide(line, edge):
            if band:
                headings = _with_headings(band, edge)
                _add_band(flows, wide, band, edge, columns)
                wide.extend(headings)
                band = []
            wide.append(line)
        else:
            band.append(line)
    _add_band(flows, wide, band, edge, columns)
    if wide:
        flows.append(wide)
    return flows


def _tables(lines: Sequence[Line]) -> list[Sequence[Line]]:
    """Return the runs of lines in which words, the heads of a table, stand above cells that begin where they do."""
    found: list[Sequence[Line]] = []
    at = 0
    while at < len(lines):
        end = at + 1
        if _names_columns(lines[at]):
            while end < len(lines) and _is_below(lines[end], lines[at].cells):
                end += 1
        several = [line for line in lines[at:end] if len(line.cells) > 2]
        if len(several) >= _MIN_LINES and not _has_prose(lines[at:end], lines):
            found.append(lines[at:end])
        else:
            end = at + 1
        at = end
    return found


def _names_columns(line: Line) -> bool:
    """Whether a line has three short cells or more, all of words."""
    return len(line.cells) > 2 and all(
        len(cell.text) < 2 * _PROSE and sum(map(str.isalpha, cell.text)) > 1 for cell in line.cells
    )


def _is_below(line: Line, heads: Sequence[Cell]) -> bool:
    """Whether each cell of a line is in the column of one of some heads, and ends before the next one."""
    ends = [*(head.x0 for head in heads[1:]), float("inf")]
    return all(
        any(head.x0 - _EDGE <= cell.x0 and cell.x1 <= end for head, end in zip(heads, ends, strict=True))
        or any(head.x0 < cell.x1 and cell.x0 < head.x1 and len(cell.text) < _PROSE for head in heads)
        for cell in line.cells
    )


def _has_prose(table: Sequence[Line], lines: Sequence[Line]) -> bool:
    """Whether what may be a table is columns of text: all of them are filled, or the first or the last is as wide."""
    narrow = _NARROW * (max(line.x1 for line in lines) - min(line.x0 for line in lines))
    heads = table[0].cells
    widths: list[list[float]] = [[] for _ in heads]
    for cell in (cell for line in table for cell in line.cells):
        widths[max(at for at, head in enumerate(heads) if at == 0 or head.x0 - _EDGE <= cell.x0)].append(
            cell.x1 - cell.x0
        )
    filled = [
        median(own or [0]) > _FILLED * (after.x0 - head.x0)
        for own, (head, after) in zip(widths, pairwise(heads), strict=False)
    ]
    return all(filled) or max(median(widths[0]), median(widths[-1] or [0])) > narrow


def _with_headings(band: list[Line], edge: float) -> list[Line]:
    """Remove headings at the end of two columns from a band; they belong to the wide text below."""
    usual = median(line.size for line in band)
    end = len(band)
    while end and (line := band[end - 1]).x1 < edge and (line.bold or line.size > LARGER * usual):
        end -= 1
    headings = band[end:]
    del band[end:]
    return headings


def _add_band(flows: list[list[Line]], wide: list[Line], band: list[Line], edge: float, columns: int) -> None:
    """Add the lines between two wide ones: as two columns if they are, else as wide lines."""
    left = [part for line in band if (part := _part(line, [c for c in line.cells if c.x0 < edge - _EDGE]))]
    right = [part for line in band if (part := _part(line, [c for c in line.cells if c.x0 >= edge - _EDGE]))]
    if min(_prose(left), _prose(right)) < 2:
        wide.extend(band)
        return
    if wide:
        flows.append(list(wide))
        wide.clear()
    flows.extend(reading_order(left, columns - 1))
    flows.extend(reading_order(right, columns - 1))


def _part(line: Line, cells: list[Cell]) -> Line | None:
    return Line(cells, line.base, line.page) if cells else None


def _prose(lines: Sequence[Line]) -> int:
    return sum(any(len(cell.text) >= _PROSE for cell in line.cells) for line in lines)


def _is_wide(line: Line, edge: float) -> bool:
    """Whether a line crosses the gap before ``edge``, or is a table row with a label on the left and numbers on the
    right.
    """
    left = right = False
    numbers = True
    for cell in line.cells:
        if cell.x0 >= edge - _EDGE:
            right = True
            numbers = numbers and not _has_letters(cell)
        elif cell.x1 > edge - _EDGE:
            return True
        else:
            left = True
    return left and right and numbers


def _column_edge(lines: Sequence[Line]) -> float | None:
    """Return where the second column of a page begins; None if there is only one."""
    prose = _prose_cells(lines)
    if len(prose) < 2 * _MIN_LINES:
        return None
    start, end = min(cell.x0 for cell in prose), max(cell.x1 for cell in prose)
    width = end - start
    inner = [c.x0 for c in prose if start + 0.2 * width < c.x0 < start + 0.8 * width]
    starts = Counter(round(x / _EDGE) for x in inner)
    for place, count in starts.most_common(3):
        if count < _MIN_LINES:
            break
        edge = min(x for x in inner if round(x / _EDGE) == place)
        left = [c for c in prose if c.x1 <= edge - _EDGE]
        right = [c for c in prose if c.x0 >= edge - _EDGE]
        if min(len(left), len(right)) < _MIN_LINES:
            continue
        end_of_left = max(c.x1 for c in left)
        gap = _GUTTER * median(c.size for c in left)
        if edge - end_of_left < gap:
            continue
        if _is_table(lines, start, edge, width):
            return None
        left_fill = median(c.x1 - c.x0 for c in left) / (edge - start)
        right_fill = median(c.x1 - c.x0 for c in right) / (end - edge)
        if min(left_fill, right_fill) >= _FILLED or _are_three(left_fill, right_fill):
            starts_right = (c.x0 for line in lines for c in line.cells)
            return min(x for x in starts_right if end_of_left + gap <= x <= edge)
    return None


def _is_table(lines: Sequence[Line], start: float, edge: float, width: float) -> bool:
    """Whether the text left of an edge consists of row labels followed by words and numbers: the labels are short, or
    in a narrow column.
    """
    both = 0
    labels: list[float] = []
    for line in lines:
        left = [cell for cell in line.cells if cell.x1 <= edge - _EDGE]
        right = line.cells[len(left) :]
        if left and right and right[0].x0 >= edge - _EDGE and _has_letters(right[0]):
            both += 1
            if len(left) == 1 and len(left[0].text) > _MARKER and any(cell.is_number for cell in right):
                labels.append(left[0].x1 - left[0].x0)
    if len(labels) < max(_MIN_LINES, both / 2):
        return False
    return edge - start < _NARROW * width or median(labels) < _FILLED * (edge - start)


def _prose_cells(lines: Sequence[Line]) -> list[Cell]:
    """Return cells that may be lines of text columns: long ones, but labels of numbers only if they are wide."""
    found: list[Cell] = []
    labels: list[Cell] = []
    for line in lines:
        for cell, following in zip_longest(line.cells, line.cells[1:]):
            if len(cell.text) >= _PROSE and not cell.is_number:
                (labels if following is not None and following.is_number else found).append(cell)
    both = [*found, *labels]
    wide = _LABEL * (max(c.x1 for c in both) - min(c.x0 for c in both)) if both else 0.0
    return [*found, *(cell for cell in labels if cell.x1 - cell.x0 > wide)]


def _has_letters(cell: Cell) -> bool:
    return any(map(str.isalpha, cell.text))


def _are_three(left: float, right: float) -> bool:
    """Whether the widths filled on both sides of an edge are those of one column and two columns."""
    return max(left, right) >= _FILLED and min(left, right) >= _FILLED / 2
