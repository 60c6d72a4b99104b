"""CSV and TSV files: one table. The delimiter is detected from the rows, not from the file name."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import PurePosixPath

from trivium.errors import ParseError
from trivium.parser.document import Document
from trivium.parser.documents.document_file import DocumentFile, page_of
from trivium.parser.documents.header_rows import Row
from trivium.parser.documents.office import Deadline
from trivium.parser.documents.table_rows import add_rows
from trivium.parser.documents.text import decode
from trivium.settings.limits import InputLimits
from trivium.types import Page

_DELIMITERS = "\t;,|"  # ordered by how rarely they occur inside cells, to break ties
_SAMPLE_ROWS = 100
_SAMPLE_CHARACTERS = 1 << 16
_MIN_FIT = 0.7
"""Minimum share of rows with the same number of cells for a character to count as the delimiter."""
_ROWS_A_CHECK = 1_000


def read(file: DocumentFile, limits: InputLimits) -> Page:
    """Read the file as a page with the rows of its table; see :class:`.DocumentReader`."""
    document = Document(limits.headings)
    add_rows(document, table_rows(file.data, file.path, limits, file.language), headed=True)
    if not document.has_text:
        raise ParseError("the table has no text")
    return page_of(document, file, "csv")


def table_rows(data: bytes, path: str, limits: InputLimits, language: str | None = None) -> Iterator[Row]:
    """Yield the rows of a table in any encoding, with any delimiter. Raises ParseError."""
    delimiter, text = _declared(decode(data, language, of_table=True))
    if delimiter is None:
        delimiter = "\t" if _is_tsv(path) and "\t" in text else find_delimiter(text)
    return _rows(text, delimiter, limits)


def find_delimiter(text: str) -> str:
    """Detect the delimiter: the character that splits most rows into the same number of cells, at least two. Defaults
    to a comma.

    >>> find_delimiter("a;b\\n1,5;2,5\\n3,5;4,5\\n")
    ';'
    """
    best, best_fit = ",", (0.0, 0)
    for delimiter in _DELIMITERS:
        widths = [len(row) for row in _sample(text, delimiter) if row]
        if not widths:
            continue
        # The first row weighs more, because the delimiter also separates the headers.
        width = max(set(widths), key=lambda number: (widths.count(number), number))
        fit = widths.count(width) / len(widths) * (1.0 if widths[0] == width else 0.8)
        if width > 1 and fit >= _MIN_FIT and (fit, width) > best_fit:
            best, best_fit = delimiter, (fit, width)
    return best


def _sample(text: str, delimiter: str) -> list[list[str]]:
    rows: list[list[str]] = []
    sample = text[:_SAMPLE_CHARACTERS]
    if len(sample) < len(text):
        sample = sample[: sample.rfind("\n") + 1] or sample
    try:
        for row in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter):
            rows.append(row)
            if len(rows) >= _SAMPLE_ROWS:
                break
    except csv.Error:
        pass  # the rows before are sufficient
    return rows


def _declared(text: str) -> tuple[str | None, str]:
    """Return the delimiter declared in a first line ``sep=;``, as written by Excel, and the remaining text."""
    line, _, below = text.partition("\n")
    if line.lower().startswith("sep=") and len(line) == len("sep=;"):
        return line[-1], below
    return None, text


def _is_tsv(path: str) -> bool:
    return PurePosixPath(path).suffix.lower() in (".tsv", ".tab")


def _rows(text: str, delimiter: str, limits: InputLimits) -> Iterator[Row]:
    deadline = Deadline(limits)
    cells = 0
    lines = io.StringIO(text, newline="")
    if _is_unbalanced(text, delimiter):
        table = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    else:
        table = csv.reader(lines, delimiter=delimiter)
    try:
        for number, row in enumerate(table):
            cells += len(row)
            if cells > limits.values:
                raise ParseError(f"the table has more than {limits.values:,} cells, the limit: split it")
            if number % _ROWS_A_CHECK == 0:
                deadline.check()
            yield row
    except csv.Error as error:
        raise ParseError(f"expected a table (CSV), got text that is none: {error}") from error


def _is_unbalanced(text: str, delimiter: str) -> bool:
    """Whether quotation marks are ordinary characters. Otherwise an unclosed quote would swallow the following rows."""
    if text.count('"') % 2 == 0:
        return False
    try:
        for _ in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True):
            pass
    except csv.Error:
        return True
    return False
