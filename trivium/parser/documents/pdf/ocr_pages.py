"""OCR of pages without text (with the extra ``ocr``), and pictures on pages with text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from trivium.errors import ParseError
from trivium.parser.documents.pdf.blocks import Block, Kind
from trivium.parser.documents.pdf.pdfium import PdfiumDocument
from trivium.parser.documents.pdf.placed_pictures import PlacedPicture
from trivium.parser.ocr import Ocr, parser_time
from trivium.parser.thumbnails import SIDE, Thumbnails
from trivium.settings.limits import InputLimits

_SIZE = 10.0
_MAX_PICTURES = 500  # maximum number of pictures per document that are read and get a thumbnail
_RENDERING_SHARE = 0.2
"""Share of a document's time limit for rendering pictures. OCR has a separate limit."""
_CAPTION = re.compile(
    r"(?:figure|fig\.?|image|chart|graph|diagram|photo|picture|illustration|scheme"
    r"|abbildung|abb\.?|bild|grafik|diagramm|figura|grafico|gráfico|schéma"
    r"|immagine|imagen|imagem|ilustración|ilustração|figuur|afbeelding|afb\.?|figur|kuva|kuvio"
    r"|рисунок|рис\.?|илл\.?|схема|график|диаграмма|фото)"
    r"(?:\s*\(?\d|\s+\(?(?-i:[IVX]{1,5}|[A-Z])\b)",
    re.IGNORECASE,
)
"""The beginning of captions, in the languages of :mod:`trivium.text.languages` with spaces between words."""
_REACH = 3.0
"""Maximum distance between a picture and its caption, in font sizes."""
_MAX_CAPTION = 1_000


@dataclass(frozen=True, slots=True)
class ReadPicture:
    """A picture and the text in it; empty if none was read."""

    place: PlacedPicture
    text: str


class PageReader:
    """Reads the pages of one document."""

    def __init__(self, limits: InputLimits) -> None:
        self._limits = limits
        self._ocr = Ocr(limits)
        self._rendering = _RENDERING_SHARE * limits.seconds

    @property
    def available(self) -> bool:
        return self._ocr.available

    @property
    def illegible(self) -> int:
        """Number of pictures and pages with text that could not be read clearly."""
        return self._ocr.illegible

    def blocks(self, pdf: PdfiumDocument, index: int) -> list[Block]:
        """Return the text of a page (from 0) as paragraphs; empty if there is no text, or no time left."""
        if not self.available:
            return []
        picture = pdf.picture(index)
        text = "" if picture is None else self._ocr.read(picture)
        return [
            Block(Kind.TEXT, " ".join(part.split()), index + 1, _SIZE, bold=False, lines=part.count("\n") + 1)
            for part in text.split("\n\n")
            if part.strip()
        ]

    def pictures(
        self, pdf: PdfiumDocument, pages: Sequence[Sequence[PlacedPicture]]
    ) -> list[list[ReadPicture]]:
        """Return the pictures of each page without repetitions, such as a logo on every page."""
        seen: set[bytes] = set()
        deadline = parser_time() + self._rendering
        found: list[list[ReadPicture]] = []
        for index, places in enumerate(pages):
            found.append([])
            for place in places:
                if place.key in seen:
                    continue
                seen.add(place.key)
                readable = self.available and len(seen) <= _MAX_PICTURES and parser_time() < deadline
                found[-1].append(ReadPicture(place, self._text(pdf, index, place) if readable else ""))
        return found

    def add_thumbnails(self, pdf: PdfiumDocument, blocks: Sequence[Block]) -> None:
        """Add thumbnails, rendered from the page at the place of each picture."""
        pictures = [block for block in blocks if block.picture is not None][:_MAX_PICTURES]
        thumbnails = Thumbnails(self._limits)
        deadline = parser_time() + self._rendering
        for block in pictures:
            if block.picture is not None and parser_time() < deadline:
                pixels = pdf.part(block.page - 1, block.picture, longest=SIDE)
                block.thumbnail = b"" if pixels is None else thumbnails.of_pixels(pixels)

    def _text(self, pdf: PdfiumDocument, index: int, place: PlacedPicture) -> str:
        pixels = pdf.part(index, place)
        try:
            return "" if pixels is None else self._ocr.read(pixels)
        except ParseError:
            return ""


def with_pictures(blocks: list[Block], pictures: Sequence[ReadPicture], page: int) -> list[Block]:
    """Insert the pictures of ``page`` (from 1) into its blocks: each replaces its caption, else follows the text above
    it. A picture without caption and text is left out.
    """
    for picture in pictures:
        place = picture.place
        at = _caption(blocks, place)
        caption = "" if at is None else blocks[at].text
        text = "\n".join(filter(None, (caption, picture.text)))
        if not text:
            continue
        block = Block(Kind.PICTURE, text, page, _SIZE, bold=False, picture=place)
        block.base, block.x0, block.x1 = place.bottom, place.left, place.right
        if at is None:
            blocks.insert(_after(blocks, place), block)
        else:
            # The text continued on the next page is the last flow, not the picture.
            if blocks[at].flow_end and at > 0:
                blocks[at - 1].flow_end = True
            if blocks[at].flow_start and at + 1 < len(blocks):
                blocks[at + 1].flow_start = True
            blocks[at] = block
    return blocks


def _caption(blocks: Sequence[Block], place: PlacedPicture) -> int | None:
    """Return the nearest block below or above a picture that begins like a caption; below is preferred."""
    best: tuple[float, int] | None = None
    for index, block in enumerate(blocks):
        if block.kind is not Kind.TEXT or not _beside(block, place) or len(block.text) > _MAX_CAPTION:
            continue
        below = place.bottom - block.base
        above = block.last_base - place.top
        reach = _REACH * max(block.size, 1.0)
        gap = (
            below
            if -block.size <= below <= reach
            else above + reach
            if -block.size <= above <= reach
            else None
        )
        if gap is not None and _CAPTION.match(block.text) and (best is None or gap < best[0]):
            best = gap, index
    return None if best is None else best[1]


def _after(blocks: Sequence[Block], place: PlacedPicture) -> int:
    above = [
        index for index, block in enumerate(blocks) if _beside(block, place) and block.last_base >= place.top
    ]
    return above[-1] + 1 if above else 0


def _beside(block: Block, place: PlacedPicture) -> bool:
    """Whether a block is in the same column."""
    return block.x1 > block.x0 and min(block.x1, place.right) > max(block.x0, place.left)
