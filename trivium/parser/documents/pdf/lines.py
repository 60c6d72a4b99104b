"""Groups the spans of a page into lines, from top to bottom, and recognises superscripts and subscripts in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trivium.parser.documents.pdf.pdfium import Span
from trivium.parser.math_notation import lowered, note_mark, raised
from trivium.text.normalise import composed

_WIDE_GAP = 0.9
"""Minimum gap between two cells of a line, in font sizes."""
_SAME_LINE = 0.4
"""Maximum difference of two baselines on one line, in sizes of the smaller font ..."""
_ALIKE = 0.8
"""... or of the larger one, if the smaller is at least this fraction of it."""
_RAISED = 0.65
"""Maximum difference of baselines between a line and raised text on it, such as a footnote marker."""
_OVER = 0.5
"""Maximum horizontal overlap of the two, in sizes of the smaller font."""
_LONGEST_MARKER = 6
"""Maximum number of characters of a marker."""
_MARKER_REACH = 3.0
"""Maximum gap between a marker and its line, in sizes of the larger font."""
_ROWS_BETWEEN = 3
"""Maximum number of rows of other columns between a line and raised text on it."""
_SPACE = 0.18

_LIGATURES = str.maketrans(
    {
        "ﬀ": "ff",
        "ﬁ": "fi",
        "ﬂ": "fl",
        "ﬃ": "ffi",
        "ﬄ": "ffl",
        "ﬅ": "st",
        "ﬆ": "st",
        "⁄": "/",
        "\xad": "-",
        "\xa0": " ",
    }
)
_INVISIBLE = re.compile("[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\ufeff\ufffe\uffff]")
BULLETS = "•◦▪▫●○■□·∙⦁‣⁃❑❖◆◇➢➤►▶▸✓✔\uf020-\uf0ff"
"""Characters that begin items, among them those of the fonts Symbol and Wingdings."""
_LEFTWARDS = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_NUMBER = re.compile(
    r"[\s($€£¥+\-–—]*(?:\d[\d,.]*|\.\d+)(?:\([a-z\d]\)|[)%x*†‡\s])*|[—–\-]+\s*%?|n/?[am]\.?|nm",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Cell:
    """A part of a line between wide gaps."""

    text: str
    x0: float
    x1: float
    size: float
    bold: bool
    italic: bool
    hyphen: bool = False
    """Whether it ends with a hyphen that is only due to the line break."""

    @property
    def is_number(self) -> bool:
        return _NUMBER.fullmatch(self.text) is not None


@dataclass(slots=True)
class Line:
    """A line of a page (from 1), with its cells from left to right."""

    cells: list[Cell]
    base: float
    page: int

    @property
    def x0(self) -> float:
        return self.cells[0].x0

    @property
    def x1(self) -> float:
        return self.cells[-1].x1

    @property
    def size(self) -> float:
        """The font size of most of its characters."""
        if len(self.cells) == 1:
            return self.cells[0].size
        return max(self.cells, key=lambda cell: len(cell.text)).size

    @property
    def text(self) -> str:
        return self.cells[0].text if len(self.cells) == 1 else " ".join(cell.text for cell in self.cells)

    @property
    def bold(self) -> bool:
        return all(cell.bold for cell in self.cells)


def lines_of(spans: Iterable[Span], page: int) -> list[Line]:
    """Return the lines of spans in one writing direction, from top to bottom. Where most letters are Hebrew or Arabic,
    a page is read as its mirror image, from the right edge.
    """
    lines = []
    spans = list(spans)
    leftwards = is_leftwards(span.text for span in spans)
    rows = _rows(spans)
    for row in rows:
        if is_leftwards(span.text for span in row):
            _mirror(row)
        row.sort(key=lambda span: span.x0)
    notes = notes_of(rows)
    for row in rows:
        cells = _cells(row, notes)
        if leftwards != is_leftwards(span.text for span in row):
            _mirror(cells)
        if cells:
            lines.append(Line(cells, max(row, key=lambda span: len(span.text)).base, page))
    return lines


def is_leftwards(texts: Iterable[str]) -> bool:
    """Whether most letters of some texts are of a script written from right to left."""
    text = "".join(text for text in texts if not text.isascii())
    return 2 * len(_LEFTWARDS.findall(text)) > len(text)


def _mirror(parts: Iterable[Span | Cell]) -> None:
    for part in parts:
        part.x0, part.x1 = -part.x1, -part.x0


def _rows(spans: Iterable[Span]) -> list[list[Span]]:
    """Group spans by baseline, from top to bottom, including raised or lowered text next to a larger font."""
    rows: list[list[Span]] = []
    sizes: list[float] = []  # largest font size of each row
    base = size = 0.0
    for span in sorted(spans, key=lambda span: -span.base):
        if rows:
            small, large = (size, span.size) if size < span.size else (span.size, size)
            if base - span.base <= _SAME_LINE * (large if small > _ALIKE * large else small):
                rows[-1].append(span)
                if span.size > size:
                    base, size = span.base, span.size
                    sizes[-1] = size
                continue
        rows.append([span])
        base, size = span.base, span.size
        sizes.append(size)
    kept: list[list[Span]] = [[] for _ in rows]
    for index, row in enumerate(rows):
        first, last = max(0, index - _ROWS_BETWEEN), min(len(rows), index + _ROWS_BETWEEN + 1)
        around = [
            at
            for at in range(first, last)
            if at != index and -sizes[at] <= rows[at][0].base - row[0].base <= sizes[at]
        ]
        if not around:
            kept[index].extend(row)
            continue
        largest = SMALLER * max(sizes[at] for at in around)
        for span in row:
            kept[_home(span, index, rows, around) if span.size < largest else index].append(span)
    return [row for row in kept if row]


def _home(span: Span, index: int, rows: Sequence[list[Span]], around: Iterable[int]) -> int:
    """Return the row of a span: the one in which it is raised or lowered, or its own. Larger text in the next column is
    unrelated, but a marker may be alone in a table cell.
    """
    gaps = [
        (abs(gap), at, other.size)
        for at in around
        for other in rows[at]
        if span.size < SMALLER * other.size
        and abs(span.base - other.base) <= _RAISED * other.size
        and (gap := max(span.x0 - other.x1, other.x0 - span.x1)) > -_OVER * span.size
    ]
    if not gaps:
        return index
    is_marker = len(span.text) <= _LONGEST_MARKER
    gap, at, size = min(gaps)
    if gap <= (_MARKER_REACH * size if is_marker else _WIDE_GAP * span.size):
        return at
    alone = is_marker and all(len(other.text) <= _LONGEST_MARKER for other in rows[index])
    return max(at for _, at, _ in gaps) if alone else index


def _cells(row: list[Span], notes: frozenset[str]) -> list[Cell]:
    cells: list[Cell] = []
    bold = letters = 0
    last: Span | None = None
    beside = row[0]  # the last span that is neither raised nor lowered
    for index, span in enumerate(row):
        text = span.text
        if last is not None and text == last.text and abs(span.x0 - last.x0) < 0.3 * span.size:
            continue  # printed twice, for a shadow or bold effect
        gap = _WIDE_GAP * span.size + 1 if last is None else span.x0 - last.x1
        following = row[index + 1].text if index + 1 < len(row) else ""
        reached = cells and gap <= _WIDE_GAP * beside.size
        script = script_of(cells[-1].text, span, beside, following, notes) if reached else None
        if script is None and (gap > _WIDE_GAP * max(span.size, 4.0) or not cells):
            cells.append(Cell(text, span.x0, span.x1, span.size, span.bold, span.italic, span.hyphen))
            beside = span
            bold, letters = len(text) * span.bold, len(text)
        else:
            cell = cells[-1]
            apart = gap > _SPACE * span.size or gap < -_OVER * span.size  # printed over each other: two lines
            between = " " if apart or (span.spaced and gap > 0.03 * span.size) else ""
            cell.text += between + text if script is None else script
            if script is None and span.size >= SMALLER * beside.size:
                beside = span
            cell.x1 = max(cell.x1, span.x1)
            cell.hyphen = span.hyphen
            if len(text) > letters:
                cell.size = span.size
            bold, letters = bold + len(text) * span.bold, letters + len(text)
            cell.bold = bold > 0.8 * letters
            cell.italic = cell.italic and span.italic
        last = span
    for cell in cells:
        cell.text = _clean(cell.text)
    return [cell for cell in cells if cell.text]


def _clean(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    clean = _INVISIBLE.sub("", text.translate(_LIGATURES))
    return composed(" ".join(clean.split()))


SMALLER = 0.9
"""Maximum size of raised or lowered text, relative to the text beside it."""
_SHIFTED = 0.2
_LOWERED = 0.06, 0.65
"""Minimum difference of the baselines, and the maximum of lowered text, in sizes of the text beside it."""
_LONGEST = 12
"""Maximum number of characters."""

_LABEL = re.compile(r"[0-9a-z]{1,3}")
"""What a note begins with."""
_REFERENCE = re.compile(
    r"\d+(?:,\s?\d+)+|[(\[]*(?:[0-9a-z]{1,4}[)\]][\s,]*[(\[]*)+|[(\[].{0,3}", re.IGNORECASE
)
"""References to several notes, or to some in brackets, or a part of them."""
_SLASHES = ("/", "⁄")
_DIGITS = re.compile(r"\d{1,3}")
_SURE = re.compile(r"(?:[×x·*∙]\s?10|(?<![^\W_])(?:[kcdmnµ]?m|ft|in|yd|s))$")
"""Powers of ten and units, after which a number is no reference to a note."""
_DECIMAL = re.compile(r"\d\.\d+$")
"""In print, a number above a decimal is rather a note."""


def notes_of(rows: Sequence[Sequence[Span]]) -> frozenset[str]:
    """Return the labels of the notes on a page: small marks that begin a line. The spans of a row are from left to
    right.
    """
    return frozenset(
        row[0].text
        for row in rows
        if len(row) > 1 and row[0].size < SMALLER * row[1].size and _LABEL.fullmatch(row[0].text)
    )


def script_of(before: str, span: Span, beside: Span, following: str, notes: frozenset[str]) -> str | None:
    """Return ``span`` as a superscript or subscript of the text ``before`` it, which ends with the span ``beside`` on
    the line; None if it is neither. ``following`` is the text after it, ``notes`` are the labels of notes on the page.
    """
    text = span.text.strip()
    shift = (span.base - beside.base) / max(beside.size, 1.0)
    if span.size >= SMALLER * beside.size or len(text) > _LONGEST or " " in text or not before:
        return None
    if _LOWERED[0] < -shift < _LOWERED[1] and not _REFERENCE.fullmatch(text):
        return text if before[-1] in _SLASHES else lowered(before, text)
    if shift <= _SHIFTED or _REFERENCE.fullmatch(text) or (before[-4:].isalpha() and not text[-1].isalnum()):
        return None
    if _DIGITS.fullmatch(text) and following[:1] in _SLASHES:
        return f" {text}" if before[-1].isdigit() else text  # a fraction
    if _DIGITS.fullmatch(text) and not _SURE.search(before) and (text in notes or _DECIMAL.search(before)):
        signed = note_mark(before, text)
    else:
        signed = raised(before, text, following)
    return signed if signed != text else None
