"""Thumbnails of pictures, displayed next to the passages found in them."""

from __future__ import annotations

import io
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trivium.errors import MissingExtraError, ParseError
from trivium.parser.ocr import picture_time
from trivium.parser.open_pictures import decoded, open_picture
from trivium.settings.limits import DEFAULT_LIMITS, InputLimits

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE = 320
"""Maximum length of the longer side in pixels."""
_QUALITY = 75
"""WebP quality. The 35 pictures of a company's handbook take 4.5 KB each, as JPEG 8.2 KB."""
_TOTAL_BYTES = 16 << 20
"""Maximum total size of the thumbnails of one document. A repeated picture counts twice because each chunk has its own
thumbnail.
"""
_PICTURES = 20
"""Number of pictures of the maximum allowed size that are decoded per document: about 15 s. A limit in seconds would
make the thumbnails, and therefore the content hash, depend on the speed of the machine.
"""
_SECONDS = 60.0
"""Additional processor seconds for one picture in a limited process."""


def thumbnail_of(picture: Image, limits: InputLimits = DEFAULT_LIMITS) -> bytes:
    """Convert the current frame to a WebP file, upright, with a longer side of at most :data:`SIDE` pixels, on a white
    background, or black if it is pale. Deterministic for a given version of Pillow. Raises ParseError when the picture
    is damaged.
    """
    file = io.BytesIO()
    decoded(picture, limits, longest=SIDE).save(file, "WEBP", quality=_QUALITY)
    return file.getvalue()


class Thumbnails:
    """Creates the thumbnails of one document, within limits. Repeated pictures are decoded only once."""

    def __init__(self, limits: InputLimits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._bytes = _TOTAL_BYTES
        self._pixels = _PICTURES * limits.picture_pixels
        self._made: dict[bytes, bytes] = {}

    def of(self, data: bytes) -> bytes:
        """Return the thumbnail of a picture file; empty if it cannot be decoded, is too large, the document has too
        many, there is no memory, or Pillow is not installed.
        """
        digest = sha256(data).digest()
        made = self._made.get(digest)
        if made is None:
            made = self._made[digest] = self._make(data)
        return self._within_limits(made)

    def of_frame(self, picture: Image) -> bytes:
        """Return the thumbnail of the current frame of an open picture."""
        return self._within_limits(self._small(picture))

    def of_pixels(self, pixels: NDArray[np.uint8]) -> bytes:
        """Return the thumbnail of an array of height x width x 3 colours."""
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
