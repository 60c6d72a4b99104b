"""Renders PDF pages and locates passages on them, in a separate process with limits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from trivium.common.run_program import NotStartedError, run_once
from trivium.errors import MissingExtraError, ParseError
from trivium.parser.documents.pdf.document_title import pdf_date
from trivium.parser.documents.pdf_page_program import NO_PAGE, NOT_READ

MEDIA_TYPE = "image/webp"

_PROGRAM = Path(__file__).with_name("pdf_page_program.py")
_PATIENCE_SECONDS = 20.0
_MAX_BYTES = 16 << 20
"""Maximum output of the program. A page of noise at 1,600 pixels takes 1.5 MB."""

Mark = tuple[float, float, float, float]
"""Left, top, width and height of a rectangle, in fractions of the page from its upper left corner."""


@dataclass(frozen=True, slots=True)
class DrawnPage:
    """A rendered page.

    - ``pages``: number of pages of the document.
    - ``modified``: modification date stated by the document (ISO 8601).
    - ``width``, ``height``: in points.
    - ``shown``: share of the given texts found on the page; None if it has no text or none was given.
    - ``marks``: rectangles of the passage.
    - ``picture``: a WebP file, empty if none was requested.
    """

    pages: int
    modified: str | None
    width: float
    height: float
    shown: float | None
    marks: tuple[Mark, ...]
    picture: bytes


def draw_page(
    data: bytes, page: int, *, longest: int, passage: str = "", texts: Sequence[str] = ()
) -> DrawnPage:
    """Render a page (from 1) of a PDF file with a longer side of ``longest`` pixels (0: no picture), and locate
    ``passage`` on it. ``texts`` are compared with its text.

    Raises ParseError when the file cannot be read, does not have the page, or needs too much memory or time, and
    MissingExtraError without Pillow.
    """
    if find_spec("PIL") is None:
        raise MissingExtraError("showing pages of PDF files", "documents")
    request = {"page": page, "longest": longest, "passage": passage, "texts": list(texts)}
    given = [json.dumps(request).encode("ascii") + b"\n", data]
    try:
        code, said = run_once(_PROGRAM, [], given, most=_MAX_BYTES, seconds=_PATIENCE_SECONDS)
    except NotStartedError as error:
        raise ParseError(f"the program that draws pages cannot be started: {error}") from error
    if code == NO_PAGE:
        raise ParseError(f"the PDF has no page {page} that could be drawn")
    if code == NOT_READ:
        raise ParseError("the PDF cannot be opened: expected one that opens without a password")
    if code != 0 or len(said) > _MAX_BYTES:
        raise ParseError("the page cannot be drawn within the limits of memory and time")
    return _read(said)


def _read(said: bytes) -> DrawnPage:
    head, _, picture = said.partition(b"\n")
    answer: dict[str, Any] = json.loads(head)
    return DrawnPage(
        pages=answer["pages"],
        modified=pdf_date(answer["modified"]),
        width=answer["width"],
        height=answer["height"],
        shown=answer["shown"],
        marks=tuple((left, top, width, height) for left, top, width, height in answer["marks"]),
        picture=picture,
    )
