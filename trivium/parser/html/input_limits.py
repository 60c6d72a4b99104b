"""Rejects input that is not an HTML document, or that would cost the HTML parser unbounded time or memory.

The tree construction of the HTML standard scans the open elements at most start tags, reopens unclosed formatting
elements in every block, and compares each attribute with all previous ones. On malicious input these make the cost
quadratic.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from trivium.errors import ParseError
from trivium.parser.encodings import decoded_as
from trivium.settings.limits import DEFAULT_LIMITS, InputLimits

_MAX_CHECKED = 4_096  # bytes at the start that are checked for binary data
_CHEAP_TAGS = 50_000  # documents with at most this many tags ...
_CHEAP_OPEN = 2_500  # ... and this many elements left open are not checked further
_MAX_STEPS = 1_250_000_000  # open elements scanned, two seconds: 20,000 nested tables
_MAX_REOPENED = 3_000_000  # formatting elements reopened: about a gigabyte

_STRETCH = 4_096  # bytes; an element with thousands of attributes is several times longer
_ATTRIBUTE = rb"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+|))?+"""
_MAX_ROOTS = 100  # html and body tags
_ROOTS = (b"html", b"body")
_ROOT_TAG = re.compile(rb"<(?:html|body)[\s/]", re.IGNORECASE)
_LOWER = 0x20  # the bit that distinguishes lower-case letters
_TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_COLOURS = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]")
_CONTROL = bytes(set(range(32)) - set(b"\t\n\f\r\x1b"))
_CHARSET = re.compile(
    rb"<(?:meta[^>]{0,200}?charset|\?xml[^>]{0,100}?encoding)\s*+=\s*+[\"']?\s*+([a-zA-Z0-9_:.-]{2,40})",
    re.IGNORECASE,
)
_LANGUAGE = re.compile(rb"<html[^>]{0,400}?\blang\s*=\s*[\"']?\s*([a-zA-Z]{2})\b", re.IGNORECASE)
_NOT_NESTING = frozenset(
    b"area base br col embed hr img input link meta param source track wbr "
    b"p li dt dd tr td th tbody thead tfoot option optgroup colgroup html head body".split()
)
_FORMATTING = frozenset(b"a b big code em font i nobr s small strike strong tt u".split())
_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def checked_bytes(
    html: str | bytes, limits: InputLimits = DEFAULT_LIMITS, language: str | None = None
) -> bytes:
    """Check a document and return it as UTF-8.

    Bytes are decoded according to their byte order mark, else the encoding named by a ``<meta>`` element if they agree
    with it, else the detected encoding (:func:`trivium.parser.encodings.decoded`, using ``language`` if given). Invalid
    sequences become U+FFFD.

    Raises ParseError when the document is empty, too large, binary, without any tags, nested too deeply, has too many
    tags or attributes, or has an encoding that cannot be detected.
    """
    if len(html) > limits.document_bytes:
        raise ParseError(
            f"the document has {len(html):,} bytes, more than the limit of {limits.document_bytes:,}: split it into"
            " pages"
        )
    data = html.encode("utf-8", "replace") if isinstance(html, str) else _as_utf8(html, language)
    if not data or data.isspace():
        raise ParseError("the document is empty: expected an HTML page")
    data = _COLOURS.sub(b"", data) if b"\x1b" in data else data
    start = data[:_MAX_CHECKED]
    if len(start) - len(start.translate(None, _CONTROL)) > len(start) // 100:
        raise ParseError("the document is binary data: expected an HTML page (is it compressed?)")
    if _TAG.search(data) is None:
        raise ParseError("the document has no HTML tags: expected an HTML page; ingest plain text as records")
    _check_cost(data, limits)
    return data


def _as_utf8(data: bytes, language: str | None) -> bytes:
    stated = _LANGUAGE.search(data, 0, _MAX_CHECKED)
    language = language or (stated and stated[1].decode("ascii").lower())
    declared = _CHARSET.search(data, 0, _MAX_CHECKED)
    label = None if declared is None or data.startswith(_BOMS) else declared[1].decode("ascii")
    return decoded_as(data, label, language).encode("utf-8", "replace")


def _check_cost(data: bytes, limits: InputLimits) -> None:
    # With numpy this takes a fraction of the time for searching the bytes.
    content = np.frombuffer(data + b"    ", np.uint8)
    opening = np.flatnonzero(content == ord("<"))
    after = content[opening + 1]
    tags, closing = len(opening), int(np.count_nonzero(after == ord("/")))
    if tags > limits.tags:
        raise ParseError(
            f"the document has about {tags:,} tags, more than the limit of {limits.tags:,}: split it into pages"
        )
    roots = sum(
        int(np.count_nonzero(content[opening[(after | _LOWER) == name[0]] + 3] | _LOWER == name[2]))
        for name in _ROOTS
    )
    if roots > _MAX_ROOTS:
        _check_roots(data)
    _check_attributes(data, opening, limits)
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


def _check_roots(data: bytes) -> None:
    """Limit html and body tags: additional ones add their attributes to the first."""
    count = len(_ROOT_TAG.findall(data))
    if count > _MAX_ROOTS:
        raise ParseError(
            f"the document has {count:,} html and body tags, more than {_MAX_ROOTS}: expected one of each; is it several"
            " pages in one?"
        )


def _check_attributes(data: bytes, opening: NDArray[np.intp], limits: InputLimits) -> None:
    """Reject elements with very many attributes. ``opening`` contains the positions of ``<``.

    Only tags around long stretches without ``>``, or with a quoted one, are parsed, because parsing all of them would
    take a sixth of the time of the HTML parser. Tags in quotes can hide such an element; its cost is limited by the
    limits of the parsing process.
    """
    pattern = _tag_with_at_most(limits.attributes)
    at, seen = 0, -1
    while at < len(data) - _STRETCH:
        end = data.find(b">", at, at + _STRETCH)
        before = at if end < 0 else end
        place = int(np.searchsorted(opening, before)) - 1
        start = int(opening[place]) if place >= 0 else seen
        if start != seen and data[start + 1 : start + 2].isalpha():
            far = end < 0 or before - start > _STRETCH
            if far or data.count(b'"', start, before) % 2:
                seen = start
                tag = pattern.match(data, start)
                at = _end_of_script(data, start, limits) if tag is None else max(at, tag.end())
        at += _STRETCH


def _end_of_script(data: bytes, at: int, limits: InputLimits) -> int:
    """Return the end of the script that contains something resembling an element with too many attributes. Raises
    ParseError when there is no script.
    """
    script = data.rfind(b"<script", 0, at)
    end = data.find(b"</script", max(0, script))
    if script < 0 or 0 <= end < at:
        raise ParseError(
            f"the element at byte {at:,} has more than {limits.attributes:,} attributes, the limit: expected a page with"
            " fewer; it is damaged or hostile"
        )
    return len(data) if end < 0 else end


@lru_cache(maxsize=4)
def _tag_with_at_most(attributes: int) -> re.Pattern[bytes]:
    return re.compile(rb"<[a-zA-Z][^\s/>]*+(?:%b){0,%d}+[\s/]*+(?:>|\Z)" % (_ATTRIBUTE, attributes))
