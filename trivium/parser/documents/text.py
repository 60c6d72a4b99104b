"""Plain text: paragraphs between blank lines. Headings cannot be recognised reliably, so there are no sections."""

from __future__ import annotations

import re

from trivium.errors import ParseError
from trivium.parser.document import Document
from trivium.parser.documents.document_file import DocumentFile, page_of
from trivium.parser.encodings import decoded_as
from trivium.parser.sources.source import clean_text
from trivium.parser.text_runs import Verbatim
from trivium.settings.limits import InputLimits
from trivium.text.normalise import composed
from trivium.types import ChunkKind, Page

_PARAGRAPHS = re.compile(r"\n[ \t]*\n\s*")
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
    """Add the paragraphs of a text, which are between blank lines."""
    for paragraph in _PARAGRAPHS.split(text):
        run = Verbatim()
        run.add(paragraph)
        document.block(ChunkKind.PARAGRAPH, run)


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
