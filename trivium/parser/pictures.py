"""What a picture on a page says: its description, its caption, and the text that stands in it."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from copy import copy
from hashlib import sha256
from pathlib import PurePosixPath
from urllib.parse import unquote, unquote_to_bytes

from trivium.errors import InputError
from trivium.limits import DEFAULT_LIMITS, InputLimits
from trivium.parser.document import Document
from trivium.parser.documents.base import DocumentFile, nothing_beside
from trivium.parser.ocr import Ocr
from trivium.parser.reader import Mode, Reader
from trivium.parser.reader import Picture as ShownPicture
from trivium.parser.runs import PictureText
from trivium.parser.thumbnails import Thumbnails
from trivium.types import ChunkKind

_NO_DESCRIPTION = re.compile(
    r"(?:picture|image|img|graphic|grafik|bild|photo|figure|screenshot|logo|icon|shape|placeholder)?"
    r"[\s_-]*\d*(?:\.\w{2,5})?"
    r"|\S+\.(?:png|jpe?g|gif|webp|bmp|tiff?|svg|emf|wmf|heic|avif)"
    r"|(?:screen ?shot|image|img|picture|photo)[^.!?]*(?:\.\d[^.!?]*)*\.(?:png|jpe?g)",
    re.IGNORECASE,
)
"""What programs write where people have written nothing: "Picture 3", names of files."""
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_DATA = re.compile(r"data:image/[\w.+-]+((?:;[\w=.+-]+)*),", re.IGNORECASE)
_BADGE = re.compile(
    r"(?:https?:)?//(?:[\w.-]*(?:shields\.io|badgen\.net|badge)[\w.-]*/|[^?#]*[/.-](?:badges?)(?:[/.?#-]|$))",
    re.IGNORECASE,
)
"""The state of a build, a version, a licence: pictures that another site draws anew each day."""
_ROOTS = ("", "static/", "public/")
"""Folders that a site's address ``/images/a.png`` is looked for in, in each folder above the page: those of MkDocs and
plain sites, of Hugo and Docusaurus, and of Next."""
_MAX_ADDRESS = 1_000
_MAX_DEPTH = 20

Picture = bytes | Callable[[], bytes | None] | None
"""The content of a picture, or what gives it when it is needed; None where it cannot be had."""


class Pictures:
    """The pictures of one document. Their texts are read where the extra ``ocr`` is installed; without it they say what
    the document says of them. Those that say anything have a thumbnail where Pillow is installed."""

    def __init__(
        self, limits: InputLimits = DEFAULT_LIMITS, file: DocumentFile | None = None, ocr: Ocr | None = None
    ) -> None:
        """``file`` is the document, where its pictures are files beside it."""
        self._limits = limits
        self._beside = nothing_beside if file is None else file.beside
        self._depth = 0 if file is None else len(PurePosixPath(file.path).parts) - 1
        self.ocr = Ocr(limits) if ocr is None else ocr
        self._read: set[bytes] = set()
        self._thumbnails = Thumbnails(limits)

    def beside(self, load: Callable[[str], bytes | None]) -> Pictures:
        """Those of another part of the document, such as a chapter: ``load`` gives a picture by its address there."""
        part = copy(self)
        part._beside = load
        part._depth = 0
        return part

    def run(self, *, alt: str = "", caption: str = "", picture: Picture = None) -> PictureText | None:
        """The text of a chunk of kind ``image``, a line for each part, with the thumbnail; None where the picture says
        nothing.

        A picture that is broken or too large, or was shown before, says only what is said of it.
        """
        parts = [
            part for part in map(_line, (alt, *caption.splitlines())) if not _NO_DESCRIPTION.fullmatch(part)
        ]
        data = picture() if callable(picture) and (parts or self.ocr.available) else picture
        data = data if isinstance(data, bytes) else None
        run = PictureText()
        run.add("\n".join([*dict.fromkeys(parts), *filter(None, [self._text(data)])]))
        if not run.length:
            return None
        if data is not None:
            run.thumbnail = self._thumbnails.of(data)
        return run

    def at(self, address: str) -> bytes | None:
        """The picture of an address that stands in the document: of a file beside it, or of the address itself
        (``data:``). None where there is none, and for other sites: nothing is fetched."""
        address = address.strip()
        data = _DATA.match(address)
        if data is not None:
            return self._decode(address[data.end() :], data[1])
        if not address or len(address) > _MAX_ADDRESS or _SCHEME.match(address) or address.startswith("//"):
            return None
        path = re.split(r"[?#]", address, maxsplit=1)[0]
        for place in dict.fromkeys((unquote(path), path)):
            for candidate in self._places(place):
                found = self._beside(candidate)
                if found is not None:
                    return found
        return None

    def add(self, document: Document, *, alt: str = "", caption: str = "", picture: Picture = None) -> None:
        """Add a picture to a document, as a block of its own, if it says anything."""
        run = self.run(alt=alt, caption=caption, picture=picture)
        if run is not None:
            document.block(ChunkKind.IMAGE, run)

    def show(self, reader: Reader, picture: ShownPicture) -> None:
        """Adds a picture of a page that is HTML: see :data:`~trivium.parser.reader.PictureReader`. Badges say nothing."""
        if _BADGE.match(picture.address):
            return
        said = picture.title if picture.caption == picture.title else f"{picture.title}\n{picture.caption}"
        run = self.run(alt=picture.alt, caption=said, picture=lambda: self.at(picture.address))
        if run is not None:
            reader.document.picture(run)
            if reader.mode is Mode.FLOW and not reader.run.length:
                reader.document.write_pictures()

    def show_of_site(self, reader: Reader, picture: ShownPicture) -> None:
        """As :meth:`show`, for pages that are full of icons, logos and dots: those that a page marks as such say
        nothing."""
        if not picture.decorative:
            self.show(reader, picture)

    def _places(self, path: str) -> list[str]:
        if not path.startswith("/"):
            return [path]
        above = ["../" * levels for levels in range(min(self._depth, _MAX_DEPTH) + 1)]
        return [f"{up}{root}{path.lstrip('/')}" for up in above for root in _ROOTS]

    def _text(self, data: bytes | None) -> str:
        if data is None or not self.ocr.available:
            return ""
        digest = sha256(data).digest()
        if digest in self._read:  # such as a logo on every slide
            return ""
        self._read.add(digest)
        try:
            return self.ocr.read(data)
        except InputError:
            return ""

    def _decode(self, text: str, parameters: str) -> bytes | None:
        if len(text) > 2 * self._limits.document_bytes:
            return None
        try:
            plain = unquote_to_bytes(text)
            return base64.b64decode(plain) if parameters.lower().endswith(";base64") else plain
        except (binascii.Error, ValueError):
            return None


def _line(text: str) -> str:
    return " ".join(text.split())
