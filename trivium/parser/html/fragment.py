"""Converts HTML to the blocks of a page. Shared by all formats that are converted to HTML."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from trivium.errors import ParseError
from trivium.limits import InputLimits
from trivium.parser.document import Document
from trivium.parser.html.input_limits import checked_bytes
from trivium.parser.html.reader import PictureReader, Reader, inline_text
from trivium.parser.page import MAX_TITLE
from trivium.parser.text_runs import Address
from trivium.text import normalise_title

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_MAX_ADDRESS = 1_000


def parse_markup(html: str, limits: InputLimits) -> LexborNode:
    """Parse HTML and return its body. Raises ParseError when that would be too expensive."""
    try:
        tree = LexborHTMLParser(checked_bytes(html, limits))
    except SelectolaxError as error:
        raise ParseError(f"the HTML parser failed: {error}") from error
    if tree.body is None:
        raise ParseError("the document has no text")
    return tree.body


def first_title(root: LexborNode) -> str:
    """Return the first heading if it is of the highest level; else an empty string."""
    heading = root.css_first("h1, h2, h3, h4, h5, h6")
    title = normalise_title(inline_text(heading)) if heading is not None and heading.tag == "h1" else ""
    return title if len(title) <= MAX_TITLE else ""


def read_blocks(
    root: LexborNode,
    title: str,
    limits: InputLimits,
    *,
    read_picture: PictureReader | None = None,
    may_be_empty: bool = False,
) -> Document:
    """Read everything below an element as the sections and chunks of a page with this ``title``. Links to other files
    are kept as addresses; links to other sites, or within the same file, are dropped. Raises ParseError when there is
    no text, unless it ``may_be_empty``.
    """
    reader = Reader(title, None, limits, resolve_link=local_address, read_picture=read_picture)
    reader.read(root)
    if not (may_be_empty or reader.document.has_text):
        raise ParseError("the document has no text")
    return reader.document


def local_address(href: str) -> Address | None:
    """Return an address that leads to another file next to this one, or None.

    >>> local_address("../setup.md#linux"), local_address("https://example.org/"), local_address("#top")
    ('../setup.md#linux', None, None)
    """
    address = href.strip()
    if not address or len(address) > _MAX_ADDRESS or address.startswith(("#", "//", "?", "\\\\")):
        return None
    return None if _SCHEME.match(address) else Address(address)
