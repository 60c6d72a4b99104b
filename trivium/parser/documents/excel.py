"""XLSX: each sheet is a section, and its rows are lines of a table.

openpyxl reads everything except the cells (names of sheets, shared strings, number formats). Cells are read here
because openpyxl takes twice as long for them, and its row-wise reader does not support merged cells.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from itertools import chain
from typing import IO, Any
from xml.etree.ElementTree import Element, iterparse

from trivium.errors import ParseError
from trivium.limits import InputLimits
from trivium.parser.document import Document
from trivium.parser.documents.archive import Archive
from trivium.parser.documents.base import DocumentFile, page_of
from trivium.parser.documents.heads import Row, SpannedRow
from trivium.parser.documents.office import (
    Deadline,
    check_strict,
    metadata_of,
    modified_of,
    sensible_title,
    translated,
)
from trivium.parser.documents.rows import add_rows
from trivium.text import normalise_heading
from trivium.types import Page

_MAX_FORMULA = 200  # characters; longer formulas are not informative
_MAX_COLUMNS = 1_000  # per sheet; columns further right are dropped
_MAX_MERGED = 10_000  # maximum number of cells filled from merged ones, per sheet
_MAX_PENDING = 200_000  # elements per row: there are 16,384 columns
_ELEMENTS_A_CHECK = 10_000
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ROW, _CELL, _VALUE, _INLINE, _TEXT, _FORMULA = (
    f"{_MAIN}{name}" for name in ("row", "c", "v", "is", "t", "f")
)
_PHONETIC = f"{_MAIN}rPh"
_MERGES = re.compile(rb"mergeCell\s+ref=[\"']([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})[\"']")
_PIECE = 1 << 18
_MARK = 32  # bytes before "sheetData>" in which its end tag begins
_MAX_TAIL = 1 << 21
_DIGITS = 12


def read(file: DocumentFile, limits: InputLimits) -> Page:
    """Read the file as a page; see :class:`~trivium.parser.documents.base.DocumentReader`.

    Its chunks have no page numbers: page breaks depend on the printer, and a place is found by the name of the sheet,
    which is the section.
    """
    archive = Archive(file.data, limits)
    check_strict(archive)
    for name in archive.names:
        if name.lower().endswith((".xml", ".rels")):
            archive.verify(name)
    document = Document(limits.headings)
    with translated("an Excel file (.xlsx)"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles and extensions unknown to the library
        import openpyxl

        book = openpyxl.load_workbook(
            io.BytesIO(file.data), read_only=True, data_only=True, keep_links=False, keep_vba=False
        )
        formats = _formats(book)
        budget = _Budget(limits)
        for sheet in book.worksheets:
            if sheet.sheet_state == "visible":
                _read_sheet(document, sheet, formats, budget)
        properties = book.properties
        title = sensible_title(properties.title)
        metadata, modified = metadata_of(properties), modified_of(properties)
    if not document.has_chunks:
        raise ParseError("the workbook has no text in a sheet that is shown")
    return page_of(document, file, "xlsx", title=title, modified=modified, metadata=metadata)


@dataclass(slots=True)
class _Budget:
    """Remaining limits, shared by all sheets."""

    limits: InputLimits
    cells: int = 0
    deadline: Deadline = field(init=False)

    def __post_init__(self) -> None:
        self.deadline = Deadline(self.limits)

    def take(self, cells: int) -> None:
        self.cells += cells
        if self.cells > self.limits.values:
            raise ParseError(f"the workbook has more than {self.limits.values:,} cells, the limit: split it")


@dataclass(frozen=True, slots=True)
class _Formats:
    """How values are displayed, by style number."""

    epoch: datetime
    dates: frozenset[int]
    durations: frozenset[int]
    percents: frozenset[int]


def _formats(book: Any) -> _Formats:
    from openpyxl.styles.numbers import BUILTIN_FORMATS, BUILTIN_FORMATS_MAX_SIZE

    def shown(number: int) -> str:
        own = number - BUILTIN_FORMATS_MAX_SIZE
        formats = book._number_formats
        return str(formats[own] if 0 <= own < len(formats) else BUILTIN_FORMATS.get(number, ""))

    return _Formats(
        book.epoch,
        frozenset(book._date_formats),
        frozenset(book._timedelta_formats),
        frozenset(at for at, style in enumerate(book._cell_styles) if "%" in shown(style.numFmtId)),
    )


def _read_sheet(document: Document, sheet: Any, formats: _Formats, budget: _Budget) -> None:
    with sheet._get_source() as source:
        merged = _merged(source)
    with sheet._get_source() as source:
        cells = _Cells(sheet._shared_strings, formats, budget)
        rows = _filled(cells.rows(source), merged)
        first = next(rows, None)
        if first is not None:
            document.heading(normalise_heading(sheet.title) or "Sheet", 1)
            add_rows(document, chain((first,), rows), headed=False)


Numbered = tuple[int, list[str]]
"""The number of a row, from 1, and its cells."""


class _Cells:
    """Reads the cells of a sheet, row by row."""

    def __init__(self, strings: Sequence[str], formats: _Formats, budget: _Budget) -> None:
        self._strings = strings
        self._formats = formats
        self._budget = budget
        self._columns: dict[str, int] = {}

    def rows(self, source: IO[bytes]) -> Iterator[Numbered]:
        """Yield the existing rows."""
        number = pending = 0
        for count, (_, element) in enumerate(iterparse(source)):  # noqa: S314 - see the import
            pending += 1
            if pending > _MAX_PENDING:
                raise ParseError(
                    f"a row of the sheet has more than {_MAX_PENDING:,} elements: expected fewer"
                )
            if count % _ELEMENTS_A_CHECK == 0:
                self._budget.deadline.check()
            if element.tag != _ROW:
                continue
            pending = 0
            self._budget.take(len(element) + 1)
            number = _as_int(element.get("r")) or number + 1
            yield number, self._row(element)
            element.clear()

    def _row(self, row: Element) -> list[str]:
        cells: list[str] = []
        column = -1
        for cell in row:
            if cell.tag != _CELL:
                continue
            reference = cell.get("r")
            column = column + 1 if reference is None else self._column(reference)
            text = self._shown(cell)
            if text and column < _MAX_COLUMNS:
                if column >= len(cells):
                    cells.extend([""] * (column + 1 - len(cells)))
                cells[column] = text
        return cells

    def _column(self, reference: str) -> int:
        letters = reference.rstrip("0123456789")
        found = self._columns.get(letters)
        if found is None:
            found = self._columns[letters] = _column_number(letters)
        return found

    def _shown(self, cell: Element) -> str:
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            inline = cell.find(_INLINE)
            return "" if inline is None else _inline_text(inline)
        value = cell.findtext(_VALUE)
        if not value:
            formula = cell.findtext(_FORMULA) or ""  # never computed, as written by libraries
            return f"={formula}" if 0 < len(formula) <= _MAX_FORMULA else ""
        if kind == "e":  # errors such as #REF! are not informative
            return ""
        if kind == "s":
            at = _as_int(value)
            return self._strings[at] if at is not None and at < len(self._strings) else ""
        if kind == "b":
            return "TRUE" if value.strip() == "1" else "FALSE"
        return value if kind in ("str", "d") else self._number(value, _as_int(cell.get("s")) or 0)

    def _number(self, value: str, style: int) -> str:
        try:
            number = float(value)
        except ValueError:
            return value
        if not math.isfinite(number):
            return value
        formats = self._formats
        if style in formats.dates:
            return _shown_date(number, formats.epoch, duration=style in formats.durations) or value
        if style in formats.percents:
            return f"{number * 100:.6g}%"
        return f"{number:.15g}" if "e" not in f"{number:.15g}" or number == 0 else value


def _inline_text(inline: Element) -> str:
    """Return the text of an inline string, of all its formatted parts, without phonetic hints."""
    parts = []
    for child in inline:
        if child.tag == _TEXT:
            parts.append(child.text or "")
        elif child.tag != _PHONETIC:
            parts.extend(text.text or "" for text in child.iter(_TEXT))
    return "".join(parts)


def _shown_date(number: float, epoch: datetime, *, duration: bool) -> str | None:
    """Format a date, time or duration in ISO 8601; None if the number is not a date."""
    from openpyxl.utils.datetime import from_excel

    try:
        value = from_excel(number, epoch, timedelta=duration)
    except (OverflowError, ValueError):
        return None
    if isinstance(value, timedelta):
        return str(value)
    if isinstance(value, datetime):
        # Excel stores dates as days, so seconds are never exact.
        value = (value + timedelta(milliseconds=500)).replace(microsecond=0)
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ")
    if isinstance(value, time):
        return value.replace(microsecond=0).isoformat()
    return value.isoformat() if isinstance(value, date) else None


def _merged(source: IO[bytes]) -> Mapping[int, list[_Merge]]:
    """Return the merged cells of a sheet, by their first row. They are stored after the cells, which are skipped
    unparsed.
    """
    tail = b""
    found = False
    while piece := source.read(_PIECE):
        tail = (tail + piece) if found else (tail[-_MARK:] + piece)
        if not found and (at := tail.find(b"sheetData>")) >= 0 and b"/" in tail[max(0, at - _MARK) : at]:
            found, tail = True, tail[at:]
        if len(tail) > _MAX_TAIL:
            break
    merges: dict[int, list[_Merge]] = {}
    left = _MAX_MERGED
    for match in _MERGES.finditer(tail) if found else ():
        first, top = _column_number(match[1].decode()), int(match[2])
        last, bottom = _column_number(match[3].decode()), int(match[4])
        left -= max(0, last - first + 1) * max(0, bottom - top + 1)
        if left < 0:
            break
        merges.setdefault(top, []).append(_Merge(first, min(last, _MAX_COLUMNS), top, bottom))
    return merges


@dataclass(frozen=True, slots=True)
class _Merge:
    first: int
    last: int
    top: int
    bottom: int


def _filled(rows: Iterator[Numbered], merges: Mapping[int, list[_Merge]]) -> Iterator[Row]:
    """Yield the rows from the first with text, with an empty row for each gap. A merged cell higher than one row is
    repeated in all rows that it covers, because its text applies to each of them.
    """
    open_: list[tuple[_Merge, str]] = []
    previous = 0
    for number, cells in rows:
        spans: list[tuple[int, int]] = []
        for merge in merges.get(number, ()) if merges else ():
            if merge.last > merge.first:
                spans.append((merge.first, merge.last))
            text = cells[merge.first] if merge.first < len(cells) else ""
            if text and merge.bottom > merge.top:
                open_.append((merge, text))
        if open_:
            open_ = [entry for entry in open_ if entry[0].bottom >= number]
            for merge, text in open_:
                if merge.first >= len(cells):
                    cells.extend([""] * (merge.first + 1 - len(cells)))
                cells[merge.first] = text
        if any(cells):
            if previous and number > previous + 1:
                yield ()
            previous = number
            yield SpannedRow(cells, spans) if spans else cells


def _column_number(letters: str) -> int:
    """Return the index of a column, from 0. Invalid names get an index beyond every limit.

    >>> _column_number("A"), _column_number("AB")
    (0, 27)
    """
    if not (letters.isascii() and letters.isalpha()) or len(letters) > len("XFD"):
        return _MAX_COLUMNS
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _as_int(text: str | None) -> int | None:
    """Parse a non-negative integer; None for anything else."""
    return int(text) if text and len(text) < _DIGITS and text.isascii() and text.isdigit() else None
