"""Pictures embedded in documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trivium.parser.document import Document
from trivium.parser.pictures import Pictures


@dataclass(frozen=True, slots=True)
class EmbeddedPicture:
    """A picture. ``load`` returns its bytes, None if they are missing or too many; nothing is unpacked before. ``alt``
    is the alternative text, ``caption`` the paragraph below it.
    """

    load: Callable[[], bytes | None]
    alt: str = ""
    caption: str = ""

    def add_to(self, document: Document, pictures: Pictures) -> None:
        """Add its alternative text, its caption and, with the extra ``ocr``, the text in it."""
        pictures.add(document, alt=self.alt, caption=self.caption, picture=self.load)
