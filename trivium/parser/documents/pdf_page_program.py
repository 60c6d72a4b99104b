"""Program that renders a PDF page: a request and the file on stdin, a result and a picture on stdout.

It reads untrusted files with PDFium, so it runs as a separate process (``python -I pdf_page_program.py``) with memory
and time limits and, after loading, without permission to open anything. It imports nothing of Trivium, so that it
starts in a fraction of a second.

The request is a line of JSON: ``page`` (from 1), ``longest`` (longer side in pixels, 0 for no picture), ``passage``
(text to locate on the page) and ``texts`` (texts expected on the page). The response is a line of JSON followed by the
picture as WebP: ``pages``, ``modified`` (``ModDate`` as in the file), ``width`` and ``height`` in points, ``shown``
(the share of the texts found on the page; null if the page has no text or none was given) and ``marks``, the places of
the passage as [x, y, width, height] in fractions of the page from its upper left corner.
"""

from __future__ import annotations

import ctypes
import encodings.utf_16_le  # noqa: F401 - nothing can be opened later
import io
import json
import re
import sys
import unicodedata
from difflib import SequenceMatcher
from typing import Any

if sys.platform != "win32":
    import resource

NOT_READ, NO_PAGE = 3, 4
"""Exit codes."""

_MEMORY = 512 << 20
_PROCESSOR_SECONDS = 10
_MAX_CHARACTERS = 100_000  # per page; a printed page has 5,000
_MAX_WORDS = 4_000  # maximum number of words compared, of page and passage
_MAX_MARKS = 500
_QUALITY = 70
_SHINGLE = 5
"""Length of the letter sequences compared to find a text on a page. Hyphens and column order affect few of them."""
_FEW_LETTERS = 20
_GAP = 3
"""Maximum number of consecutive differing words within a passage (hyphenated, footnote marks) that are marked with the
rest.
"""
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+"
)  # in scripts without spaces, each character is a word

Box = tuple[float, float, float, float]
"""Left, top, right, bottom, in fractions of the page."""


def main() -> int:
    """Process the request on stdin and return the exit code."""
    import pypdfium2.raw as pdfium
    from PIL import Image, WebPImagePlugin  # noqa: F401 - what saving would import

    Image.preinit()
    pdfium.FPDF_InitLibrary()
    request = json.loads(sys.stdin.buffer.readline())
    data = sys.stdin.buffer.read()
    _limit()
    document = pdfium.FPDF_LoadMemDocument64(data, len(data), None)
    if not document:
        return NOT_READ
    page = pdfium.FPDF_LoadPage(document, request["page"] - 1)
    width, height = (
        (pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)) if page else (0.0, 0.0)
    )
    if not (width > 0 and height > 0):
        return NO_PAGE
    text, boxes = _characters(pdfium, page, (width, height))
    answer = {
        "pages": pdfium.FPDF_GetPageCount(document),
        "modified": _modified(pdfium, document),
        "width": width,
        "height": height,
        "shown": _shown(text, request["texts"]),
        "marks": marks(text, boxes, request["passage"]),
    }
    picture = b""
    if request["longest"]:
        picture = _picture(pdfium, Image, page, request["longest"] / max(width, height), (width, height))
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n" + picture)
    sys.stdout.buffer.flush()
    return 0


def _modified(pdfium: Any, document: Any) -> str:
    needed = pdfium.FPDF_GetMetaText(document, b"ModDate\0", None, 0)
    if not 2 < needed < 1 << 10:
        return ""
    buffer = ctypes.create_string_buffer(needed)
    pdfium.FPDF_GetMetaText(document, b"ModDate\0", buffer, needed)
    return buffer.raw[: needed - 2].decode("utf-16-le", "replace").strip()


def _picture(pdfium: Any, image: Any, page: Any, scale: float, size: tuple[float, float]) -> bytes:
    columns, rows = (max(1, round(side * scale)) for side in size)
    bitmap = pdfium.FPDFBitmap_CreateEx(columns, rows, pdfium.FPDFBitmap_BGRx, None, 0)
    pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, columns, rows, 0xFFFFFFFF)
    pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, columns, rows, 0, pdfium.FPDF_ANNOT)
    stride = pdfium.FPDFBitmap_GetStride(bitmap)
    pixels = ctypes.string_at(pdfium.FPDFBitmap_GetBuffer(bitmap), stride * rows)
    file = io.BytesIO()
    drawn = image.frombuffer("RGB", (columns, rows), pixels, "raw", "BGRX", stride, 1)
    drawn.save(file, "WEBP", quality=_QUALITY, method=2)
    return file.getvalue()


