"""Plain text: paragraphs between blank lines. Nothing in it is a heading for sure, so that it has no sections."""

from __future__ import annotations

import codecs
import re

from trivium.errors import ParseError
from trivium.limits import InputLimits
from trivium.parser.document import Document
from trivium.parser.documents.base import DocumentFile, page_of
from trivium.parser.runs import Verbatim
from trivium.parser.sources.base import clean_text
from trivium.text import composed
from trivium.types import ChunkKind, Page

_PARAGRAPHS = re.compile(r"\n[ \t]*\n\s*")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MAX_UNPRINTABLE = 0.02
"""Share of control characters beyond which a file is no text."""


def read(file: DocumentFile, limits: InputLimits) -> Page:
    """The file as a page called after it; see :class:`~trivium.parser.documents.base.DocumentReader`."""
    document = Document(limits.headings)
    for paragraph in _PARAGRAPHS.split(decode(file.data)):
        run = Verbatim()
        run.add(paragraph)
        document.block(ChunkKind.PARAGRAPH, run)
    if not document.has_chunks:
        raise ParseError("the file has no text")
    return page_of(document, file, "text")


def decode(data: bytes) -> str:
    """Text of a file: by its byte order mark, else UTF-8, else Windows-1252. Line ends are those of Unix. Raises
    ParseError for what is no text.

    >>> decode("Größe".encode("cp1252"))
    'Größe'
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text = data[len(mark) :].decode(encoding, "replace")
            break
    else:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            text = data.decode("cp1252", "replace")
    clean = clean_text(text)
    changed = sum(before != after for before, after in zip(text, clean, strict=True)) if clean != text else 0
    if changed > _MAX_UNPRINTABLE * len(text):
        raise ParseError("expected text, got binary data")
    return composed(clean).replace("\r\n", "\n").replace("\r", "\n")
