"""Pictures in HTML: their addresses, which of them are icons, and their captions."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from trivium.parser.html.reader import inline_text
from trivium.parser.html.skipped import is_skipped

Attributes = dict[str, str | None]

_PIXELS = re.compile(r"\s{0,9}(\d{1,5})(?:px)?\s{0,9}", re.IGNORECASE)
_ICON = 32
"""Maximum side in pixels of an icon, line or tracking pixel."""
_MAX_CAPTION = 1_000
_MAX_ELEMENTS = 60
"""Maximum number of elements of a figure that is a picture with a caption."""


def picture_address(attributes: Attributes) -> str:
    """Return the address of an ``img``. Pages with lazy loading have a placeholder in ``src``."""
    address = attributes.get("src") or ""
    late = attributes.get("data-src") or attributes.get("data-original") or ""
    return late if late and (not address or address.startswith("data:")) else address


def is_icon(attributes: Attributes) -> bool:
    """Whether the page marks a picture as insignificant: it has the size of an icon, or is decorative."""
    if attributes.get("role") in ("presentation", "none") or attributes.get("aria-hidden") == "true":
        return True
    sizes = (_PIXELS.fullmatch(attributes.get(name) or "") for name in ("width", "height"))
    return any(size is not None and int(size[1]) <= _ICON for size in sizes)


def captioned(figure: LexborNode) -> tuple[LexborNode, LexborNode, str] | None:
    """Return the only picture of a ``figure``, its ``figcaption`` and the text of that; None unless there is exactly
    one of each. A caption with links is None as well, because it becomes a paragraph of its own.
    """
    picture = caption = None
    seen = 0
    stack = [figure.first_child]
    while stack:
        node = stack.pop()
        if node is None:
            continue
        seen += 1
        if seen > _MAX_ELEMENTS:
            return None
        stack.append(node.next)
        if node.tag == "img":
            if picture is not None:
                return None
            picture = node
        elif node.tag == "figcaption":
            if caption is not None:
                return None
            caption = node
        elif node.tag in ("figure", "table", "pre"):
            return None
        else:
            stack.append(node.first_child)
    if picture is None or caption is None or caption.css_first("a[href], img, svg, math") is not None:
        return None
    attributes = picture.attributes
    if not picture_address(attributes) or is_skipped(attributes, "img") or is_icon(attributes):
        return None
    text = inline_text(caption)
    return (picture, caption, text) if 0 < len(text) <= _MAX_CAPTION else None
