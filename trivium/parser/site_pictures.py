"""Pictures on pages of sites: which of them say something, and what their captions are.

A page of a site shows far more pictures than a text that people write by hand: icons, badges, pixels that count its
readers.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from trivium.parser.pictures import Pictures
from trivium.parser.reader import Picture, Reader
from trivium.parser.skip import is_skipped

_ICON = 32
"""Pixels: what is shown no larger, in one direction, is an icon, a badge, a line, or counts readers."""
_FEW_WORDS = 3
"""From so many on a description says what is to be seen; fewer (``Company logo``) are a label of what is not there."""
_LATER = ("data-src", "data-original", "data-lazy-src")
"""Where pages keep the address of a picture that a script loads when it comes into view."""
_LENGTH = re.compile(r"\s*(\d{1,6})(?:\.\d*)?\s*(?:px)?\s*")
_STYLED = re.compile(r"(?:^|;)\s*(?:width|height)\s*:\s*(\d{1,6})(?:\.\d*)?px", re.IGNORECASE)
_MAX_STYLE = 1_000
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(r"[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
"""Scripts without spaces between words: a sign counts as half a word."""


def prepare_pictures(content: LexborNode) -> None:
    """Takes the icons out, gives pictures that are loaded later their addresses, and the picture of a figure its caption:
    one that is sure to be shown, and has no links, is then no paragraph of its own."""
    for node in content.css("img"):
        attributes = node.attributes
        if _is_icon(attributes):
            node.decompose()
            continue
        later = next((address for name in _LATER if (address := attributes.get(name))), None)
        if later and (attributes.get("src") or "data:").startswith("data:"):
            node.attrs["src"] = later
    for figure in content.css("figure"):
        captions, pictures = figure.css("figcaption"), figure.css("img")
        if len(captions) == 1 and len(pictures) == 1 and captions[0].css_first("img, table, pre") is None:
            caption = " ".join(captions[0].text().split())
            shown = pictures[0].attributes
            if caption and shown.get("src") and not is_skipped(shown, "img"):
                pictures[0].attrs["title"] = caption
                if _says_enough(caption) and captions[0].css_first("a[href]") is None:
                    captions[0].decompose()


class SitePictures:
    """Those of one page, which has been prepared."""

    def __init__(self, pictures: Pictures) -> None:
        self._pictures = pictures

    def show(self, reader: Reader, picture: Picture) -> None:
        """Adds a picture, if it says anything. One whose file is not there says so only with several words."""
        if _says_enough(f"{picture.alt} {picture.title}") or self._pictures.at(picture.address) is not None:
            self._pictures.show(reader, picture)


def _is_icon(attributes: dict[str, str | None]) -> bool:
    given = [_LENGTH.fullmatch(attributes.get(name) or "") for name in ("width", "height")]
    sizes = [found[1] for found in given if found is not None]
    sizes += _STYLED.findall((attributes.get("style") or "")[:_MAX_STYLE])
    return any(int(size) <= _ICON for size in sizes)


def _says_enough(text: str) -> bool:
    return len(_WORD.findall(text)) + len(_UNSPACED.findall(text)) // 2 >= _FEW_WORDS
