"""XLSX: each sheet is a section, and its rows are lines of a table.

The XML is read part by part: libraries refuse a workbook for one style that they do not know, do not read merged cells
row by row, and drop what distinguishes 10³ from 103.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from functools import partial
from itertools import chain
from typing import IO
from xml.etree.ElementTree import Element, iterparse

from trivium.errors import ParseError
from trivium.parser.document import DamagedPartError, Document
from trivium.parser.documents.archive import Archive
from trivium.parser.documents.document_file import DocumentFile
from trivium.parser.documents.drawings import drawn_texts, texts_of
from trivium.parser.documents.header_rows import Row, ShownNumber, SpannedRow
from trivium.parser.documents.number_format import (
    MAIN,
    Formats,
    as_int,
    font_of_symbols,
    is_date,
    is_struck,
    read_formats,
    shown_duration,
    shown_number,
    shown_text,
)
from trivium.parser.documents.office import Deadline, Package, translated
from trivium.parser.documents.office_text import ShiftedText
from trivium.parser.documents.table_rows import RowRun, add_rows, clean_cell
from trivium.parser.symbol_fonts import symbols
from trivium.parser.text_runs import TextRun
from trivium.settings.limits import InputLimits
from trivium.text.normalise import normalise_heading
from trivium.types import ChunkKind, Page

_MAX_FORMULA = 200  # characters; longer formulas are not informative
_MAX_COLUMNS = 1_000  # per sheet; columns further right are dropped
_MAX_MERGED = 10_000  # maximum number of cells filled from merged ones, per sheet
_MAX_PENDING = 200_000  # elements per row: there are 16,384 columns
_ELEMENTS_A_CHECK = 10_000
_ROW, _CELL, _VALUE, _INLINE, _TEXT, _FORMULA = (
    f"{MAIN}{name}" for name in ("row", "c", "v", "is", "t", "f")
)
_STRINGS = "xl/sharedStrings.xml"
_PHONETIC = f"{MAIN}rPh"
_MERGES = re.compile(rb"mergeCell\s+ref=[\"']([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})[\"']")
_PIECE = 1 << 18
_MARK = 32  # bytes before "sheetData>" in which its end tag begins
_MAX_TAIL = 1 << 21
_SECONDS_A_DAY = 86_400
_FALSE_LEAP_DAY = 60  # the 29th of February 1900
_FIRST_CENTURY = 1900


def read(file: DocumentFile, limits: InputLimits) -> Page:
    """Read the file as a page; see :class:`.DocumentReader`.

    Its chunks have no page numbers: page breaks depend on the printer, and a place is found by the name of the sheet,
    which is the section.
    """
    archive = Archive(file.data, limits)
    package = Package(archive, limits)
    document = package.document
    for name in archive.names:
        if name.lower().endswith((".xml", ".rels")):
            with suppress(DamagedPartError):  # told where it is used
                archive.verify(name)
    with translated("an Excel file (.xlsx)"):
        main, book = package.main(
            "xl/workbook.xml", "workbook", (f"{MAIN}sheets", f"{MAIN}sheet"), "xl/worksheets/sheet"
        )
        formats = read_formats(package, main, book)
        budget = _Budget(limits)
        strings = _strings(package, main, budget)
        for number, sheet in enumerate(book.iterfind(f"{MAIN}sheets/{MAIN}sheet"), start=1):
            if sheet.get("state", "visible") == "visible":
                name = sheet.get("name") or f"Sheet {number}"
                part = package.entry(main, sheet, f"xl/worksheets/sheet{number}.xml")
                if part not in archive:
                    document.leave_out(f"the sheet {name!r}", "the file does not have it")
                else:
                    cells = _Cells(document, name, strings, formats, budget)
                    _read_sheet(document, name, partial(archive.stream, part), cells)
                    _read_drawings(package, part, name)
        properties = package.properties()
    document.expect_chunks("the workbook has no text in a sheet that is shown")
    return properties.page_of(document, file, "xlsx")


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


def _strings(package: Package, main: str, budget: _Budget) -> list[str]:
    """Return the texts that cells share."""
    found: list[str] = []
    related = (r.target for r in package.relations(main).values() if r.kind == "sharedStrings")
    name = next(related, _STRINGS if _STRINGS in package.archive else "")
    if not name:
        return found
    with package.document.part("texts of cells"):
        for count, (_, element) in enumerate(iterparse(package.archive.stream(name))):  # noqa: S314
            if element.tag == f"{MAIN}si":
                found.append(_inline_text(element))
                element.clear()
            if count % _ELEMENTS_A_CHECK == 0:
                budget.deadline.check()
    return found


def _read_sheet(document: Document, name: str, source: Callable[[], IO[bytes]], cells: _Cells) -> None:
    """Read a sheet; ``source`` opens it. Of a damaged one the rows before the damage are read."""

    def readable() -> Iterator[Row]:
        with document.part(f"a part of the sheet {name!r}"), source() as for_merged, source() as for_rows:
            yield from _filled(cells.rows(for_rows), _merged(for_merged))

    rows = readable()
    first = next(rows, None)
    if first is not None:
        document.heading(normalise_heading(name) or "Sheet", 1)
        add_rows(document, chain((first,), rows), headed=False)


def _read_drawings(package: Package, sheet: str, name: str) -> None:
    """Read the comments, text boxes and charts of a sheet."""
    where = f" of the sheet {name!r}"
    for relation in package.relations(sheet).values():
        if relation.kind not in ("comments", "drawing") or relation.is_external:
            continue
        root = package.xml(relation.target, f"the {relation.kind}{where}")
        if root is None:
            continue
        lines = texts_of(root)
        for comment in root.iter(f"{MAIN}comment"):
            text = "".join(part.text or "" for part in comment.iter(_TEXT))
            lines.append(f"Comment on {comment.get('ref')}: {clean_cell(text)}")
        for line in lines:
            package.document.block(ChunkKind.PARAGRAPH, RowRun([line]))
        for kind, run in drawn_texts(package, relation.target, root, where):
            package.document.block(kind, run)


Numbered = tuple[int, list[str]]
"""The number of a row, from 1, and its cells."""


class _Cells:
    """Reads the cells of a sheet, row by row."""

    def __init__(
        self, document: Document, name: str, strings: Sequence[str], formats: Formats, budget: _Budget
    ) -> None:
        self._document = document
        self._name = name
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
            number = as_int(element.get("r")) or number + 1
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
        style = as_int(cell.get("s")) or 0
        formats = self._formats
        if style in formats.struck:
            return ""
        code = formats.codes[style] if style < len(formats.codes) else "General"
        if kind == "inlineStr":
            inline = cell.find(_INLINE)
            return "" if inline is None else shown_text(self._symbols(_inline_text(inline), style), code)
        value = cell.findtext(_VALUE)
        if not value:
            formula = cell.findtext(_FORMULA) or ""  # never computed, as written by libraries
            return f"={formula}" if 0 < len(formula) <= _MAX_FORMULA else ""
        if kind == "e":  # errors such as #REF! are not informative
            return ""
        if kind == "s":
            at = as_int(value)
            if at is not None and at < len(self._strings):
                return shown_text(self._symbols(self._strings[at], style), code)
            self._document.leave_out(
                f"cells of the sheet {self._name!r}", "the file does not have their texts"
            )
            return ""
        if kind == "b":
            return "TRUE" if value.strip() == "1" else "FALSE"
        if kind == "d":
            return value.removesuffix("T00:00:00").replace("T", " ")
        return shown_text(value, code) if kind == "str" else self._number(value, code)

    def _symbols(self, text: str, style: int) -> str:
        font = self._formats.symbols.get(style)
        return text if font is None else symbols(text, font)

    def _number(self, value: str, code: str) -> str:
        try:
            number = float(value)
        except ValueError:
            return value
        if not math.isfinite(number):
            return value
        if code != "General" and is_date(code):
            return _shown_date(number, self._formats.epoch, code) or value
        general = f"{number:.15g}" if "e" not in f"{number:.15g}" or number == 0 else value
        return general if code == "General" else ShownNumber(shown_number(number, code, general))


def _inline_text(inline: Element) -> str:
    """Return the text of a string, of all its formatted parts, without phonetic hints and struck-through parts."""
    run = TextRun()
    text = ShiftedText(run)
    for child in inline:
        if child.tag == _TEXT:
            text.add(child.text or "")
        elif child.tag != _PHONETIC:
            look = child.find(f"{MAIN}rPr")
            align = None if look is None else look.find(f"{MAIN}vertAlign")
            shift = {"superscript": 1, "subscript": -1}.get("" if align is None else align.get("val", ""), 0)
            if look is None or not is_struck(look):
                shown = "".join(part.text or "" for part in child.iter(_TEXT))
                font = None if look is None else font_of_symbols(look, "rFont")
                text.add(shown if font is None else symbols(shown, font), shift)
    text.end()
    return run.text


def _shown_date(number: float, epoch: datetime, code: str) -> str | None:
    """Format a date or time in ISO 8601, a duration as shown; None if the number is not a date."""
    try:
        # Excel stores dates as days, so seconds are never exact.
        seconds = math.floor(number * _SECONDS_A_DAY + 0.5)
        since = timedelta(seconds=seconds)
        if (duration := shown_duration(seconds, code)) is not None:
            return ShownNumber(duration)
        if 0 <= number < 1:
            return (epoch + since).time().isoformat()
        if 1 <= number < _FALSE_LEAP_DAY and epoch.year < _FIRST_CENTURY:
            since += timedelta(days=1)  # Excel takes 1900 for a leap year
        when = epoch + since
    except (OverflowError, ValueError):
        return None
    return when.date().isoformat() if when.time() == time() else when.isoformat(" ")


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
