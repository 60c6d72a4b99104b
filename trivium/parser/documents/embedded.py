"""Pictures inside of documents: what a reader knows of one, handed on in the order of the document."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trivium.parser.document import Document
from trivium.parser.pictures import Pictures


@dataclass(frozen=True, slots=True)
class EmbeddedPicture:
    """A picture. ``load`` gives its bytes, None where they are missing or too many; nothing is unpacked before.
    ``alt`` is the text that stands for it, ``caption`` the paragraph below it."""

    load: Callable[[], bytes | None]
    alt: str = ""
    caption: str = ""

    def add_to(self, document: Document, pictures: Pictures) -> None:
        """Add what it says: its alternative text, its caption, and, with the extra ``ocr``, the text in it."""
        pictures.add(document, alt=self.alt, caption=self.caption, picture=self.load)
