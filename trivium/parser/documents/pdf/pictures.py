"""Pages without text, read as pictures where the extra ``ocr`` is installed."""

from __future__ import annotations

from trivium.limits import InputLimits
from trivium.parser.documents.pdf.blocks import Block, Kind
from trivium.parser.documents.pdf.pdfium import PdfiumDocument
from trivium.parser.ocr import Ocr

_SIZE = 10.0


class PageReader:
    """Reads the pages of one document."""

    def __init__(self, limits: InputLimits) -> None:
        self._ocr = Ocr(limits)

    @property
    def available(self) -> bool:
        return self._ocr.available

    def blocks(self, pdf: PdfiumDocument, index: int) -> list[Block]:
        """The text of a page (from 0) as paragraphs; none where there is no text, or no time left to look for it."""
        if not self.available:
            return []
        picture = pdf.picture(index)
        text = "" if picture is None else self._ocr.read(picture)
        return [
            Block(Kind.TEXT, " ".join(part.split()), index + 1, _SIZE, bold=False, lines=part.count("\n") + 1)
            for part in text.split("\n\n")
            if part.strip()
        ]
