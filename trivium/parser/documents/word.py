"""DOCX: headings by the level of their styles, lists, tables, text boxes, notes, pictures.

The text is read from the XML part by part: libraries refuse a file for one part that is missing or damaged, and half of
the text (text boxes, notes, links, tracked changes, content controls) is not accessible through them.
"""

from __future__ import annotations

from trivium.limits import InputLimits
from trivium.parser.documents.archive import Archive
from trivium.parser.documents.base import DocumentFile, page_of
from trivium.parser.documents.office import Package, translated
from trivium.parser.documents.word_body import Body
from trivium.types import Page


def read(file: DocumentFile, limits: InputLimits) -> Page:
    """Read the file as a page; see :class:`~trivium.parser.documents.base.DocumentReader`.

    Its chunks have no page numbers: a Word file does not contain page breaks, which are determined by the program that
    displays it.
    """
    package = Package(Archive(file.data, limits), limits)
    with translated("a Word file (.docx)"):
        properties = package.properties()
        body = Body(package, limits, properties.title)
        body.read()
    document = package.document
    document.expect_chunks("the document has no text")
    return page_of(
        document,
        file,
        "docx",
        title=properties.title or body.title,
        modified=properties.modified,
        metadata=properties.metadata,
    )
