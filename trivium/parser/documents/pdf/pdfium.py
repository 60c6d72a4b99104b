"""Bindings to PDFium: open documents, spans of pages, outlines, rendered pages."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pypdfium2.raw as pdfium
from numpy.typing import NDArray

from trivium.errors import ParseError
from trivium.parser.document import DamagedPartError
from trivium.parser.documents.pdf.glyph_spans import gather
from trivium.parser.documents.pdf.placed_pictures import PlacedPicture, pictures_of

_lock = threading.RLock()  # PDFium has global state, so only one thread may use it at a time
_started = False

_MAX_OUTLINE = 10_000
_MAX_OUTLINE_DEPTH = 20
_MAX_ANNOTATIONS = 1_000
_MAX_CHARACTERS = 500_000  # per page; a printed page has 5,000
_MAX_RENDERED = 30_000  # maximum side in pixels of a page of which a part is rendered
_INFO = ("Title", "Author", "Subject", "Keywords", "CreationDate", "ModDate")


@dataclass(slots=True)
class Span:
    """A part of a line in one font. ``x0``, ``x1`` and ``base`` are in points in reading direction (right and up).
    ``spaced``: a space or line end precedes it. ``hyphen``: it ends with a hyphen that is only due to the line break.
    """

    text: str
    x0: float
    x1: float
    base: float
    size: float
    bold: bool
    italic: bool
    spaced: bool
    hyphen: bool


@dataclass(slots=True)
class OutlineEntry:
    """An entry of the outline. ``page`` counts from 1."""

    level: int
    title: str
    page: int


class PdfiumDocument:
    """An open document, created by :func:`opened`."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self.page_count: int = pdfium.FPDF_GetPageCount(handle)
        self._text: Any = None
        self._page: Any = None

    def spans(self, index: int) -> list[list[Span]]:
        """Return the spans of a page (from 0) by writing direction, most frequent first."""
        return self.content(index)[0]

    def content(self, index: int, most_pixels: int = 0) -> tuple[list[list[Span]], list[PlacedPicture]]:
        """Return :meth:`spans`, and the pictures of a page that has text; see
        :func:`~trivium.parser.documents.pdf.placed_pictures.pictures_of`. Raises DamagedPartError.
        """
        with self._opened(index) as page, _text_of(page) as text:
            if not page:
                raise DamagedPartError("it is damaged")
            count = pdfium.FPDFText_CountChars(text)
            if count <= 0:
                return [], []
            if count > _MAX_CHARACTERS:
                raise DamagedPartError(
                    f"it has {count:,} characters, more than the limit of {_MAX_CHARACTERS:,}: it is damaged or hostile"
                )
            pictures = pictures_of(page, most_pixels) if most_pixels else []
            return _spans(*gather(text, count)), pictures

    @contextmanager
    def _opened(self, index: int) -> Iterator[Any]:
        """Yield a page, with the text of its form fields; None if it cannot be read."""
        page = pdfium.FPDF_LoadPage(self._handle, index)
        try:
            if page and _has_fields(page) and pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY) == 1:
                pdfium.FPDF_ClosePage(page)
                page = pdfium.FPDF_LoadPage(self._handle, index)
            yield page or None
        finally:
            if page:
                pdfium.FPDF_ClosePage(page)

    def info(self) -> dict[str, str]:
        """Return the document information: Title, Author, Subject, Keywords, CreationDate, ModDate."""
        return {key: value for key in _INFO if (value := self._meta(key))}

    def _meta(self, key: str) -> str:
        def get(buffer: Any, size: int) -> int:
            return int(pdfium.FPDF_GetMetaText(self._handle, key.encode() + b"\0", buffer, size))

        return _utf16(get)

    def outline(self) -> list[OutlineEntry]:
        """Return the outline entries that refer to a page, at most 10,000, in order. Cycles are ignored."""
        entries: list[OutlineEntry] = []
        seen: set[int] = set()
        stack = [(pdfium.FPDFBookmark_GetFirstChild(self._handle, None), 0)]
        while stack and len(seen) < _MAX_OUTLINE:
            mark, level = stack.pop()
            address = ctypes.cast(mark, ctypes.c_void_p).value if mark else None
            if address is None or address in seen:
                continue
            seen.add(address)
            stack.append((pdfium.FPDFBookmark_GetNextSibling(self._handle, mark), level))
            if level < _MAX_OUTLINE_DEPTH:
                stack.append((pdfium.FPDFBookmark_GetFirstChild(self._handle, mark), level + 1))
            page = self._page_of(mark)
            title = " ".join(_utf16(lambda b, n, m=mark: int(pdfium.FPDFBookmark_GetTitle(m, b, n))).split())
            if page is not None and title:
                entries.append(OutlineEntry(level, title, page))
        return entries

    def _page_of(self, mark: Any) -> int | None:
        target = pdfium.FPDFBookmark_GetDest(self._handle, mark)
        if not target:
            action = pdfium.FPDFBookmark_GetAction(mark)
            target = pdfium.FPDFAction_GetDest(self._handle, action) if action else None
        index = pdfium.FPDFDest_GetDestPageIndex(self._handle, target) if target else -1
        return index + 1 if 0 <= index < self.page_count else None

    def picture(self, index: int, longest: int = 2_000) -> NDArray[np.uint8] | None:
        """Render a page, height x width x 3 (red, green, blue), with a longer side of ``longest`` pixels; None if it
        has no size.
        """
        with self._opened(index) as page:
            size = _size(page)
            if size is None:
                return None
            whole = _scaled(size, longest / max(size))
            return _rendered(page, (0, 0), whole, whole)

    def part(self, index: int, place: PlacedPicture, longest: int = 2_000) -> NDArray[np.uint8] | None:
        """Render the page at the place of a picture, height x width x 3, in the size of the picture but no side longer
        than ``longest`` pixels; None if it is outside the page.
        """
        with self._opened(index) as page:
            size = _size(page)
            if size is None:
                return None
            shown = max(place.right - place.left, place.top - place.bottom)
            whole = _scaled(size, min(max(place.width, place.height), longest) / shown)
            if max(whole) > _MAX_RENDERED:
                return None
            x0, y0 = _on_device(page, whole, place.left, place.top)
            x1, y1 = _on_device(page, whole, place.right, place.bottom)
            # On a rotated page the corners are exchanged, and a picture may extend beyond the edge.
            left, right = max(0, min(x0, x1)), min(whole[0], max(x0, x1))
            top, bottom = max(0, min(y0, y1)), min(whole[1], max(y0, y1))
            if right <= left or bottom <= top:
                return None
            return _rendered(page, (left, top), (right - left, bottom - top), whole)


