"""Pictures embedded in documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from trivium.parser.document import Document
from trivium.parser.pictures import Pictures

if TYPE_CHECKING:
    from trivium.parser.documents.office import Package


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


def embedded_picture(package: Package, part: str, identifier: str | None, alt: str) -> EmbeddedPicture | None:
    """Return the picture that a part of an Office file refers to; None if it refers to none in the file."""
    relation = package.relations(part).get(identifier or "")
    if relation is None or relation.is_external or relation.kind != "image":
        return None
    if relation.target not in package.archive:
        package.document.leave_out("a picture", f"the file has no {relation.target!r}")
    return EmbeddedPicture(partial(package.archive.get, relation.target), alt)
