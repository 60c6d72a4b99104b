"""Decodes untrusted pictures; their cost is checked in advance."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING

from trivium.errors import MissingExtraError, ParseError, said
from trivium.settings.limits import DEFAULT_LIMITS, InputLimits

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
"""Supported formats. Pillow supports many more, which are rarely used and rarely tested."""

LONGEST_SIDE = 2_000
"""Longer side in pixels to which pictures are reduced; text that people can read is legible at this size."""

_PALE = 170
"""Mean grey level above which drawings on a transparent background need a dark background."""


def open_picture(data: bytes, limits: InputLimits = DEFAULT_LIMITS) -> Image:
    """Open a picture without decoding it: its format, size and metadata are available.

    Raises ParseError for data that is not a picture, or has more pixels than ``limits.picture_pixels``, and
    MissingExtraError without Pillow.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtraError("reading pictures", "documents") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about large pictures (rejected below) and about damage
            picture = Image.open(io.BytesIO(data), formats=FORMATS)
    except Image.DecompressionBombError as error:
        raise ParseError(f"the picture has more than {limits.picture_pixels:,} pixels, the limit") from error
    except MemoryError:
        raise
    except Exception as error:  # decoders may raise anything
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
    """Decode the current frame to RGB, upright, with a longer side of at most ``longest`` pixels, on a white
    background, or black if it is pale. Raises ParseError when it is damaged.
    """
    from PIL import Image, ImageOps

    _check_size(picture, limits)  # frames of a file may differ in size
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if picture.format == "JPEG":
                picture.draft("RGB", (longest, longest))  # decodes at a reduced size, not below this one
            clear = picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info
            grey = picture.mode in ("1", "L") or picture.mode.startswith("I")
            mode = "RGBA" if clear else "L" if grey else "RGB"
            picture.load()
            image = (
                picture if picture.mode == mode else picture.convert(mode)
            )  # avoids a copy, which may be large
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
