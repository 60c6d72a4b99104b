"""Plain text: paragraphs between blank lines. Nothing in it is a heading for sure, so that it has no sections."""

from __future__ import annotations

import re

from trivium.errors import ParseError
from trivium.limits import InputLimits
from trivium.parser.document import Document
from trivium.parser.documents.base import DocumentFile, page_of
from trivium.parser.encodings import decoded
from trivium.parser.runs import Verbatim
from trivium.parser.sources.base import clean_text
from trivium.text import composed
from trivium.types import ChunkKind, Page

_PARAGRAPHS = re.compile(r"\n[ \t]*\n\s*")
_MAX_UNPRINTABLE = 0.02
"""Share of control characters beyond which a file is no text."""


def read(file: DocumentFile, limits: InputLimits) -> Page:
    """The file as a page called after it; see :class:`~trivium.parser.documents.base.DocumentReader`."""
    document = Document(limits.headings)
    for paragraph in _PARAGRAPHS.split(decode(file.data, file.language)):
        run = Verbatim()
        run.add(paragraph)
        document.block(ChunkKind.PARAGRAPH, run)
    if not document.has_chunks:
        raise ParseError("the file has no text")
    return page_of(document, file, "text")


def decode(data: bytes, language: str | None = None) -> str:
    """Text of a file (:func:`trivium.parser.encodings.decoded`). Line ends are those of Unix. Raises ParseError for what
    is no text, and where its encoding cannot be told.

    >>> decode("Größe".encode("cp1252"))
    'Größe'
    """
    text = decoded(data, language)
    clean = clean_text(text)
    changed = sum(before != after for before, after in zip(text, clean, strict=True)) if clean != text else 0
    if changed > _MAX_UNPRINTABLE * len(text):
        raise ParseError("expected text, got binary data")
    return composed(clean).replace("\r\n", "\n").replace("\r", "\n")