@contextmanager
def _text_of(page: Any) -> Iterator[Any]:
    text = pdfium.FPDFText_LoadPage(page) if page else None
    try:
        yield text
    finally:
        if text:
            pdfium.FPDFText_ClosePage(text)


def _has_fields(page: Any) -> bool:
    """Whether a page has form fields or text boxes, which are annotations."""
    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page), _MAX_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        pdfium.FPDFPage_CloseAnnot(annotation)
        if kind in (pdfium.FPDF_ANNOT_WIDGET, pdfium.FPDF_ANNOT_FREETEXT):
            return True
    return False


def _size(page: Any) -> tuple[float, float] | None:
    """Return width and height of a page in points; None if it has none."""
    if not page:
        return None
    width, height = pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)
    return (width, height) if width > 0 and height > 0 else None


def _scaled(size: tuple[float, float], scale: float) -> tuple[int, int]:
    return max(1, round(size[0] * scale)), max(1, round(size[1] * scale))


def _on_device(page: Any, whole: tuple[int, int], x: float, y: float) -> tuple[int, int]:
    column, row = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDF_PageToDevice(page, 0, 0, *whole, 0, x, y, column, row)
    return column.value, row.value


def _rendered(
    page: Any, corner: tuple[int, int], size: tuple[int, int], whole: tuple[int, int]
) -> NDArray[np.uint8] | None:
    """Render a rectangle of a page of ``whole`` pixels, given by its upper left corner and its size (columns, rows)."""
    columns, rows = size
    pixels = np.full((rows, columns, 3), 255, np.uint8)
    bitmap = pdfium.FPDFBitmap_CreateEx(
        columns, rows, pdfium.FPDFBitmap_BGR, pixels.ctypes.data_as(ctypes.c_void_p), pixels.strides[0]
    )
    if not bitmap:
        return None
    flags = pdfium.FPDF_ANNOT | pdfium.FPDF_REVERSE_BYTE_ORDER
    pdfium.FPDF_RenderPageBitmap(bitmap, page, -corner[0], -corner[1], *whole, 0, flags)
    pdfium.FPDFBitmap_Destroy(bitmap)
    return pixels


@contextmanager
def opened(data: bytes) -> Iterator[PdfiumDocument]:
    """Open a document. Raises ParseError when it cannot be opened."""
    global _started
    with _lock:
        if not _started:
            pdfium.FPDF_InitLibrary()
            _started = True
        handle = pdfium.FPDF_LoadMemDocument64(data, len(data), None)
        if not handle:
            raise ParseError(_why(pdfium.FPDF_GetLastError()))
        try:
            yield PdfiumDocument(handle)
        finally:
            pdfium.FPDF_CloseDocument(handle)


