"""Detects bold and italic fonts: from what the PDF states about a font, else from the font file."""

from __future__ import annotations

import ctypes

import pypdfium2.raw as pdfium

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
        told = face_of_file(_file(handle))
        return told[0], italic or told[1]
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
