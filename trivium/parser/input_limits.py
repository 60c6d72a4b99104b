"""Refuses input that is not an HTML document, or that would cost the HTML parser unbounded time or memory.

The tree construction of the HTML standard scans the open elements at most start tags, and reopens unclosed
formatting elements in every block, and compares each attribute with all before it: on hostile input these make the
cost quadratic.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

from trivium.errors import ParseError
from trivium.limits import DEFAULT_LIMITS, InputLimits

_MAX_CHECKED = 4_096  # bytes at the start that are tested for binary data
_CHEAP_TAGS = 50_000  # documents with at most so many tags ...
_CHEAP_OPEN = 2_500  # ... and so many elements left open are not checked further
_MAX_STEPS = 2_000_000_000  # open elements scanned: a few seconds
_MAX_REOPENED = 3_000_000  # formatting elements reopened: about a gigabyte

_STRETCH = 4_096  # bytes; an element with thousands of attributes is several times as long
_ATTRIBUTE = rb"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+|))?+"""
_TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_CONTROL = bytes(set(range(32)) - set(b"\t\n\f\r\x1b"))
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([a-zA-Z0-9_:.-]{2,40})", re.IGNORECASE)
_NOT_NESTING = frozenset(
    b"area base br col embed hr img input link meta param source track wbr "
    b"p li dt dd tr td th tbody thead tfoot option optgroup colgroup html head body".split()
)
_FORMATTING = frozenset(b"a b big code em font i nobr s small strike strong tt u".split())
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def checked_bytes(html: str | bytes, limits: InputLimits = DEFAULT_LIMITS) -> bytes:
    """Checks a document and returns it as UTF-8.

    Bytes are read in the encoding of their byte order mark, else the one a ``<meta>`` element names, else
    UTF-8; invalid sequences become U+FFFD.

    Raises:
        ParseError: the document is empty, too large, binary, without any tags, nested too deeply, or has too many tags
            or attributes.
    """
    if len(html) > limits.document_bytes:
        raise ParseError(
            f"the document has {len(html):,} bytes, more than the limit of {limits.document_bytes:,}: split it into"
            " pages"
        )
    data = html.encode("utf-8", "replace") if isinstance(html, str) else _as_utf8(html)
    if not data or data.isspace():
        raise ParseError("the document is empty: expected an HTML page")
    start = data[:_MAX_CHECKED]
    if len(start) - len(start.translate(None, _CONTROL)) > len(start) // 100:
        raise ParseError("the document is binary data: expected an HTML page (is it compressed?)")
    if _TAG.search(data) is None:
        raise ParseError("the document has no HTML tags: expected an HTML page; ingest plain text as records")
    _check_cost(data, limits)
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


def _check_cost(data: bytes, limits: InputLimits) -> None:
    tags, closing = data.count(b"<"), data.count(b"</")
    if tags > limits.tags:
        raise ParseError(
            f"the document has about {tags:,} tags, more than the limit of {limits.tags:,}: split it into pages"
        )
    _check_attributes(data, limits)
    if tags <= _CHEAP_TAGS and tags - 2 * closing <= _CHEAP_OPEN:
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
                "expected a page with less nesting; it is damaged or hostile"
            )


def _check_attributes(data: bytes, limits: InputLimits) -> None:
    """Refuse elements with very many attributes. Only documents with a long stretch inside a tag are looked through:
    reading all tags of a page would take a sixth as long as parsing it."""
    if not _may_have_long_tags(data):
        return
    tags = _tags_with_at_most(limits.attributes)
    at = 0
    while (match := tags.match(data, at)) is not None and match.end() < len(data):
        at = match.end()
        script = data.rfind(b"<script", 0, at)
        if script < 0 or data.find(b"</script", script, at) >= 0:
            raise ParseError(
                f"an element at byte {at:,} has more than {limits.attributes:,} attributes, the limit: expected a page"
                " with fewer; it is damaged or hostile"
            )
        at = max(at + 1, data.find(b"</script", at))


def _may_have_long_tags(data: bytes) -> bool:
    """Whether somewhere between tags' ends there is a long stretch, or a quoted > as in a long tag that hides its end."""
    for at in range(0, len(data) - _STRETCH, _STRETCH):
        end = data.find(b">", at, at + _STRETCH)
        if end < 0:
            return True
        start = data.rfind(b"<", max(0, end - _STRETCH), end)
        if start < 0 or data.count(b'"', start, end) % 2:
            return True
    return False


@lru_cache(maxsize=4)
def _tags_with_at_most(attributes: int) -> re.Pattern[bytes]:
    """Matches up to the first tag with more attributes, or to the end."""
    tag = rb"<[a-zA-Z][^\s/>]*+(?:%b){0,%d}+[\s/]*+(?:>|\Z)" % (_ATTRIBUTE, attributes)
    return re.compile(rb"(?:[^<]++|%b|<(?![a-zA-Z]))*+" % tag)
