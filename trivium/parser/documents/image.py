"""Picture files: their text, where the extra ``ocr`` is installed, what they say of themselves, and else their names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from trivium.errors import ParseError
from trivium.limits import InputLimits
from trivium.parser.document import Document
from trivium.parser.documents.base import DocumentFile, page_of
from trivium.parser.ocr import Ocr, require_ocr
from trivium.parser.picture_files import decoded, open_picture
from trivium.parser.runs import PictureText
from trivium.parser.sources.base import clean_text
from trivium.parser.thumbnails import Thumbnails
from trivium.text import composed
from trivium.types import ChunkKind, MetadataValue, Page

if TYPE_CHECKING:
    from PIL.Image import Image

_DESCRIPTIONS = ("Title", "Description", "Comment")
"""Texts of a PNG file."""
_IMAGE_DESCRIPTION, _ARTIST, _TAKEN = 0x010E, 0x013B, 0x9003
_EXIF = 0x8769
_MAX_TEXT = 10_000
_MAX_FRAMES = 1_000
_SMALLEST = 100
"""Pixels of the shorter side of a picture that its name is said of: smaller ones are icons, and there are many."""
_NO_NAMES = """
    image img picture pic photo scan scanned screenshot untitled unnamed noname copy download dsc dscn dscf dcim pxl
    jpeg jpg png gif webp bmp tif tiff and the new file
    """
"""Words in the names that cameras and programs give."""


def read(file: DocumentFile, limits: InputLimits) -> Page:
    """The file as a page called after it; see :class:`~trivium.parser.documents.base.DocumentReader`. The pictures of a
    TIFF file are its pages; of a moving picture the first is read. A picture without text and description says its name,
    if that has a word in it."""
    picture = open_picture(file.data, limits)
    frames = getattr(picture, "n_frames", 1) if picture.format == "TIFF" else 1
    if frames > _MAX_FRAMES:
        raise ParseError(f"the file has {frames:,} pictures, more than {_MAX_FRAMES:,}, the limit")
    description, metadata = _said(picture)
    ocr = Ocr(limits)
    name = _name(file.title, picture)
    if not description and not name:
        require_ocr()
    thumbnails = Thumbnails(limits)
    document = Document(limits.headings)
    for number in range(frames):
        document.page = number + 1 if frames > 1 else None
        if frames > 1:
            picture.seek(number)
            text = ocr.read(decoded(picture, limits))
            thumbnail = thumbnails.of_frame(picture)
        else:
            if not ocr.available:
                decoded(picture, limits, longest=64)  # a file that is damaged is refused
            text = ocr.read(file.data)
            thumbnail = thumbnails.of(file.data)
        said = "\n".join(filter(None, [description if number == 0 else "", text]))
        run = PictureText(thumbnail)
        run.add(said or (name if number == 0 and thumbnail else ""))
        document.block(ChunkKind.IMAGE, run)
    if not document.has_chunks:
        raise ParseError(_nothing(ocr))
    if ocr.illegible:
        metadata = {**metadata, "illegible_pictures": ocr.illegible}
    return page_of(document, file, "image", metadata=metadata)


def _nothing(ocr: Ocr) -> str:
    if ocr.unread:
        return "the text of the picture could not be read within the limits of time and memory"
    if ocr.illegible:
        return "the text of the picture is not clear enough to be read: expected a sharper picture"
    return "the picture has no text that can be read, and no description"


def _name(title: str, picture: Image) -> str:
    """The name of the file where it says what is to be seen, else the empty text."""
    words = re.split(r"[\W\d_]+", title.casefold())
    told = any(len(word) >= 3 and word not in _NO_NAMES.split() for word in words)
    return " ".join(re.split(r"[\s_-]+", title)) if told and min(picture.size) >= _SMALLEST else ""


def _said(picture: Image) -> tuple[str, Mapping[str, MetadataValue]]:
    """What a picture says of itself: a description, and metadata."""
    size: dict[str, MetadataValue] = {"width": picture.width, "height": picture.height}
    try:
        tags = picture.getexif()
        texts = [picture.info.get(name) for name in _DESCRIPTIONS] + [tags.get(_IMAGE_DESCRIPTION)]
        artist, taken = tags.get(_ARTIST), tags.get_ifd(_EXIF).get(_TAKEN)
    except MemoryError:
        raise
    except Exception:  # damaged tags are no reason to refuse a picture
        return "", size
    if found := _text(artist):
        size["author"] = found
    if date := _date(_text(taken)):
        size["taken"] = date
    return "\n".join(dict.fromkeys(filter(None, map(_text, texts)))), size


def _text(value: object) -> str:
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if not isinstance(value, str) or len(value) > _MAX_TEXT:
        return ""
    text = composed(clean_text(value)).strip()
    return text if any(map(str.isalnum, text)) else ""


def _date(text: str) -> str | None:
    """As ISO 8601 writes it.

    >>> _date("2024:05:01 10:20:30")
    '2024-05-01T10:20:30'
    """
    if not re.fullmatch(r"\d{4}:\d\d:\d\d \d\d:\d\d:\d\d", text):
        return None
    try:
        return datetime.strptime(text, "%Y:%m:%d %H:%M:%S").isoformat()
    except ValueError:
        return None
