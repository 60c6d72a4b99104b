"""Small documents of each format, made with the libraries that write them."""

from __future__ import annotations

import datetime
import io
import random
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from trivium.parser.documents.document_file import DocumentFile
from trivium.parser.documents.formats import reader_of
from trivium.settings.limits import DEFAULT_LIMITS, InputLimits
from trivium.types import Page

CONTAINER = (
    '<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
PACKAGE = """<package xmlns="http://www.idpf.org/2007/opf" version="3.0">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The Rock</dc:title><dc:creator>Ada Example</dc:creator>
<dc:creator>Ben Example</dc:creator><dc:language>en</dc:language><dc:date>1877-05-01T00:00:00Z</dc:date>
<dc:identifier>urn:isbn:1</dc:identifier><meta property="dcterms:modified">2024-05-01T12:00:00Z</meta></metadata>
<manifest><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="b" href="text/b%20b.xhtml" media-type="application/xhtml+xml"/>
<item id="a" href="text/a.xhtml" media-type="application/xhtml+xml"/>
<item id="out" href="../../../etc/passwd" media-type="application/xhtml+xml"/></manifest>
<spine><itemref idref="nav"/><itemref idref="a"/><itemref idref="out"/><itemref idref="b"/></spine></package>"""
NAV = (
    '<html xmlns:epub="x"><body><nav epub:type="toc"><ol><li><a href="text/a.xhtml">The Lamp</a></li>'
    '<li><a href="text/b%20b.xhtml#x">The Storm</a></li></ol></nav></body></html>'
)
CHAPTER_A = (
    "<html><head><title>x</title></head><body><h1>The Lamp</h1><p>The keeper lit the lamp at dusk."
    '<a href="./b%20b.xhtml">On</a> <a href="/wiki/Oil">oil</a></p><h2>Oil</h2><p>It burned whale oil.</p></body></html>'
)
CHAPTER_B = "<html><body><p>A storm came in the night.</p></body></html>"


def _png_chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


PNG = (
    b"\x89PNG\r\n\x1a\n"
    + _png_chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    + _png_chunk(b"IDAT", zlib.compress(b"\0\0"))
    + _png_chunk(b"IEND", b"")
)
"""A picture of one pixel."""


def read(
    format: str, data: bytes, path: str = "docs/a_file.bin", limits: InputLimits = DEFAULT_LIMITS
) -> Page:
    """What the reader of a format makes of a file."""
    return reader_of(format)(DocumentFile(data, path, path), limits)


def saved(document: Any) -> bytes:
    """The bytes of a document, book or show of the libraries."""
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def workbook(*rows: Sequence[object]) -> Any:
    """A workbook with a sheet of these rows."""
    import openpyxl

    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    return book


def slide_text() -> tuple[Any, Any]:
    """A presentation of one slide with an empty text box, and the frame of that."""
    import pptx

    show = pptx.Presentation()
    return show, show.slides.add_slide(show.slide_layouts[6]).shapes.add_textbox(0, 0, 9, 9).text_frame


def texts(page: Page) -> list[tuple[str, str, str]]:
    """Section, kind and text of each chunk; whose offsets are right."""
    for _, chunk in page.all_chunks():
        assert page.text[chunk.start : chunk.end] == chunk.text
    return [
        (section.heading if section else "", chunk.kind.value, chunk.text)
        for section, chunk in page.all_chunks()
    ]


def zipped(members: Mapping[str, str | bytes]) -> bytes:
    """A zip archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def members(data: bytes) -> dict[str, bytes]:
    """What is in a zip archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def replaced(data: bytes, name: str, content: str | bytes) -> bytes:
    """An archive with another content of a member."""
    return zipped({**members(data), name: content})


def epub(changes: Mapping[str, str | bytes] | None = None) -> bytes:
    """A book of two chapters."""
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": CONTAINER,
            "OEBPS/book.opf": PACKAGE,
            "OEBPS/nav.xhtml": NAV,
            "OEBPS/text/a.xhtml": CHAPTER_A,
            "OEBPS/text/b b.xhtml": CHAPTER_B,
            **(changes or {}),
        }
    )


def book_of(chapter: str) -> bytes:
    """A book of one chapter without a title."""
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata/><manifest><item id="c" href="c.xhtml" '
        'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c"/></spine></package>'
    )
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": CONTAINER,
            "OEBPS/book.opf": package,
            "OEBPS/c.xhtml": chapter,
        }
    )


