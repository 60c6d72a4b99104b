"""Decodes pictures that come from outside: what they take is known before it is spent."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING

from trivium.errors import MissingExtraError, ParseError, said
from trivium.limits import DEFAULT_LIMITS, InputLimits

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
"""Pillow knows many more, which hardly anyone uses and hardly anyone tests."""

LONGEST_SIDE = 2_000
"""Pixels to which a picture is made smaller: text that can be read by people is read at this size."""

_PALE = 170
"""Grey above which what is drawn on nothing needs a dark ground to be seen."""


def open_picture(data: bytes, limits: InputLimits = DEFAULT_LIMITS) -> Image:
    """The picture, not decoded yet: its format, size and what it says of itself are known.

    Raises ParseError for what is no picture, or has more pixels than ``limits.picture_pixels``, and MissingExtraError
    without Pillow.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtraError("reading pictures", "documents") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of large pictures (refused below), and of damage
            picture = Image.open(io.BytesIO(data), formats=FORMATS)
    except Image.DecompressionBombError as error:
        raise ParseError(f"the picture has more than {limits.picture_pixels:,} pixels, the limit") from error
    except MemoryError:
        raise
    except Exception as error:  # whatever its decoders trip over
        raise ParseError("expected a picture (PNG, JPEG, GIF, WebP, BMP, TIFF), got none") from error
    _check_size(picture, limits)
    return picture


def _check_size(picture: Image, limits: InputLimits) -> None:
    pixels = picture.width * picture.height
    if pixels > limits.picture_pixels:
        raise ParseError(
            f"the picture has {picture.width:,} x {picture.height:,} pixels, more than"
            f" {limits.picture_pixels:,}, the limit"
        )


def decoded(picture: Image, limits: InputLimits = DEFAULT_LIMITS, *, longest: int = LONGEST_SIDE) -> Image:
    """The frame at hand in colours (RGB), upright, no side longer than ``longest`` pixels, on white, or on black where
    it is pale. Raises ParseError where it is damaged."""
    from PIL import Image, ImageOps

    _check_size(picture, limits)  # frames of a file may differ
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if picture.format == "JPEG":
                picture.draft("RGB", (longest, longest))  # decodes a smaller one, not below this size
            clear = picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info
            grey = picture.mode in ("1", "L") or picture.mode.startswith("I")
            mode = "RGBA" if clear else "L" if grey else "RGB"
            picture.load()
            image = picture if picture.mode == mode else picture.convert(mode)  # no copy: it may be large
            small = min(1.0, longest / max(image.size))
            if small < 1.0:
                size = (max(1, round(image.width * small)), max(1, round(image.height * small)))
                image = image.resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)
            image = ImageOps.exif_transpose(image)
            return _on_ground(image) if clear else image.convert("RGB")
    except MemoryError:
        raise
    except Exception as error:
        raise ParseError(f"the picture is damaged: {said(error)}") from error


def _on_ground(image: Image) -> Image:
    from PIL import Image, ImageStat

    mask = image.getchannel("A")
    drawn = ImageStat.Stat(image.convert("L"), mask.point(lambda alpha: 255 if alpha > 127 else 0))
    ground = Image.new("RGB", image.size, "black" if drawn.count[0] and drawn.mean[0] > _PALE else "white")
    ground.paste(image, mask=mask)
    return ground
