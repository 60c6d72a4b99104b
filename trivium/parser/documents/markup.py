"""From HTML, whatever it was made of, to the blocks of a page: formats that become HTML have no parser of their own."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from trivium.errors import ParseError
from trivium.limits import InputLimits
from trivium.parser import blocks, inline, table_reader  # noqa: F401  (importing them registers their handlers)
from trivium.parser.document import Document
from trivium.parser.input_limits import checked_bytes
from trivium.parser.page import MAX_TITLE
from trivium.parser.reader import PictureReader, Reader
from trivium.parser.runs import Address
from trivium.text import normalise_title

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_MAX_ADDRESS = 1_000


def parse_markup(html: str, limits: InputLimits) -> LexborNode:
    """The body of an HTML text. Raises ParseError for one that would cost too much."""
    try:
        tree = LexborHTMLParser(checked_bytes(html, limits))
    except SelectolaxError as error:
        raise ParseError(f"the HTML parser failed: {error}") from error
    if tree.body is None:
        raise ParseError("the document has no text")
    return tree.body


def first_title(root: LexborNode) -> str:
    """The first heading, if it is one of the highest level; else nothing."""
    heading = root.css_first("h1, h2, h3, h4, h5, h6")
    title = normalise_title(heading.text()) if heading is not None and heading.tag == "h1" else ""
    return title if len(title) <= MAX_TITLE else ""


def read_blocks(
    root: LexborNode,
    title: str,
    limits: InputLimits,
    *,
    read_picture: PictureReader | None = None,
    may_be_empty: bool = False,
) -> Document:
    """Everything below an element, as the sections and chunks of a page called ``title``. Its links are addresses of
    other files; those that lead to other sites, or elsewhere in the same file, are left out. Raises ParseError when
    there is no text, unless it ``may_be_empty``."""
    reader = Reader(title, None, limits, resolve_link=local_address, read_picture=read_picture)
    reader.read(root)
    if not (may_be_empty or reader.document.has_chunks):
        raise ParseError("the document has no text")
    return reader.document


def local_address(href: str) -> Address | None:
    """An address that leads to another file beside this one, or None.

    >>> local_address("../setup.md#linux"), local_address("https://example.org/"), local_address("#top")
    ('../setup.md#linux', None, None)
    """
    address = href.strip()
    if not address or len(address) > _MAX_ADDRESS or address.startswith(("#", "//", "?", "\\\\")):
        return None
    return None if _SCHEME.match(address) else Address(address)