@cache
def docx_file() -> bytes:
    """A document with headings, a list and a table."""
    import docx

    document = docx.Document()
    document.core_properties.title = "Lighthouse_Manual"
    document.core_properties.author = "Ada Example"
    document.core_properties.modified = datetime.datetime(2024, 5, 1, 12, 30)
    document.add_paragraph("The lighthouse stands on a rock.")
    document.add_heading("Lamp", 1)
    document.add_paragraph("Whale oil", style="List Bullet")
    document.add_paragraph("Colza oil", style="List Bullet")
    table = document.add_table(3, 3)
    for at, row in enumerate((("Fuel", "Price", "Year"), ("Oil", "12", "1877"), ("Gas", "9", "1901"))):
        for column, text in enumerate(row):
            table.cell(at, column).text = text
    return saved(document)


@cache
def pptx_file() -> bytes:
    """A presentation of three slides, two of one title."""
    import pptx
    from pptx.util import Inches

    show = pptx.Presentation()
    first = show.slides.add_slide(show.slide_layouts[0])
    first.shapes.title.text = "Lighthouses"
    first.placeholders[1].text = "A short history"
    second = show.slides.add_slide(show.slide_layouts[1])
    second.shapes.title.text = "Fuel"
    second.placeholders[1].text_frame.text = "Whale oil"
    inner = second.placeholders[1].text_frame.add_paragraph()
    inner.text, inner.level = "from whales", 1
    second.notes_slide.notes_text_frame.text = "Mention the price of colza."
    third = show.slides.add_slide(show.slide_layouts[5])
    third.shapes.title.text = "Fuel"
    table = third.shapes.add_table(3, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    for at, row in enumerate((("Fuel", "Price"), ("Oil", "12"), ("Gas", "9"))):
        for column, text in enumerate(row):
            table.cell(at, column).text = text
    return saved(show)


@cache
def xlsx_file() -> bytes:
    """A workbook of two sheets, one of them hidden."""
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Keepers"
    sheet.append(["Keepers of the light"])
    for row in (["Name", "Since", "Share"], ["Ada", datetime.date(1877, 5, 1), 0.125], ["Ben", None, 1]):
        sheet.append(row)
    sheet["C3"].number_format = "0.0%"
    book.create_sheet("Lists").append(["secret", "list"])
    book["Lists"].sheet_state = "hidden"
    return saved(book)


CSV = b"Name,Town\nAda,Oslo\nBen,Bergen\n"


def samples() -> dict[str, bytes]:
    """A good file of each format."""
    return {"docx": docx_file(), "pptx": pptx_file(), "xlsx": xlsx_file(), "epub": epub(), "csv": CSV}


def mutated(data: bytes, others: list[bytes], seed: int) -> bytes:
    """The file with some damage: bytes changed or cut, also in members of an archive that is whole."""
    drawn = random.Random(seed)
    if not data.startswith(b"PK") or drawn.random() < 0.25:
        return _damaged(data, drawn)
    content = members(data)
    for _ in range(drawn.randint(1, 3)):
        name = drawn.choice(list(content))
        kind = drawn.random()
        if kind < 0.5:
            content[name] = _damaged(content[name], drawn)
        elif kind < 0.65:
            del content[name]
        elif kind < 0.8:
            other = drawn.choice(list(content))
            content[name], content[other] = content[other], content[name]
        else:
            content[name] = drawn.choice(list(members(drawn.choice(others)).values()))
        if not content:
            break
    return zipped(content)


def _damaged(data: bytes, drawn: random.Random) -> bytes:
    changed = bytearray(data)
    kind = drawn.random()
    if not changed:
        return b"\0"
    if kind < 0.2:
        return bytes(changed[: drawn.randrange(len(changed))])
    if kind < 0.4:  # a tag, attribute or value goes, or comes twice
        start = drawn.randrange(len(changed))
        piece = changed[start : start + drawn.randint(1, 200)]
        return bytes(
            changed[:start] + (piece * 2 if drawn.random() < 0.5 else b"") + changed[start + len(piece) :]
        )
    if kind < 0.6:  # another number
        at = [i for i, byte in enumerate(changed) if 0x30 <= byte <= 0x39]
        if at:
            chosen = drawn.choice(at)
            changed[chosen : chosen + 1] = drawn.choice((b"-1", b"99999999999", b"x", b"", b"0"))
        return bytes(changed)
    for _ in range(drawn.randint(1, 8)):
        changed[drawn.randrange(len(changed))] = drawn.randrange(256)
    return bytes(changed)
