"""Pages of a PDF as pictures, with the places of a passage, drawn in a process apart and within limits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from trivium.common.programs import NotStartedError, run_apart
from trivium.errors import MissingExtraError, ParseError
from trivium.parser.documents.dates import pdf_date
from trivium.parser.documents.pdf_page_program import NO_PAGE, NOT_READ

MEDIA_TYPE = "image/webp"

_PROGRAM = Path(__file__).with_name("pdf_page_program.py")
_PATIENCE_SECONDS = 20.0
_MAX_BYTES = 16 << 20
"""Of what the program may say: a page of noise at 1,600 pixels takes 1.5 MB."""

Mark = tuple[float, float, float, float]
"""Left, top, width and height of a place on a page, in shares of the page, from its upper left corner."""


@dataclass(frozen=True, slots=True)
class DrawnPage:
    """A page. ``width`` and ``height`` are in points, ``pages`` is how many the document has, ``modified`` when it says
    that it was changed (ISO 8601). ``shown``: which share of the texts given stands on the page; None where it has no
    text, or none was given. ``picture`` is a WebP file, empty where none was asked for."""

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
    """A page (from 1) of a PDF file, its longer side of ``longest`` pixels (0: no picture), with the places where
    ``passage`` stands. ``texts`` are compared with what stands on it.

    Raises ParseError where the file cannot be read, has no such page, or takes too much memory or time, and
    MissingExtraError without Pillow.
    """
    if find_spec("PIL") is None:
        raise MissingExtraError("showing pages of PDF files", "documents")
    request = {"page": page, "longest": longest, "passage": passage, "texts": list(texts)}
    given = [json.dumps(request).encode("ascii") + b"\n", data]
    try:
        code, said = run_apart(_PROGRAM, [], given, most=_MAX_BYTES, seconds=_PATIENCE_SECONDS)
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
