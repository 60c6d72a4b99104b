"""Small pictures of pictures, which are shown beside what was found in them."""

from __future__ import annotations

import io
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trivium.errors import MissingExtraError, ParseError
from trivium.limits import DEFAULT_LIMITS, InputLimits
from trivium.parser.ocr import picture_time
from trivium.parser.picture_files import decoded, open_picture

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE = 320
"""Pixels of the longer side, at most."""
_QUALITY = 75
"""Of WebP: the 35 pictures of a company's handbook take 4.5 KB each, as JPEG 8.2 KB."""
_TOTAL_BYTES = 16 << 20
"""Of the thumbnails of one document; a picture that is shown twice counts twice, since each chunk has its own."""
_PICTURES = 20
"""So many pictures of the largest size that is allowed are decoded for one document: about 15 s. A limit in seconds
would give a document one picture today and another tomorrow, and with it another content hash."""
_SECONDS = 60.0
"""Processor time that a limited process may take for one picture beyond its own."""


def thumbnail_of(picture: Image, limits: InputLimits = DEFAULT_LIMITS) -> bytes:
    """The frame at hand as a WebP file, upright, no side longer than :data:`SIDE`, on white, or on black where it is
    pale. The same picture gives the same bytes, as long as Pillow is the same. Raises ParseError where it is damaged."""
    file = io.BytesIO()
    decoded(picture, limits, longest=SIDE).save(file, "WEBP", quality=_QUALITY)
    return file.getvalue()


class Thumbnails:
    """Makes those of one document, within limits; a picture that comes again is not decoded again."""

    def __init__(self, limits: InputLimits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._bytes = _TOTAL_BYTES
        self._pixels = _PICTURES * limits.picture_pixels
        self._made: dict[bytes, bytes] = {}

    def of(self, data: bytes) -> bytes:
        """The thumbnail of a picture file; empty where it is none that can be decoded, is too large, the document has too
        many, there is no memory, or Pillow is not installed."""
        digest = sha256(data).digest()
        made = self._made.get(digest)
        if made is None:
            made = self._made[digest] = self._make(data)
        return self._within_limits(made)

    def of_frame(self, picture: Image) -> bytes:
        """The same of a picture that is open: of the frame at hand."""
        return self._within_limits(self._small(picture))

    def of_pixels(self, pixels: NDArray[np.uint8]) -> bytes:
        """The same of height x width x 3 colours."""
        try:
            from PIL import Image
        except ImportError:
            return b""
        return self.of_frame(Image.fromarray(pixels))

    def _make(self, data: bytes) -> bytes:
        try:
            return self._small(open_picture(data, self._limits))
        except (ParseError, MissingExtraError):
            return b""

    def _small(self, picture: Image) -> bytes:
        self._pixels -= picture.width * picture.height
        if self._pixels < 0:
            return b""
        try:
            with picture_time(_SECONDS):
                return thumbnail_of(picture, self._limits)
        except (ParseError, MemoryError):
            return b""

    def _within_limits(self, made: bytes) -> bytes:
        if len(made) > self._bytes:
            return b""
        self._bytes -= len(made)
        return made
