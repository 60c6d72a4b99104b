"""Reads tables of a Word file as tables of a web page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from trivium.parser.documents.drawings import EmbeddedPicture
from trivium.parser.documents.header_rows import head_rows
from trivium.parser.documents.word_styles import W, is_on, value
from trivium.parser.documents.word_text import WordText, content
from trivium.parser.tables import MAX_COLUMNS, MAX_ROWS, Cell, Table, linearise, parse_span
from trivium.parser.text_runs import COMMA, TextRun

_MAX_NESTED = 4  # nested tables; the content of deeper ones is dropped


@dataclass(slots=True)
class WordTable:
    """A formatted table, with the pictures in its cells."""

    run: TextRun
    references: list[tuple[str, int]] = field(default_factory=list)
    pictures: list[EmbeddedPicture] = field(default_factory=list)


def read_table(element: Any, text: WordText, depth: int = 1) -> WordTable:
    """Read a ``<w:tbl>``. Its header rows are those marked as such, else the first row if it looks like one."""
    out = WordTable(TextRun())
    table = Table(is_infobox=False)
    above: dict[int, Cell] = {}  # by column, cells that may continue below
    for row in content(element):
        if row.tag != f"{W}tr":
            continue
        properties = row.find(f"{W}trPr")
        if properties is not None and is_on(properties, "tblHeader"):
            table.head_rows.add(len(table.rows))
        table.rows.append(_row(row, above, text, out, depth))
    if table.head_rows <= {0}:
        table.head_rows |= head_rows(table)
    out.run = linearise(table, "; ") if depth > 1 else linearise(table)
    out.references = [(address, 0) for address, _ in out.references]
    return out


def _row(row: Any, above: dict[int, Cell], text: WordText, out: WordTable, depth: int) -> list[Cell]:
    cells: list[Cell] = []
    column = 0
    for element in content(row):
        if element.tag != f"{W}tc":
            continue
        properties = element.find(f"{W}tcPr")
        span, goes_on = 1, False
        if properties is not None:
            span = parse_span(value(properties, "gridSpan"), MAX_COLUMNS)
            merge = properties.find(f"{W}vMerge")
            goes_on = merge is not None and merge.get(f"{W}val") != "restart"
        first = above.get(column) if goes_on else None
        if first is not None and first.rows < MAX_ROWS:
            first.rows += 1
        else:
            cell = Cell(is_header=False, columns=span)
            _fill(cell, element, text, out, depth)
            cells.append(cell)
            above[column] = cell
        column += span
    return cells


def _fill(cell: Cell, element: Any, text: WordText, out: WordTable, depth: int) -> None:
    for block in content(element):
        cell.separate(COMMA)
        if block.tag == f"{W}p":
            paragraph = text.paragraph(block)
            cell.append(paragraph.run)
            out.references += paragraph.references
            out.pictures += paragraph.pictures
            for loose in (*map(text.note, paragraph.notes), *paragraph.boxes):
                if loose is not None:
                    _fill_loose(cell, loose, text)
        elif block.tag == f"{W}tbl" and depth < _MAX_NESTED:
            inner = read_table(block, text, depth + 1)
            cell.append(inner.run)
            out.references += inner.references
            out.pictures += inner.pictures


def _fill_loose(cell: Cell, element: Any, text: WordText) -> None:
    """Add the paragraphs of a note or text box to a cell."""
    for block in content(element):
        if block.tag == f"{W}p":
            cell.separate(COMMA)
            cell.append(text.paragraph(block).run)
