"""Refuses input that is no HTML document, or that would take an HTML parser unbounded time or memory.

The tree construction of the HTML standard looks through the open elements at most start tags, and opens
unclosed formatting elements again in every block: both make its cost a product, not a sum, on hostile input.
"""

from __future__ import annotations

import codecs
import re

from trivium.errors import ParseError

MAX_BYTES = 128 << 20
MAX_TAGS = 4_000_000  # a hundred times as many as the longest articles have; about three gigabytes of memory
_MAX_CHECKED = 4_096  # bytes at the start that tell text from binary data
_UNSUSPICIOUS_TAGS = 50_000  # markup characters ...
_UNSUSPICIOUS_OPEN = 2_500  # ... and elements left open; fewer of both cannot cost much
_MAX_STEPS = 2_000_000_000  # open elements looked at: a few seconds
_MAX_REOPENED = 3_000_000  # formatting elements opened again: about a gigabyte

_TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_CONTROL = bytes(set(range(32)) - set(b"\t\n\f\r\x1b"))
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([a-zA-Z0-9_:.-]{2,40})", re.IGNORECASE)
_NOT_NESTING = frozenset(
    b"area base br col embed hr img input link meta param source track wbr "
    b"p li dt dd tr td th tbody thead tfoot option optgroup colgroup html head body".split()
)
_FORMATTING = frozenset(b"a b big code em font i nobr s small strike strong tt u".split())
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def checked_bytes(html: str | bytes) -> bytes:
    """The document as UTF-8, after the checks.

    Bytes are read in the encoding of their byte order mark, else the one a ``<meta>`` element names, else
    UTF-8; what is wrong in it becomes U+FFFD.

    Raises:
        ParseError: the document is empty, too large, binary, without any markup, or nested without bounds.
    """
    if len(html) > MAX_BYTES:
        raise ParseError(
            f"the document has {len(html):,} bytes, more than the {MAX_BYTES:,} that are read: "
            "split it into pages"
        )
    data = html.encode("utf-8", "replace") if isinstance(html, str) else _as_utf8(html)
    if not data or data.isspace():
        raise ParseError("the document is empty: expected an HTML page")
    start = data[:_MAX_CHECKED]
    if len(start) - len(start.translate(None, _CONTROL)) > len(start) // 100:
        raise ParseError("the document is binary data: expected an HTML page (is it compressed?)")
    if _TAG.search(data) is None:
        raise ParseError(
            "the document has no HTML tags: expected an HTML page, plain text goes in as records"
        )
    _check_cost(data)
    return data


def _as_utf8(data: bytes) -> bytes:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            body = data[len(mark) :]
            return (
                body if encoding == "utf-8" else body.decode(encoding, "replace").encode("utf-8", "replace")
            )
    declared = _CHARSET.search(data, 0, _MAX_CHECKED)
    name = "utf-8" if declared is None else declared[1].decode("ascii").lower()
    try:
        encoding = codecs.lookup(name).name
        if encoding == "utf-8" or encoding.startswith("utf-16"):  # a legible meta element is not UTF-16
            return data
        # Browsers read Latin-1 and ASCII as Windows-1252, which agrees with them wherever they are defined.
        encoding = "cp1252" if encoding in ("iso8859-1", "ascii") else encoding
        return data.decode(encoding, "replace").encode("utf-8", "replace")
    except LookupError:  # unknown, or a codec that is not a text encoding
        return data


def _check_cost(data: bytes) -> None:
    tags, closing = data.count(b"<"), data.count(b"</")
    if tags > MAX_TAGS:
        raise ParseError(
            f"the document has about {tags:,} tags, more than the {MAX_TAGS:,} that are read: "
            "split it into pages"
        )
    if tags <= _UNSUSPICIOUS_TAGS and tags - 2 * closing <= _UNSUSPICIOUS_OPEN:
        return
    depth = steps = formatting = reopened = 0
    for match in _TAG.finditer(data):
        name = match[2].lower()
        if match[1]:
            if name not in _NOT_NESTING and depth:
                depth -= 1
            if formatting and name in _FORMATTING:
                formatting -= 1
        elif name in _FORMATTING:
            formatting += 1
            depth += 1
        else:
            reopened += formatting
            depth += name not in _NOT_NESTING
        steps += depth
        if steps > _MAX_STEPS or reopened > _MAX_REOPENED:
            raise ParseError(
                f"the document leaves {depth:,} elements open at byte {match.start():,}: "
                "expected nesting that a page can have; it is damaged or hostile"
            )
