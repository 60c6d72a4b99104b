"""The pictures on a page of a PDF: where they stand, and what tells one from another.

Tables of a page may be made of thousands of objects, so that the loop that looks for the few pictures is compiled.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from typing import Any, Final

import numpy as np
import pypdfium2.raw as pdfium
from numba import int32, int64
from numpy.typing import NDArray
from pypdfium2 import PdfMatrix

from trivium.common.compiled import compiled
from trivium.parser.documents.pdf.glyphs import Function

_IMAGE: Final = int(pdfium.FPDF_PAGEOBJ_IMAGE)
_FORM: Final = int(pdfium.FPDF_PAGEOBJ_FORM)
_MAX_OBJECTS = 200_000
"""Of a page that are looked at. Of 14 filings the one with most has 3,300 a page on average (over its first 60)."""
_MAX_FORMS = 500
"""Form objects (groups of objects that a page shows as one) of a page that are looked into, at every depth."""
_MAX_DEPTH = 4
"""Form objects within form objects."""
_MAX_IMAGES = 1_000
"""Image objects of a page or form object that are looked at; most are icons."""
_MAX_ON_PAGE = 50
_LEAST_SIDE = 100
"""Pixels: what has less is a mark, a line or a shade."""
_MOST_STRETCHED = 20
"""Longer side by shorter: beyond it lies no content but a rule, a stripe or a trap."""
_LEAST_SHARE, _MOST_SHARE = 0.02, 0.8
"""Of the page: less is a logo, more its background, or the scan that its text was read from."""
_MAX_COMPARED = 16 << 20
"""Bytes of a packed picture: larger ones are told apart by their sizes."""


@dataclass(frozen=True, slots=True)
class PlacedPicture:
    """A picture of a page. The sides are in points, as text is placed. ``width`` and ``height`` are its pixels, ``key``
    is the same where the same picture is shown again."""

    left: float
    bottom: float
    right: float
    top: float
    width: int
    height: int
    key: bytes


@lru_cache(maxsize=1)
def _functions() -> tuple[Function, Function, Function]:
    return (
        Function("FPDFPage_GetObject", int64(int64, int64)),
        Function("FPDFFormObj_GetObject", int64(int64, int64)),
        Function("FPDFPageObj_GetType", int32(int64)),
    )


@compiled
def _find(
    container: int, count: int, wanted: int, get_object: Any, get_type: Any, found: NDArray[Any]
) -> int:
    """Fills ``found`` with the objects of a page or form object that are of the ``wanted`` type; how many."""
    used = 0
    for index in range(count):
        place = get_object(container, index)
        if place != 0 and get_type(place) == wanted:
            found[used] = place
            used += 1
            if used == len(found):
                break
    return used


def pictures_of(page: Any, most_pixels: int) -> list[PlacedPicture]:
    """The pictures of an opened page that may be content, at most 50, in its order, those of form objects last. Nothing
    is decoded: those whose sides say more than ``most_pixels`` are left out unseen."""
    area = pdfium.FPDF_GetPageWidthF(page) * pdfium.FPDF_GetPageHeightF(page)
    found = (_placed(item, matrix, area, most_pixels) for item, matrix in _images(page))
    return list(islice((picture for picture in found if picture is not None), _MAX_ON_PAGE))


def _images(page: Any) -> Iterator[tuple[Any, PdfMatrix]]:
    """Image objects, and where the form object around them puts them. A form object that holds itself ends at the
    greatest depth."""
    of_page, of_form, get_type = _functions()
    waiting = deque([(page, pdfium.FPDFPage_CountObjects(page), PdfMatrix(), 0)])
    forms = looked_at = 0
    while waiting and looked_at < _MAX_OBJECTS:
        container, count, matrix, depth = waiting.popleft()
        count = min(count, _MAX_OBJECTS - looked_at)
        if count <= 0:
            continue
        looked_at += count
        handle = ctypes.cast(container, ctypes.c_void_p).value or 0
        get_object = of_page if depth == 0 else of_form
        for image in _found(handle, count, _IMAGE, get_object, get_type, _MAX_IMAGES):
            yield image, matrix
        if depth < _MAX_DEPTH and forms < _MAX_FORMS:
            for form in _found(handle, count, _FORM, get_object, get_type, _MAX_FORMS - forms):
                forms += 1
                own = pdfium.FS_MATRIX()
                if pdfium.FPDFPageObj_GetMatrix(form, own):
                    inner = PdfMatrix.from_raw(own).multiply(matrix)
                    waiting.append((form, pdfium.FPDFFormObj_CountObjects(form), inner, depth + 1))


def _found(
    handle: int, count: int, wanted: int, get_object: Function, get_type: Function, most: int
) -> list[Any]:
    places = np.zeros(most, np.int64)
    find: Any = _find
    used = find(handle, count, wanted, get_object, get_type, places)
    return [ctypes.cast(place, pdfium.FPDF_PAGEOBJECT) for place in places[:used].tolist()]


def _placed(item: Any, matrix: PdfMatrix, area: float, most_pixels: int) -> PlacedPicture | None:
    width, height = ctypes.c_uint(), ctypes.c_uint()
    if not pdfium.FPDFImageObj_GetImagePixelSize(item, width, height):
        return None
    short, long = sorted((width.value, height.value))
    if short < _LEAST_SIDE or long > _MOST_STRETCHED * short or short * long > most_pixels:
        return None
    sides = [ctypes.c_float() for _ in range(4)]
    if not pdfium.FPDFPageObj_GetBounds(item, *sides):
        return None
    left, bottom, right, top = matrix.on_rect(*(side.value for side in sides))
    if not (right > left and top > bottom and area > 0):  # nor where one is no number
        return None
    if not _LEAST_SHARE <= (right - left) * (top - bottom) / area <= _MOST_SHARE:
        return None
    key = _key(item, width.value, height.value)
    return PlacedPicture(left, bottom, right, top, width.value, height.value, key)


def _key(item: Any, width: int, height: int) -> bytes:
    size = pdfium.FPDFImageObj_GetImageDataRaw(item, None, 0)
    key = blake2b(b"%d %d %d " % (width, height, size), digest_size=16)
    if 0 < size <= _MAX_COMPARED:
        data = ctypes.create_string_buffer(size)
        pdfium.FPDFImageObj_GetImageDataRaw(item, data, size)
        key.update(data)
    return key.digest()
