"""The pictures on a PDF page: their places, and keys that identify them.

Tables may consist of thousands of objects, so the loop that searches for the few pictures is in C.
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
from pypdfium2 import PdfMatrix

from trivium.native.loops import loops
from trivium.parser.documents.pdf.glyph_spans import address_of

_IMAGE: Final = int(pdfium.FPDF_PAGEOBJ_IMAGE)
_FORM: Final = int(pdfium.FPDF_PAGEOBJ_FORM)
_MAX_OBJECTS = 200_000
"""Maximum number of objects examined per page. Among 14 filings the maximum average was 3,300 per page (over the first
60).
"""
_MAX_FORMS = 500
"""Maximum number of form objects (groups of objects displayed as one) examined per page, at any depth."""
_MAX_DEPTH = 4
"""Maximum nesting of form objects."""
_MAX_IMAGES = 1_000
"""Maximum number of image objects examined per page or form object. Most are icons."""
_MAX_ON_PAGE = 50
_LEAST_SIDE = 100
"""Minimum side in pixels. Smaller images are marks, lines or shades."""
_MOST_STRETCHED = 20
"""Maximum aspect ratio. Beyond it there is no content but rules, stripes or malicious input."""
_LEAST_SHARE, _MOST_SHARE = 0.02, 0.8
"""Minimum and maximum share of the page. Smaller images are logos; larger ones are backgrounds, or scans of the text.
"""
_MAX_COMPARED = 16 << 20
"""Maximum size in bytes of a compressed picture that is compared by content. Larger ones are compared by size."""


@dataclass(frozen=True, slots=True)
class PlacedPicture:
    """A picture of a page. The sides are in points, in the coordinates of the text. ``width`` and ``height`` are in
    pixels. ``key`` is equal for repeated occurrences of a picture.
    """

    left: float
    bottom: float
    right: float
    top: float
    width: int
    height: int
    key: bytes


@lru_cache(maxsize=1)
def _functions() -> tuple[int, int, int]:
    return (
        address_of(pdfium.FPDFPage_GetObject),
        address_of(pdfium.FPDFFormObj_GetObject),
        address_of(pdfium.FPDFPageObj_GetType),
    )


def pictures_of(page: Any, most_pixels: int) -> list[PlacedPicture]:
    """Return the pictures of an open page that may be content, at most 50, in page order, with those of form objects
    last. Nothing is decoded: pictures with more than ``most_pixels`` declared pixels are left out.
    """
    area = pdfium.FPDF_GetPageWidthF(page) * pdfium.FPDF_GetPageHeightF(page)
    found = (_placed(item, matrix, area, most_pixels) for item, matrix in _images(page))
    return list(islice((picture for picture in found if picture is not None), _MAX_ON_PAGE))


def _images(page: Any) -> Iterator[tuple[Any, PdfMatrix]]:
    """Yield image objects and the transformation by their form object. Recursion is limited by the maximum depth."""
    of_page, of_form, get_type = _functions()
    waiting = deque([(page, pdfium.FPDFPage_CountObjects(page), PdfMatrix(), 0)])
    forms = looked_at = 0
    while waiting and looked_at < _MAX_OBJECTS:
        container, count, matrix, depth = waiting.popleft()
        count = min(count, _MAX_OBJECTS - looked_at)
        if count <= 0:
            continue
        looked_at += count
        handle = address_of(container)
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


def _found(handle: int, count: int, wanted: int, get_object: int, get_type: int, most: int) -> list[Any]:
    """The objects of the ``wanted`` type of a page or form object, at most so many."""
    places = np.zeros(most, np.int64)
    used = loops.find_objects(handle, count, wanted, get_object, get_type, places)
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
    if not (right > left and top > bottom and area > 0):  # also false for NaN
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