def _characters(pdfium: Any, page: Any, size: tuple[float, float]) -> tuple[str, list[Box | None]]:
    """Return the characters of a page and their boxes; None for spaces."""
    reader = pdfium.FPDFText_LoadPage(page)
    count = pdfium.FPDFText_CountChars(reader) if reader else 0
    if not 0 < count <= _MAX_CHARACTERS:
        return "", []
    characters: list[str] = []
    boxes: list[Box | None] = []
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    x, y = ctypes.c_int(), ctypes.c_int()
    grid = [max(1, round(16 * side)) for side in size]  # finer than a pixel of any picture
    for index in range(count):
        code = pdfium.FPDFText_GetUnicode(reader, index)
        character = chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else " "
        box: Box | None = None
        if not character.isspace() and pdfium.FPDFText_GetCharBox(reader, index, left, right, bottom, top):
            corners = []
            for across, up in ((left, top), (right, bottom)):
                pdfium.FPDF_PageToDevice(page, 0, 0, *grid, 0, across.value, up.value, x, y)
                corners.append((x.value / grid[0], y.value / grid[1]))
            (x0, y0), (x1, y1) = corners
            box = (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
        characters.append(character)
        boxes.append(box)
    pdfium.FPDFText_ClosePage(reader)
    return "".join(characters), boxes


def _letters(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())


def _shown(page: str, texts: list[str]) -> float | None:
    """Return the share of the texts found on a page."""
    there = _letters(page)
    said = [_letters(text) for text in texts]
    if len(there) < _FEW_LETTERS or sum(map(len, said)) < _FEW_LETTERS:
        return None
    known = {there[at : at + _SHINGLE] for at in range(len(there) - _SHINGLE + 1)}
    asked = [text[at : at + _SHINGLE] for text in said for at in range(len(text) - _SHINGLE + 1)]
    return sum(piece in known for piece in asked) / max(1, len(asked))


def marks(page: str, boxes: list[Box | None], passage: str) -> list[list[float]]:
    """Return where a passage is on a page: one rectangle per part of a line, [x, y, width, height]."""
    words = list(_WORD.finditer(page))[:_MAX_WORDS]
    wanted = [_letters(word) for word in _WORD.findall(passage)[:_MAX_WORDS]]
    there = [_letters(word.group()) for word in words]
    blocks = [
        block
        for block in SequenceMatcher(None, there, wanted, autojunk=False).get_matching_blocks()
        if block.size > 1 or (block.size and len(there[block.a]) > 3)
    ]
    if not blocks:
        return []
    marked: list[int] = []
    for block in blocks:
        if marked and 1 < block.a - marked[-1] <= _GAP + 1:
            marked.extend(range(marked[-1] + 1, block.a))
        marked.extend(range(block.a, block.a + block.size))
    lines: list[list[float]] = []
    for index in marked:
        placed = [box for box in boxes[words[index].start() : words[index].end()] if box is not None]
        for x0, y0, x1, y1 in placed:
            if x1 <= x0 or y1 <= y0:
                continue
            last = lines[-1] if lines else None
            # On the same line, close to each other.
            if last is not None and _beside(last, y0, y1) and -0.01 < x0 - last[2] < 0.06:
                last[0], last[1] = min(last[0], x0), min(last[1], y0)
                last[2], last[3] = max(last[2], x1), max(last[3], y1)
            else:
                lines.append([x0, y0, x1, y1])
    return [[round(v, 5) for v in (x0, y0, x1 - x0, y1 - y0)] for x0, y0, x1, y1 in lines[:_MAX_MARKS]]


def _beside(line: list[float], top: float, bottom: float) -> bool:
    middle = (top + bottom) / 2
    return line[1] - (bottom - top) / 2 < middle < line[3] + (bottom - top) / 2


def _limit() -> None:
    if sys.platform == "win32":
        return
    for name, limit in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 3),  # only the standard streams
        (resource.RLIMIT_CPU, _PROCESSOR_SECONDS),
        (resource.RLIMIT_DATA, _MEMORY),
    ):
        _, hard = resource.getrlimit(name)
        least = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(name, (least, least))


if __name__ == "__main__":
    sys.exit(main())
