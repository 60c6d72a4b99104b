"""Plain text: paragraphs between blank lines, below headings that are underlined. Others cannot be told from text. The
lines of a paragraph that an editor has wrapped are joined.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from trivium.errors import ParseError
from trivium.parser.document import Document
from trivium.parser.documents.document_file import DocumentFile, page_of
from trivium.parser.encodings import decoded_as
from trivium.parser.sources.source_items import clean_text
from trivium.parser.text_runs import Verbatim
from trivium.settings.limits import InputLimits
from trivium.text.normalise import composed
from trivium.types import ChunkKind, Page

_PARAGRAPHS = re.compile(r"\n[ \t]*\n\s*")
_UNDERLINE = re.compile(r"[ \t]{0,3}(={3,}|-{3,}|~{3,}|\*{3,}|\^{3,}|_{3,})[ \t]*")
_LONGEST_HEADING = 100
_ITEM = re.compile(r"[ \t]*(?:[*•‣▪◦–—+-]|\(?(?:\d{1,3}|[A-Za-z])[.)])[ \t]+")
_COLUMNS = re.compile(r"\S[ \t]{2,}\S|\t\S|\|")
_ENDS = (".", "!", "?", ":", ";")
_RAGGED = 8
"""Characters by which a line may be shorter than the others, unless it ends with a sentence."""
_NARROWEST, _WIDEST = 50, 120
"""Characters of the longest line of a paragraph that an editor has wrapped."""
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b(?:[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]+[0-~]|[0-~])"
)
"""Colours, movements of the cursor, titles of windows and other commands of terminals (ECMA-48)."""
_OVERSTRUCK = re.compile(r"[^\n\x08]\x08")
_IN_TEXT = str.maketrans({"\f": "\n\n", "\v": "\n", "\x07": None, "\x08": None})
_IN_TABLES = _IN_TEXT | str.maketrans("\f\v", "  ")
_MAX_UNPRINTABLE = 0.02
"""Share of control characters above which a file is not text."""


def read(file: DocumentFile, limits: InputLimits) -> Page:
    """Read the file as a page named after it; see :class:`.DocumentReader`."""
    document = Document(limits.headings)
    write_paragraphs(document, decode(file.data, file.language))
    if not document.has_text:
        raise ParseError("the file has no text")
    return page_of(document, file, "text")


def write_paragraphs(document: Document, text: str) -> None:
    """Add the paragraphs of a text, which are between blank lines, and the headings that are underlined: those with the
    sign that comes first contain the others. Lines that an editor has wrapped are joined.
    """
    signs: list[str] = []
    paragraphs = [paragraph.split("\n") for paragraph in _PARAGRAPHS.split(text)]
    is_wrapped = _is_wrapped(paragraphs)
    for rest in paragraphs:
        while (place := _heading_in(rest)) is not None:
            _write(document, rest[:place], is_wrapped)
            sign = rest[place + 1].strip()[0]
            signs += [sign] if sign not in signs else []
            document.heading(" ".join(rest[place].split()), signs.index(sign) + 1)
            rest = rest[place + 2 :]
        _write(document, rest, is_wrapped)


def _heading_in(lines: Sequence[str]) -> int | None:
    """Return which line is a heading: it is followed by a line of one sign about as long, or longer, and nothing but a
    blank line or an underline stands before it.
    """
    for place, (above, below) in enumerate(pairwise(lines)):
        said = above.strip()
        if (
            _UNDERLINE.fullmatch(below)
            and 0 < len(said) <= min(_LONGEST_HEADING, len(below.strip()) + 2)
            and any(map(str.isalnum, said))
            and (place == 0 or _UNDERLINE.fullmatch(lines[place - 1]))
        ):
            return place
    return None


def _write(document: Document, lines: Sequence[str], is_wrapped: bool) -> None:
    if any(line.strip() for line in lines):
        run = Verbatim()
        going_on = _going_on(lines) if is_wrapped else frozenset[int]()
        joined = [
            f" {line.strip()}" if place in going_on else f"\n{line}" if place else line
            for place, line in enumerate(line.rstrip() if going_on else line for line in lines)
        ]
        run.add("".join(joined))
        document.block(ChunkKind.PARAGRAPH, run)


def _is_wrapped(paragraphs: Sequence[Sequence[str]]) -> bool:
    """Whether an editor has wrapped the lines of a text: a third of those that seem to go on begin with a small letter,
    unlike records and verses.
    """
    begins = [lines[place].strip()[0] for lines in paragraphs for place in _going_on(lines)]
    return 0 < len(begins) <= 3 * sum(map(str.islower, begins))


def _going_on(lines: Sequence[str]) -> frozenset[int]:
    """Return which lines of a paragraph seem to go on with the one before: their first word would hardly have fitted into
    the width of the longest one. Items, columns and lines that are indented otherwise begin anew.
    """
    width = max((len(line.rstrip()) for line in lines), default=0)
    if not _NARROWEST <= width <= _WIDEST:
        return frozenset()
    found: list[int] = []
    indent = 0
    for place, (before, line) in enumerate(pairwise(["", *lines])):
        item, own = _ITEM.match(line), len(line) - len(line.lstrip())
        if place and item is None and own == indent and _goes_on(before.strip(), line.strip(), width - own):
            found.append(place)
        else:
            indent = item.end() if item else own
    return frozenset(found)


def _goes_on(before: str, line: str, width: int) -> bool:
    word = line.split(maxsplit=1)[:1]
    if not before or not word or _COLUMNS.search(before) or _COLUMNS.search(line):
        return False
    room = width - len(before) - 1
    return len(word[0]) > room or (not before.endswith(_ENDS) and len(word[0]) > room - _RAGGED)


def decode(
    data: bytes, language: str | None = None, label: str | None = None, *, of_table: bool = False
) -> str:
    """Decode the text of a file (:func:`trivium.parser.encodings.decoded_as`), with Unix line ends. ``of_table``: a page
    break does not end a line. Raises ParseError for binary data, and when the encoding cannot be detected.

    >>> decode("Größe".encode("cp1252"))
    'Größe'
    """
    text = without_controls(decoded_as(data, label, language), of_table=of_table)
    clean = clean_text(text)
    changed = sum(before != after for before, after in zip(text, clean, strict=True)) if clean != text else 0
    if changed > _MAX_UNPRINTABLE * len(text):
        raise ParseError("expected text, got binary data")
    return composed(clean).replace("\r\n", "\n").replace("\r", "\n")


def without_controls(text: str, *, of_table: bool = False) -> str:
    """Remove what only printers and terminals understand: a page break ends a paragraph, an overstruck character is the
    last one printed. What fills the end of a file is no text.

    >>> without_controls("\\x1b[32mgreen\\x1b[0m, _\\x08bold\\fnext page")
    'green, bold\\n\\nnext page'
    """
    text = _ESCAPES.sub("", text.rstrip("\0\x1a"))
    text = _OVERSTRUCK.sub("", text) if "\x08" in text else text
    return text.translate(_IN_TABLES if of_table else _IN_TEXT)
