"""Converts HTML to the blocks of a page. Shared by all formats that are converted to HTML."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from trivium.errors import ParseError
from trivium.parser.document import MAX_TITLE, Document
from trivium.parser.html.input_limits import checked_bytes
from trivium.parser.html.link_targets import local_address
from trivium.parser.html.reader import PictureReader, Reader, inline_text
from trivium.settings.limits import InputLimits
from trivium.text.normalise import normalise_title


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
