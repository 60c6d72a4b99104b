"""Converts rows of values (CSV, sheets) to text, detecting headers and prefixing every cell with the header of its
column.

    Country; Capital; Population
    Country: Norway; Capital: Oslo; Population: 5500000

The format is that of :mod:`trivium.parser.tables`, but rows are written one by one because there may be a hundred
thousand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from trivium.errors import ParseError
from trivium.parser.document import Document
from trivium.parser.documents.header_rows import Labels, Row, SpannedRow, head_of, is_value
from trivium.parser.sources.source_items import clean_text
from trivium.parser.tables import BETWEEN_CELLS, WITHIN_HEADER, shared, shortened
from trivium.parser.text_runs import TextRun
from trivium.types import ChunkKind

_SAMPLE = 50  # rows examined for headers
MAX_COLUMNS = 16_384
"""As in Excel. Each cell is written with its header, so a row may take many times its size in a file."""
_MAX_TITLES = 5  # maximum number of title rows above the headers
_ROWS_A_BLOCK = 5_000  # limits the memory for text that is held twice while it is split into chunks


class RowRun(TextRun):
    """Text of rows that are already formatted."""

    __slots__ = ()

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__()
        self.parts = ["\n".join(lines)]
        self.length = len(self.parts[0])


def clean_cell(text: str) -> str:
    """Return a cell's text on one line, without invisible characters.

    >>> clean_cell(" a\\n b\\u200b ")
    'a b'
    """
    if text.isprintable():
        return text.strip() if "  " not in text else " ".join(text.split())
    run = TextRun()
    run.add(clean_text(text))
    return run.text


def add_rows(document: Document, rows: Iterable[Row], *, headed: bool) -> None:
    """Add the rows of a sheet or file to a document as tables, one per group of rows between empty rows. ``headed``:
    assume that the first row is a header unless that is clearly wrong, as usual in CSV; otherwise two columns of text
    are read as names and values. Raises ParseError for more than :data:`MAX_COLUMNS` columns.
    """
    labels: Labels = ()
    for group in _groups(rows):
        body = list(islice(group, _SAMPLE))
        if len(_beside(body)) > 1:
            body += group
            blocks = _beside(body)
            for first, last in blocks if len(blocks) > 1 else ():
                add_rows(document, [_columns(row, first, last) for row in body], headed=headed)
            if len(blocks) > 1:
                labels, headed = (), False
                continue
        titles = _titles(body)
        if titles and (head := head_of(body[titles - 1 :], headed=False)) is not None and head.rows > 1:
            titles -= 1  # it names the only group of columns
        for title in body[:titles]:
            _add(document, ChunkKind.PARAGRAPH, [_plain(title)])
        del body[:titles]
        found = head_of(body, headed=headed)
        headed = False  # applies to the first group only
        lines = []
        if found is not None:
            labels = tuple(tuple(map(clean_cell, names)) for names in found.labels)
            above: Row = ()
            for row in body[: found.rows]:
                lines.append(_plain([cell for at, cell in enumerate(row) if cell not in above[at : at + 1]]))
                above = row
            del body[: found.rows]
        elif not _fits(body, labels):
            labels = ()
        grouped = any(len(names) > 1 for names in labels)
        single = [] if grouped else [shortened(" ".join(names)) for names in labels]
        for row in chain(body, group):
            lines.append(_grouped_line(row, labels) if grouped else _line(row, single))
            if len(lines) >= _ROWS_A_BLOCK:
                _add(document, ChunkKind.TABLE, lines)
                lines = []
        _add(document, ChunkKind.TABLE, lines)


def _groups(rows: Iterable[Row]) -> Iterator[Iterator[Row]]:
    """Yield groups of rows between empty rows. Each group must be consumed before the next."""
    iterator = map(_of_bounded_width, rows)
    for row in iterator:
        if any(cell.strip() for cell in row):
            group = _until_empty(row, iterator)
            yield group
            for _ in group:
                pass


def _beside(rows: Sequence[Row]) -> list[tuple[int, int]]:
    """Return the columns (first, and behind the last) of the tables of a group: parts between empty columns, each with
    several columns, one of them with words. Otherwise, an empty column is part of one table.
    """
    filled = {at for row in rows for at, cell in enumerate(row) if cell.strip()}
    blocks: list[tuple[int, int]] = []
    for at in sorted(filled):
        if blocks and blocks[-1][1] == at:
            blocks[-1] = blocks[-1][0], at + 1
        else:
            blocks.append((at, at + 1))
    for first, behind in blocks:
        columns = (
            [row[at] for row in rows[1:] if row[at : at + 1] and row[at].strip()]
            for at in range(first, behind)
        )
        if behind - first < 2 or not any(cells and not all(map(is_value, cells)) for cells in columns):
            return [(0, max(filled, default=0) + 1)]
    return blocks


def _columns(row: Row, first: int, behind: int) -> Row:
    cells = list(row[first:behind])
    if not isinstance(row, SpannedRow):
        return cells
    spans = [(max(a, first) - first, min(b, behind - 1) - first) for a, b in row.spans]
    return SpannedRow(cells, [(a, b) for a, b in spans if a <= b])


def _of_bounded_width(row: Row) -> Row:
    if len(row) > MAX_COLUMNS:
        raise ParseError(
            f"the table has {len(row):,} columns, more than the limit of {MAX_COLUMNS:,}: split it"
        )
    return row


def _until_empty(first: Row, rows: Iterator[Row]) -> Iterator[Row]:
    yield first
    for row in rows:
        if not any(cell.strip() for cell in row):
            return
        yield row


def _titles(rows: Sequence[Row]) -> int:
    """Return the number of title rows at the beginning: single cells above rows with several."""
    filled = [sum(1 for cell in row if cell.strip()) for row in rows]
    count = next((at for at, number in enumerate(filled) if number > 1), 0)
    return count if count <= _MAX_TITLES else 0


def _fits(rows: Sequence[Row], labels: Labels) -> bool:
    """Whether rows after an empty row may continue the columns of the previous group: they have the same number."""
    width = max((len(row) for row in rows if any(row)), default=0)
    filled = max((at + 1 for row in rows for at, cell in enumerate(row) if cell.strip()), default=0)
    return bool(labels) and min(width, filled) == len(labels)


def _line(row: Row, labels: Sequence[str]) -> str:
    cells = [(at, clean_cell(cell)) for at, cell in enumerate(row)]
    filled = [(at, cell) for at, cell in cells if cell]
    if labels:
        return BETWEEN_CELLS.join(
            f"{labels[at]}: {cell}" if at < len(labels) and labels[at] else cell for at, cell in filled
        )
    if len(filled) == 2 and not is_value(filled[0][1]):
        return f"{filled[0][1].rstrip(' :')}: {filled[1][1]}"
    return " | ".join(cell for _, cell in filled)


def _grouped_line(row: Row, labels: Labels) -> str:
    """Format a row under two header rows: the outer header is written once for consecutive cells that share it."""
    parts: list[str] = []
    previous: tuple[str, ...] = ()
    for at, cell in enumerate(map(clean_cell, row)):
        if cell:
            names = labels[at] if at < len(labels) else ()
            again = shared(previous, names) if parts else 0
            if parts:
                parts.append(WITHIN_HEADER if again else BETWEEN_CELLS)
            label = shortened(" ".join(names[again:]))
            parts.append(f"{label}: {cell}" if label else cell)
            previous = names
    return "".join(parts)


def _plain(row: Row) -> str:
    return " | ".join(filter(None, (clean_cell(cell) for cell in row)))


def _add(document: Document, kind: ChunkKind, lines: Sequence[str]) -> None:
    if lines:
        document.block(kind, RowRun(lines))
