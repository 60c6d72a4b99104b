"""Reads PDF files with PDFium: text in reading order, headings, tables and lists, with page numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from trivium.errors import MissingExtraError, ParseError
from trivium.parser.document import Document
from trivium.parser.documents.document_file import DocumentFile, page_of
from trivium.parser.documents.pdf.assemble import assemble
from trivium.parser.documents.pdf.blocks import Block, Words, blocks_of
from trivium.parser.documents.pdf.columns import reading_order
from trivium.parser.documents.pdf.document_title import (
    names_something,
    pdf_date,
    printed_title,
    says_all,
    stated_title,
)
from trivium.parser.documents.pdf.lines import Line, lines_of
from trivium.parser.documents.pdf.ocr_pages import PageReader, ReadPicture, with_pictures
from trivium.parser.documents.pdf.pdfium import PdfiumDocument, Span, opened
from trivium.parser.documents.pdf.placed_pictures import PlacedPicture
from trivium.parser.documents.pdf.running_heads import without_furniture
from trivium.parser.ocr import parser_time
from trivium.parser.sources.source_items import clean_text
from trivium.settings.limits import InputLimits
from trivium.text.normalise import composed, normalise_title
from trivium.types import MetadataValue, Page

_REPORTED = {"Author": "author", "Subject": "subject", "Keywords": "keywords"}
_MAX_METADATA = 1_000
_PATIENCE = 2.0
"""Seconds before the speed of reading a document is judged."""
_EXTRACTION_SHARE = 0.7
"""Share of the time limit for extracting the text of pages; the rest is for building blocks."""


def read(file: DocumentFile, limits: InputLimits) -> Page:
    """Read the file as a page; see :class:`.DocumentReader`."""
    with opened(file.data) as pdf:
        if pdf.page_count < 1:
            raise ParseError("the PDF has no pages: expected at least one that can be read")
        if pdf.page_count > limits.pages:
            raise ParseError(
                f"the PDF has {pdf.page_count:,} pages, more than the limit of {limits.pages:,} (limits.pages): split it"
            )
        info, outline = pdf.info(), pdf.outline()
        document = Document(limits.headings)
        pages, minor, placed = _lines(pdf, limits, document)
        empty = [index for index, lines in enumerate(pages) if not lines and not minor.get(index)]
        reader = PageReader(limits)
        if len(empty) == len(pages) and not reader.available and not document.missing:
            raise MissingExtraError("reading a PDF whose pages are pictures", "ocr")
        from_pictures = {index: blocks for index in empty if (blocks := reader.blocks(pdf, index))}
        unread = len(empty) - len(from_pictures)
        blocks, words = _blocks(pages, minor, from_pictures, reader.pictures(pdf, placed))
        reader.add_thumbnails(pdf, blocks)
    title = _title(file, info, pages[0], _size_of_text(pages))
    assemble(document, blocks, words, outline, title)
    document.expect_chunks(
        "the PDF has no text but that of pictures, which is not clear enough to be read: scan it anew"
        if reader.illegible
        else "the PDF has no text: its pages are empty, or pictures in which no text is found"
    )
    return page_of(
        document,
        file,
        "pdf",
        title=title,
        modified=pdf_date(info.get("ModDate", "")),
        metadata=_metadata(info, len(pages), unread, reader.illegible, title),
    )


def _lines(
    pdf: PdfiumDocument, limits: InputLimits, document: Document
) -> tuple[list[list[Line]], dict[int, list[list[Line]]], list[list[PlacedPicture]]]:
    """Return the lines of each page in the main writing direction, those in other directions by page (from 0), and the
    pictures of each page. Pages that cannot be read are left out.

    Raises ParseError as soon as it is clear that the document takes too long.
    """
    pages: list[list[Line]] = []
    minor: dict[int, list[list[Line]]] = {}
    pictures: list[list[PlacedPicture]] = []
    started = parser_time()
    allowed = _EXTRACTION_SHARE * limits.seconds
    for index in range(pdf.page_count):
        written: list[list[Span]] = []
        placed: list[PlacedPicture] = []
        with document.part(f"page {index + 1}"):
            written, placed = pdf.content(index, limits.picture_pixels)
        pictures.append(placed)
        groups = [lines_of(spans, index + 1) for spans in written]
        pages.append(groups[0] if groups else [])
        if len(groups) > 1:
            minor[index] = groups[1:]
        spent = parser_time() - started
        if spent > min(_PATIENCE, allowed) and spent / (index + 1) * pdf.page_count > allowed:
            raise ParseError(
                f"the PDF has {pdf.page_count:,} pages, and to read them would take more than {limits.seconds:g} seconds,"
                " the limit (limits.seconds): split it"
            )
    return pages, minor, pictures


def _blocks(
    pages: Sequence[list[Line]],
    minor: dict[int, list[list[Line]]],
    from_pictures: dict[int, list[Block]],
    pictures: Sequence[Sequence[ReadPicture]],
) -> tuple[list[Block], Words]:
    """Return the blocks of all pages in order, and the words of the document."""
    bodies = without_furniture(pages)
    words = Words(lambda: (line.text for lines in bodies for line in lines))
    blocks: list[Block] = []
    for index, lines in enumerate(bodies):
        shown: list[Block] = []
        for flow in reading_order(lines):
            shown.extend(blocks_of(flow, words))
        blocks.extend(with_pictures(shown, pictures[index], index + 1))
        for group in minor.get(index, ()):
            blocks.extend(blocks_of(group, words))
        blocks.extend(from_pictures.get(index, ()))
    return blocks, words


def _size_of_text(pages: Sequence[Sequence[Line]]) -> float:
    sizes: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            sizes[round(2 * line.size) / 2] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 10.0


def _title(file: DocumentFile, info: dict[str, str], first: Sequence[Line], size: float) -> str:
    """Return the title stated by the document, else the largest text on its first page. The name of the file is
    preferred if it is descriptive, because file names are distinct and were chosen by users, unless the title has all its
    words.
    """
    name = normalise_title(file.title)
    stated = stated_title(composed(clean_text(info.get("Title", ""))))
    titles: Iterator[str] = filter(
        None, map(normalise_title, filter(None, (stated, printed_title(first, size))))
    )
    if names_something(name):
        titles = (title for title in titles if says_all(title, name))
    return next(titles, name)


def _metadata(
    info: dict[str, str], pages: int, unread: int, illegible: int, title: str
) -> dict[str, MetadataValue]:
    metadata: dict[str, MetadataValue] = {"page_count": pages}
    for key, name in _REPORTED.items():
        if value := _one_line(info.get(key, "")):
            metadata[name] = value
    stated = stated_title(_one_line(info.get("Title", "")))
    if stated is not None and stated != title:
        metadata["title"] = stated
    if created := pdf_date(info.get("CreationDate", "")):
        metadata["created"] = created
    if unread:
        metadata["pages_without_text"] = unread
    if illegible:
        metadata["illegible_pictures"] = illegible
    return metadata


def _one_line(text: str) -> str:
    return " ".join(composed(clean_text(text)).split())[:_MAX_METADATA]
