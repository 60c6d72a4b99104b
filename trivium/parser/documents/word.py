"""DOCX: headings by the level of their styles, lists, tables, text boxes, notes, pictures.

python-docx opens the package and its styles. The text is read from the XML, because half of it (text boxes, notes,
links, tracked changes, content controls) is not accessible through the library.
"""

from __future__ import annotations

from trivium.errors import ParseError
from trivium.limits import InputLimits
from trivium.parser.documents.archive import Archive
from trivium.parser.documents.base import DocumentFile, page_of
from trivium.parser.documents.office import (
    check_strict,
    metadata_of,
    modified_of,
    plain_type,
    sensible_title,
    translated,
)
from trivium.parser.documents.word_body import Body
from trivium.types import Page


def read(file: DocumentFile, limits: InputLimits) -> Page:
    """Read the file as a page; see :class:`~trivium.parser.documents.base.DocumentReader`.

    Its chunks have no page numbers: a Word file does not contain page breaks, which are determined by the program that
    displays it.
    """
    archive = Archive(file.data, limits)
    check_strict(archive)
    with translated("a Word file (.docx)"):
        import docx

        opened = docx.Document(archive.parts(plain_type))
        properties = opened.core_properties
        given = sensible_title(_title(properties))
        body = Body(opened, archive, limits, given)
        body.read()
        metadata, modified = metadata_of(properties), modified_of(properties)
    document = body.document
    if not document.has_chunks:
        raise ParseError("the document has no text")
    return page_of(document, file, "docx", title=given or body.title, modified=modified, metadata=metadata)


def _title(properties: object) -> str | None:
    title = getattr(properties, "title", None)
    return title if isinstance(title, str) else None
