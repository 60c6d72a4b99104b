"""Plain text: paragraphs between blank lines. Headings cannot be recognised reliably, so there are no sections."""

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
"""Share of control characters above which a file is not text."""


def read(file: DocumentFile, limits: InputLimits) -> Page:
    """Read the file as a page named after it; see :class:`~trivium.parser.documents.base.DocumentReader`."""
    document = Document(limits.headings)
    for paragraph in _PARAGRAPHS.split(decode(file.data, file.language)):
        run = Verbatim()
        run.add(paragraph)
        document.block(ChunkKind.PARAGRAPH, run)
    if not document.has_text:
        raise ParseError("the file has no text")
    return page_of(document, file, "text")


def decode(data: bytes, language: str | None = None) -> str:
    """Decode the text of a file (:func:`trivium.parser.encodings.decoded`), with Unix line ends. Raises ParseError for
    binary data, and when the encoding cannot be detected.

    >>> decode("Größe".encode("cp1252"))
    'Größe'
    """
    text = decoded(data, language)
    clean = clean_text(text)
    changed = sum(before != after for before, after in zip(text, clean, strict=True)) if clean != text else 0
    if changed > _MAX_UNPRINTABLE * len(text):
        raise ParseError("expected text, got binary data")
    return composed(clean).replace("\r\n", "\n").replace("\r", "\n")
