"""Groups the characters of a page into spans: parts of a line in one font, without a wide gap.

PDFium's API returns one character at a time. A page has thousands, so the loop is compiled and calls PDFium without
going through Python.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any, Final

import numba.experimental.function_type  # noqa: F401 - teaches numba to take functions as arguments
import numpy as np
import pypdfium2.raw as pdfium
from numba import float64, int32, int64, types, uint32
from numpy.typing import NDArray

from trivium.common.compiled import compiled

_WIDE_GAP: Final = 0.9
"""Gap between two characters, in font sizes, above which they belong to different spans (cells or columns)."""

_CR, _LF, _SPACE, _NBSP, _HYPHEN, _MARK, _SOFT = 13, 10, 32, 160, 45, 2, 173
_LAM, _ALEFS = 0x644, (0x622, 0x623, 0x625, 0x627)
_INTEGERS, _FLOATS = 7, 5

Array = NDArray[Any]


class Function(types.WrapperAddressProtocol):
    """A PDFium function for compiled code. Handles, pointers and indices are passed as 64-bit integers because numba
    does not convert them; a function uses only the part of the register it needs.
    """

    def __init__(self, name: str, signature: Any) -> None:
        self._address = ctypes.cast(getattr(pdfium, name), ctypes.c_void_p).value or 0
        self._signature = signature

    def __wrapper_address__(self) -> int:
        return self._address

    def signature(self) -> Any:
        return self._signature


@lru_cache(maxsize=1)
def _functions() -> tuple[Function, ...]:
    return (
        Function("FPDFText_GetUnicode", uint32(int64, int64)),
        Function("FPDFText_GetTextObject", int64(int64, int64)),
        Function("FPDFTextObj_GetFont", int64(int64)),
        Function("FPDFText_GetFontSize", float64(int64, int64)),
        Function("FPDFText_GetMatrix", int32(int64, int64, int64)),
        Function("FPDFText_GetCharOrigin", int32(int64, int64, int64, int64)),
        Function("FPDFText_GetLooseCharBox", int32(int64, int64, int64)),
    )


@compiled
def _gather(
    page: int,
    count: int,
    get_unicode: Any,
    get_object: Any,
    get_font: Any,
    get_size: Any,
    get_matrix: Any,
    get_origin: Any,
    get_box: Any,
    places: tuple[int, int, int],
    matrix: Array,
    origin: Array,
    box: Array,
    codes: Array,
    integers: Array,
    floats: Array,
) -> int:
    """Fill ``codes`` with characters, and for each span ``integers`` (first and last + 1 of its codes, font, object,
    quarter turn, whether a space precedes it, whether its last character is a soft hyphen) and ``floats`` (start, end,
    baseline, size, height above the baseline).
    """
    matrix_at, x_at, box_at = places
    y_at = x_at + 8
    spans = 0
    written = 0
    last_object = 0
    font = 0
    turn = 0
    size = 0.0
    spaced = False
    fresh = True  # the next character begins a span
    start = end = base = 0.0
    was_leftwards = False
    for index in range(count):
        code = get_unicode(page, index)
        if code in (_CR, _LF):
            fresh = True
            spaced = True
            continue
        if code in (0, 9, _SPACE, _NBSP, 0x3000) or 0x2000 <= code <= 0x200B:
            spaced = True
            continue
        place = get_object(page, index)
        if place != last_object and place != 0:
            last_object = place
            found = get_font(place)
            get_matrix(page, index, matrix_at)
            a, b, c, d = matrix[0], matrix[1], matrix[2], matrix[3]
            turned = (0 if a >= 0 else 2) if abs(a) >= abs(b) else (1 if b > 0 else 3)
            scaled = get_size(page, index) * np.sqrt(c * c + d * d)
            if found != font or turned != turn or abs(scaled - size) > 0.05 * size:
                fresh = True
            font, turn, size = found, turned, max(scaled, 0.1)
        get_origin(page, index, x_at, y_at)
        get_box(page, index, box_at)
        if turn == 0:
            first, final, line, top = box[0], box[2], origin[1], box[1] - origin[1]
        elif turn == 1:
            first, final, line, top = box[3], box[1], -origin[0], origin[0] - box[0]
        elif turn == 2:
            first, final, line, top = -box[2], -box[0], -origin[1], origin[1] - box[3]
        else:
            first, final, line, top = -box[1], -box[3], origin[0], box[2] - origin[0]
        leftwards = 0x590 <= code < 0x900 or 0xFB1D <= code < 0xFE00 or 0xFE70 <= code < 0xFEFF
        # PDFium gives the characters of Hebrew and Arabic in the order in which they are read.
        gap = start - final if leftwards and was_leftwards else first - end
        if fresh or abs(line - base) > 0.1 * size or gap > _WIDE_GAP * size or gap < -size:
            if spans == len(integers):
                return -1
            integers[spans, 0] = written
            integers[spans, 2] = font
            integers[spans, 3] = last_object
            integers[spans, 4] = turn
            integers[spans, 5] = 1 if spaced else 0
            floats[spans, 0] = first
            floats[spans, 1] = final
            floats[spans, 2] = line
            floats[spans, 3] = size
            floats[spans, 4] = top
            spans += 1
            base = line
        elif spaced:
            codes[written] = _SPACE
            written += 1
        joined = (
            code == _MARK
        )  # PDFium's replacement for a hyphen at the end of a line, whether it belongs to the word or not
        codes[written] = _HYPHEN if joined or code == _SOFT else code
        written += 1
        if (
            code == _LAM and codes[written - 2] in _ALEFS and first == start and final == end
        ):  # a ligature, reversed
            codes[written - 2 : written] = codes[written - 2 : written][::-1].copy()
        row = spans - 1
        integers[row, 1] = written
        integers[row, 6] = 1 if code == _SOFT else 0
        floats[row, 0] = min(floats[row, 0], first)
        floats[row, 1] = max(floats[row, 1], final)
        start, end, was_leftwards = first, final, leftwards
        spaced = False
        fresh = False
    return spans


def gather(text_page: Any, count: int) -> tuple[str, Array, Array]:
    """Return the text of a page of ``count`` characters, and its spans; see :func:`_gather` for the columns."""
    codes = np.empty(2 * count + 2, np.uint32)
    integers = np.empty((count + 1, _INTEGERS), np.int64)
    floats = np.empty((count + 1, _FLOATS), np.float64)
    matrix, origin, box = np.empty(6, np.float32), np.empty(2), np.empty(4, np.float32)
    handle = ctypes.cast(text_page, ctypes.c_void_p).value or 0
    call: Any = _gather
    spans = call(
        handle,
        count,
        *_functions(),
        (matrix.ctypes.data, origin.ctypes.data, box.ctypes.data),
        matrix,
        origin,
        box,
        codes,
        integers,
        floats,
    )
    used = int(integers[spans - 1, 1]) if spans else 0
    return _decoded(codes[:used]), integers[:spans], floats[:spans]


def _decoded(codes: Array) -> str:
    """Decode one character per code."""
    codes[(codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))] = 0xFFFD
    return codes.tobytes().decode("utf-32-le")
