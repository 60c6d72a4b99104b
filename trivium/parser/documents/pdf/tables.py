"""Finds the tables among the lines of a page: rows of aligned cells, and their column headers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from trivium.parser.documents.header_rows import header_of
from trivium.parser.documents.pdf.lines import BULLETS, Cell, Line
from trivium.parser.documents.pdf.table_heads import Head, heads_of
from trivium.parser.documents.pdf.wrapped_cells import whole_rows
from trivium.parser.tables import Cell as TableCell
from trivium.parser.tables import Table

_MAX_ROWS = 1_000
_MAX_COLUMNS = 40
_NEAR = 3.2
"""Maximum distance of two rows of a table, in font sizes ..."""
_FAR = 7.0
"""... and if the numbers of the lower row are aligned with those of the upper one."""
_BETWEEN, _BETWEEN_ALIGNED = 3, 6
"""Maximum number of single-cell lines between two rows, and between two rows with aligned numbers."""
_SEEN = 60
_LONG = 120
"""Minimum number of characters of a single cell that is not a table row."""
_DATED = 3
"""Number of labelled rows of years from which years are values, not headers."""
_SHORTEST_NOTE = 30
"""Minimum number of characters of a footnote that ends a table."""
_HEAD_LINES = 4
"""Maximum number of single-cell lines above the first row that may be column headers."""

_CURRENCY = re.compile(r"[$€£¥]|US\$|\(?\$\(?")
_TRAILING_CURRENCY = re.compile(r"(.*\S)\s+([$€£¥])")
_SPACED_CURRENCY = re.compile(r"[$€£¥]\s")
_CLOSING = re.compile(r"[)%\s]+|\([a-z]\)|bps|x")
_YEAR = re.compile(
    r"(?:(?:fiscal|fy|year|years?\s+ended|as\s+of|at|[a-z]{3,9}\.?\s+\d{1,2},?)\s*)*(?:19|20)\d\d[a-z*]?(?:\s*\([a-z\d]\))?",
    re.IGNORECASE,
)
_FOOTNOTE = re.compile(r"\(\d{1,2}\)")
_UNIT = re.compile(r"\(.*\)|.*\b(?:millions|thousands|billions|ended|in dollars)\b.*", re.IGNORECASE)
_MARKER = re.compile(rf"[{BULLETS}–—\-*]|(?!n[or]\.)\(?[a-z\d]{{1,3}}[.)]|\([ivx]+\)", re.IGNORECASE)

Row = dict[int, list[Cell]]
"""The cells of a line by column."""


@dataclass(slots=True)
class FoundTable:
    """Lines ``first`` to ``last`` (exclusive) of a flow, as a table."""

    first: int
    last: int
    table: Table


def find_tables(lines: Sequence[Line]) -> list[FoundTable]:
    """Return the tables among the lines of a flow, in order."""
    if sum(len(line.cells) > 1 for line in lines) < 2:
        return []
    rows = [_joined(line.cells) for line in lines]
    found: list[FoundTable] = []
    at = 0
    while at < len(lines):
        end = _end(lines, rows, at) if len(rows[at]) > 1 and not _is_note(rows[at]) else at
        if end - at < 2:
            at += 1
            continue
        first = _with_head(lines, rows, at, end, found[-1].last if found else 0)
        whole, end = whole_rows(lines, rows, first, end)
        table = _table(whole)
        if table is not None:
            found.append(FoundTable(first, end, table))
        at = end
    return found


def _joined(cells: Sequence[Cell]) -> list[Cell]:
    """Join currency signs and closing marks with their numbers, and bullets with their items."""
    if len(cells) == 1:
        return list(cells)
    out: list[Cell] = []
    prefix: Cell | None = None
    for cell in cells:
        text = cell.text
        if prefix is not None and _MARKER.fullmatch(prefix.text) and _MARKER.fullmatch(text):
            out.append(prefix)  # units: "(m) | (kg)"
            prefix = None
        if prefix is not None:
            text = prefix.text + ("" if _CURRENCY.fullmatch(prefix.text) else " ") + text
            cell = Cell(text, prefix.x0, cell.x1, cell.size, cell.bold, cell.italic, cell.hyphen)
            prefix = None
        if _CURRENCY.fullmatch(text) or (not out and _MARKER.fullmatch(text) and not cell.is_number):
            prefix = cell
            continue
        if trailing := _TRAILING_CURRENCY.fullmatch(text):
            middle = cell.x1 - 0.6 * cell.size
            prefix = Cell(trailing[2], middle, cell.x1, cell.size, cell.bold, cell.italic)
            cell = Cell(trailing[1], cell.x0, middle - 1, cell.size, cell.bold, cell.italic)
            text = cell.text
        if cell.is_number and _SPACED_CURRENCY.match(text):
            cell = Cell(text[0] + text[1:].lstrip(), cell.x0, cell.x1, cell.size, cell.bold, cell.italic)
        if out and _CLOSING.fullmatch(text) and out[-1].is_number:
            last = out[-1]
            out[-1] = Cell(last.text + text, last.x0, cell.x1, last.size, last.bold, last.italic, last.hyphen)
            continue
        out.append(cell)
    if prefix is not None:
        out.append(prefix)
    return out


def _end(lines: Sequence[Line], rows: Sequence[list[Cell]], first: int) -> int:
    """Return the end of the table that begins with a line of several cells."""
    end = first + 1
    numbers = [cell for cell in rows[first] if cell.is_number]
    for at in range(first + 1, min(len(lines), first + _MAX_ROWS)):
        if _is_note(rows[at]):
            break
        several = len(rows[at]) > 1
        aligned = several and _aligned(rows[at], numbers)
        distance = abs(lines[at - 1].base - lines[at].base) / max(lines[at].size, lines[at - 1].size, 1.0)
        if distance > (_FAR if aligned or _continues(rows, at, numbers) else _NEAR):
            break
        if several and (aligned or at - end < _BETWEEN):
            end = at + 1
            numbers = [*numbers[-_SEEN:], *(cell for cell in rows[at] if cell.is_number)]
        elif len(rows[at][0].text) > _LONG or at - end >= _BETWEEN_ALIGNED:
            break
    return end


def _is_note(row: Sequence[Cell]) -> bool:
    """Whether a line is a footnote, which begins with its marker."""
    return (
        len(row) == 2
        and _FOOTNOTE.fullmatch(row[0].text) is not None
        and not row[1].is_number
        and len(row[1].text) > _SHORTEST_NOTE
    )


def _aligned(row: Sequence[Cell], numbers: Sequence[Cell]) -> bool:
    """Whether the numbers of a row are aligned with others."""
    found = [cell for cell in row if cell.is_number]
    return bool(found) and all(any(n.x0 < cell.x1 and cell.x0 < n.x1 for n in numbers) for cell in found)


def _continues(rows: Sequence[list[Cell]], at: int, numbers: Sequence[Cell]) -> bool:
    """Whether a row whose numbers are aligned with those of a table follows soon."""
    for row in rows[at : at + _BETWEEN_ALIGNED]:
        if len(row) > 1:
            return _aligned(row, numbers)
        if len(row[0].text) > _LONG:
            return False
    return False


def _with_head(lines: Sequence[Line], rows: Sequence[list[Cell]], first: int, end: int, after: int) -> int:
    """Return the first line of the column headers: lines above the first row that do not begin where labels do."""
    left = min(row[0].x0 for row in rows[first:end])
    for at in range(first - 1, max(after, first - _HEAD_LINES) - 1, -1):
        cell = rows[at][0]
        near = abs(lines[at].base - lines[at + 1].base) <= 2.0 * max(cell.size, 4.0)
        if len(rows[at]) > 1 or not near or cell.x0 < left + 8 * cell.size or len(cell.text) > 60:
            break
        first = at
    return first


def _table(rows: Sequence[list[Cell]]) -> Table | None:
    columns = _columns(rows)
    if len(columns) < 2:
        return None
    placed = [_place(row, columns) for row in rows]
    numbers = any(_has_values(row) for row in placed)
    if not numbers and sum(len(row) > 1 for row in placed) < 3:
        return None
    table = Table(is_infobox=False)
    if numbers:
        _fill_with_numbers(table, rows, placed, columns)
    else:
        _fill_with_text(table, placed, columns)
    return table


def _columns(rows: Sequence[list[Cell]]) -> list[tuple[float, float]]:
    """Return the extents of columns: of aligned numbers, and of labels."""
    several = [row for row in rows if len(row) > 1]
    with_values = [row for row in several if any(_is_value(cell) for cell in row)]
    if len(with_values) >= 2:
        numbers = _merged([[cell for cell in row if cell.is_number] for row in with_values])
        labels = [
            [c for c in row if not c.is_number and not any(a < c.x1 and c.x0 < b for a, b in numbers)]
            for row in with_values
        ]
        return sorted([*numbers, *_merged(labels)])[:_MAX_COLUMNS]
    width = max(cell.x1 for row in rows for cell in row) - min(cell.x0 for row in rows for cell in row)
    return _merged([[cell for cell in row if cell.x1 - cell.x0 < 0.7 * width] for row in several])[
        :_MAX_COLUMNS
    ]


def _merged(rows: Sequence[Sequence[Cell]]) -> list[tuple[float, float]]:
    """Return the extents of columns of aligned cells. A cell over two columns that are separate in some row is left
    out.
    """
    columns: list[tuple[float, float, set[int]]] = []
    cells = [(cell.x1 - cell.x0, cell.x0, cell.x1, index) for index, row in enumerate(rows) for cell in row]
    for _, x0, x1, index in sorted(cells):
        below = [column for column in columns if column[0] < x1 and x0 < column[1]]
        members = {index}.union(*(column[2] for column in below))
        if len(members) < 1 + sum(len(column[2] - {index}) for column in below) and len(below) > 1:
            continue
        columns = [column for column in columns if column not in below]
        columns.append(
            (min(x0, *(c[0] for c in below)) if below else x0, max([x1, *(c[1] for c in below)]), members)
        )
    return sorted((a, b) for a, b, _ in columns)


def _place(row: Sequence[Cell], columns: Sequence[tuple[float, float]]) -> Row:
    placed: Row = {}
    for cell in row:
        placed.setdefault(_column(cell, columns), []).append(cell)
    return placed


def _column(cell: Cell, columns: Sequence[tuple[float, float]]) -> int:
    best, most = 0, float("-inf")
    for index, (a, b) in enumerate(columns):
        overlap = min(b, cell.x1) - max(a, cell.x0)  # negative: the distance
        if overlap > most:
            best, most = index, overlap
    return best


def _is_value(cell: Cell) -> bool:
    return cell.is_number and not _YEAR.fullmatch(cell.text)


def _has_values(row: Row) -> bool:
    values = [cell for column, cells in row.items() if column for cell in cells]
    if any(_is_value(cell) and not _FOOTNOTE.fullmatch(cell.text) for cell in values):
        return True
    # "shares purchased | (2) | programs" are headers; "(1)" alone is a negative number.
    return any(map(_is_value, values)) and all(cell.is_number for cell in values)


def _fill_with_numbers(
    table: Table, rows: Sequence[list[Cell]], placed: Sequence[Row], columns: Sequence[tuple[float, float]]
) -> None:
    above: list[Row] = []  # lines of a header
    names = _naming(rows, placed)
    for index, row in enumerate(placed):
        # A label between two header lines belongs to the header.
        if names[index] or (above and len(row) == 1 and 0 in row and any(names[index + 1 : index + 2])):
            above.append(row)
            continue
        _add_head(table, above, columns)
        above = []
        _add_row(table, row, columns)
    _add_head(table, above, columns)
    _join_labels(table)


def _naming(rows: Sequence[list[Cell]], placed: Sequence[Row]) -> list[bool]:
    """Return for each row whether it names columns. If several labelled rows consist of years, these are values."""
    dated = [
        0 in row and len(row) > 1 and _all_years(row) and not all(cell.bold for cell in cells)
        for row, cells in zip(placed, rows, strict=True)
    ]
    plain = len(placed) > 2 and _are_names(placed)
    dates = sum(dated) >= _DATED
    first = dated.index(True) if dates else 0
    return [
        not _has_values(row)
        and not (index and len(row) == 1 and 0 in row)
        and not (dates and index >= first and _all_years(row))
        and ((plain and not index) or _heads(row, rows[index]))
        for index, row in enumerate(placed)
    ]


def _are_names(placed: Sequence[Row]) -> bool:
    """Whether the first row names columns although it is not bold, judging by the rows below."""
    width = 1 + max(column for row in placed for column in row)
    texts = [[" ".join(cell.text for cell in row.get(at, ())) for at in range(width)] for row in placed]
    return all(texts[0]) and header_of(texts, headed=False) is not None


def _add_head(table: Table, lines: Sequence[Row], columns: Sequence[tuple[float, float]]) -> None:
    """Add the lines of a header. Text to the left of it names the labels, if the other columns are not named by years; a
    unit is added above because it names no column.
    """
    label = ""
    for row in lines:
        text = " ".join(cell.text for cell in row.get(0, ()))
        if text and (text[-1] in ".:" or _UNIT.fullmatch(text) or _all_years(row)):
            _add_row(table, {0: row[0]}, columns)
        else:
            label = f"{label} {text}".strip()
    over = [[cell for column, cells in row.items() if column for cell in cells] for row in lines]
    for heads in heads_of(over, columns):
        table.head_rows.add(len(table.rows))
        table.rows.append(_head_row(label, heads, len(columns)))
        label = ""


def _head_row(label: str, heads: Sequence[Head], columns: int) -> list[TableCell]:
    cells = [_cell(label, is_header=True)]
    at = 1
    for head in heads:
        cells.extend(_cell("", is_header=True) for _ in range(head.first - at))
        cells.append(_cell(head.text, is_header=True, columns=head.last - head.first + 1))
        at = head.last + 1
    cells.extend(_cell("", is_header=True) for _ in range(columns - at))
    return cells


def _heads(row: Row, cells: Sequence[Cell]) -> bool:
    """Whether a row without values names columns."""
    if not any(column for column in row):
        return False
    label = " ".join(cell.text for cell in row.get(0, ()))
    return (
        not label or all(cell.bold for cell in cells) or _UNIT.fullmatch(label) is not None or _all_years(row)
    )


def _all_years(row: Row) -> bool:
    return all(_YEAR.fullmatch(cell.text) for column, cells in row.items() if column for cell in cells)


def _cell(text: str, *, is_header: bool, columns: int = 1) -> TableCell:
    cell = TableCell(is_header=is_header, columns=columns)
    if text:
        cell.parts.append(text)
        cell.length = len(text)
    return cell


def _add_row(table: Table, row: Row, columns: Sequence[tuple[float, float]]) -> None:
    if len(row) == 1 and 0 in row:
        cells = [_cell(" ".join(cell.text for cell in row[0]), is_header=False, columns=len(columns))]
    else:
        cells = [
            _cell(" ".join(c.text for c in row.get(index, ())), is_header=index == 0 and 0 in row)
            for index in range(len(columns))
        ]
    table.rows.append(cells)


def _join_labels(table: Table) -> None:
    """Join the lines of a label: a row without values that ends mid-phrase is merged with the row below."""
    at = len(table.rows) - 2
    while at >= 0:
        row, below = table.rows[at], table.rows[at + 1]
        if len(row) == 1 and len(below) > 1 and at not in table.head_rows and at + 1 not in table.head_rows:
            label, rest = row[0].text, below[0].text
            goes_on = rest and (rest[0].islower() or label[-1:] in ",-–")
            if label and label[-1] not in ".:" and (goes_on or not rest):
                below[0] = _cell(f"{label} {rest}".rstrip(), is_header=True)
                del table.rows[at]
                table.head_rows = {head - (head > at) for head in table.head_rows}
        at -= 1


def _fill_with_text(table: Table, placed: Sequence[Row], columns: Sequence[tuple[float, float]]) -> None:
    """Fill a table of words: cells continue on the next line; a line without a first cell belongs to the row above."""
    merged: list[Row] = []
    for row in placed:
        if merged and 0 not in row:
            for column, cells in row.items():
                merged[-1].setdefault(column, []).extend(cells)
        else:
            merged.append(row)
    bold = [all(cell.bold for cells in row.values() for cell in cells) for row in merged]
    label = "".join(cell.text for cell in merged[0].get(0, ()))
    numbered = any(map(str.isdigit, label))
    headed = len(merged) > 1 and len(merged[0]) > 1 and bold[0] and not (all(bold) or numbered)
    headed = headed or (len(merged) > 2 and _are_names(merged))
    for index, row in enumerate(merged):
        if index == 0 and headed:
            table.head_rows.add(0)
            table.rows.append(
                [
                    _cell(" ".join(c.text for c in row.get(column, ())), is_header=True)
                    for column in range(len(columns))
                ]
            )
        else:
            _add_row(table, row, columns)
