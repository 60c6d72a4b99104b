"""Groups the characters of a page into spans: parts of a line in one font, without a wide gap.

PDFium's API returns one character at a time. A page has thousands, so the loop is in C and calls PDFium without going
through Python.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any

import numpy as np
import pypdfium2.raw as pdfium
from numpy.typing import NDArray

from trivium.native.loops import loops

_INTEGERS, _FLOATS = 7, 5

Array = NDArray[Any]


def address_of(pointer: Any) -> int:
    """The address of a function, or of what a handle of PDFium points to; 0 for none."""
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


@lru_cache(maxsize=1)
def _functions() -> tuple[int, ...]:
    return tuple(
        address_of(getattr(pdfium, name))
        for name in (
            "FPDFText_GetUnicode",
            "FPDFText_GetTextObject",
            "FPDFTextObj_GetFont",
            "FPDFText_GetFontSize",
            "FPDFText_GetMatrix",
            "FPDFText_GetCharOrigin",
            "FPDFText_GetLooseCharBox",
        )
    )


def gather(text_page: Any, count: int) -> tuple[str, Array, Array]:
    """Return the text of a page of ``count`` characters, and its spans: ``integers`` (s, 7: first and last + 1 of its
    characters, font, object, quarter turn, whether a space precedes it, whether its last character is a soft hyphen)
    and ``floats`` (s, 5: start, end, baseline, size, height above the baseline).
    """
    codes = np.empty(2 * count + 2, np.uint32)
    integers = np.empty((count + 1, _INTEGERS), np.int64)
    floats = np.empty((count + 1, _FLOATS), np.float64)
    spans = loops.gather_characters(address_of(text_page), count, *_functions(), codes, integers, floats)
    used = int(integers[spans - 1, 1]) if spans else 0
    return _decoded(codes[:used]), integers[:spans], floats[:spans]


def _decoded(codes: Array) -> str:
    """Decode one character per code."""
    codes[(codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))] = 0xFFFD
    return codes.tobytes().decode("utf-32-le")