def _why(error: int) -> str:
    if error == pdfium.FPDF_ERR_PASSWORD:
        return "the PDF is encrypted: expected one that opens without a password"
    if error == pdfium.FPDF_ERR_SECURITY:
        return (
            "the PDF is encrypted in a way that is not supported: expected one that opens without a password"
        )
    return "the PDF is damaged: expected a file that a viewer opens"


def _utf16(get: Any) -> str:
    """Return the text of a PDFium function that fills a buffer and returns the number of bytes needed."""
    needed = get(None, 0)
    if not 2 < needed < 1 << 20:
        return ""
    buffer = ctypes.create_string_buffer(needed)
    get(buffer, needed)
    return buffer.raw[: needed - 2].decode("utf-16-le", "replace").strip()


def _spans(text: str, integers: NDArray[Any], floats: NDArray[Any]) -> list[list[Span]]:
    faces: dict[int, tuple[bool, bool]] = {}
    turned: dict[int, list[Span]] = {}
    for (first, last, font, place, turn, spaced, hyphen), (x0, x1, base, size, _) in zip(
        integers.tolist(), floats.tolist(), strict=True
    ):
        face = faces.get(font)
        if face is None:
            face = faces[font] = face_of(font, place)
        span = Span(text[first:last], x0, x1, base, size, face[0], face[1], bool(spaced), bool(hyphen))
        turned.setdefault(turn, []).append(span)
    return sorted(turned.values(), key=lambda spans: -sum(len(span.text) for span in spans))


_FORCE_BOLD = 1 << 18
_ITALIC = 1 << 6
_BOLD_WEIGHT, _HEAVIEST = 600, 1_000  # larger values are invented by a program
_FILLED_AND_STROKED = 2
_BOLD_NAMES = ("bold", "black", "heavy", "demi")
_MAX_FILE_BYTES = 4 << 20
_MAX_TABLES = 64


def face_of(font: int, place: int) -> tuple[bool, bool]:
    """Whether a font is bold, and whether it is italic. ``place`` is a text object that uses it. Both are addresses, 0
    for none.
    """
    if not font or not place:
        return False, False
    handle = ctypes.cast(font, pdfium.FPDF_FONT)
    buffer = ctypes.create_string_buffer(200)
    pdfium.FPDFFont_GetBaseFontName(handle, buffer, 200)
    name = buffer.value.decode("latin-1").lower()
    flags = max(0, pdfium.FPDFFont_GetFlags(handle))
    mode = pdfium.FPDFTextObj_GetTextRenderMode(ctypes.cast(place, pdfium.FPDF_PAGEOBJECT))
    weight = pdfium.FPDFFont_GetWeight(handle)
    bold = (
        any(word in name for word in _BOLD_NAMES)
        or bool(flags & _FORCE_BOLD)
        or _BOLD_WEIGHT <= weight <= _HEAVIEST
        or mode == _FILLED_AND_STROKED
    )
    italic = bool(flags & _ITALIC) or "italic" in name or "oblique" in name
    if not bold and not 0 < weight <= _HEAVIEST:
        of_file = face_of_file(_file(handle))
        return of_file[0], italic or of_file[1]
    return bold, italic


def _file(handle: pdfium.FPDF_FONT) -> bytes:
    """Return the file of an embedded font; empty if there is none or it is very large."""
    size = ctypes.c_size_t()
    if not pdfium.FPDFFont_GetIsEmbedded(handle) or not pdfium.FPDFFont_GetFontData(
        handle, None, 0, ctypes.byref(size)
    ):
        return b""
    if not 0 < size.value <= _MAX_FILE_BYTES:
        return b""
    data = (ctypes.c_uint8 * size.value)()
    pdfium.FPDFFont_GetFontData(handle, data, size.value, ctypes.byref(size))
    return bytes(data)


def face_of_file(data: bytes) -> tuple[bool, bool]:
    """Whether a TrueType or OpenType file declares itself bold and italic, in its ``OS/2`` table, which most programs
    keep when they remove glyphs and names.
    """
    tables = min(int.from_bytes(data[4:6], "big"), _MAX_TABLES)
    for at in range(12, 12 + 16 * tables, 16):
        if data[at : at + 4] == b"OS/2":
            start = int.from_bytes(data[at + 8 : at + 12], "big")
            weight = int.from_bytes(data[start + 4 : start + 6], "big")
            selection = int.from_bytes(data[start + 62 : start + 64], "big")
            return _BOLD_WEIGHT <= weight <= _HEAVIEST, bool(selection & 1)
    return False, False
