"""Recognises the format of a file by its content, never by its name."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Literal

from trivium.errors import InputError
from trivium.limits import DEFAULT_LIMITS, InputLimits
from trivium.parser.sources.base import some_keys
from trivium.parser.sources.files import (
    parse_json,
    read_array,
    read_document,
    read_head,
    read_lines,
    too_long,
)

Recognised = Literal["html", "nq", "records"]

_HEAD = 4096
# The first lines may be damaged although the rest of the file is good.
_LINES_TRIED = 20

_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_BINARY = {
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"\xfd7zXZ": "an xz archive; unpack it first",
    b"BZh": "a bzip2 archive; unpack it first",
    b"(\xb5/\xfd": "a zstd archive; unpack it first",
    b"%PDF": "a PDF; only HTML and JSON are read",
    b"PAR1": "a Parquet file; read it as hf:parquet:PATH",
}
_TAG = re.compile(r"<(?:!doctype\s+)?([a-z][\w:-]*)", re.IGNORECASE)
_HTML = re.compile(r"<!doctype\s+html\b|<html\b", re.IGNORECASE)
_TAGS = """
html head body title meta link base style script main article section header div span p h1 h2 h3 h4 h5 h6
table ul ol dl center
"""
_HTML_TAGS = frozenset(_TAGS.split())


def recognise(path: Path, limits: InputLimits = DEFAULT_LIMITS) -> Recognised:
    """The format of a file. Raises InputError when it is not a collection of documents; the message states what it
    is."""
    head = read_head(path, _HEAD)
    if not head.strip():
        raise InputError("the file is empty")
    for signature, description in _BINARY.items():
        if head.startswith(signature):
            raise InputError(f"expected HTML or JSON, got {description}")
    if head[257:262] == b"ustar":
        raise InputError("expected HTML or JSON, got a tar archive; unpack it first")
    text = _decoded(head)
    start = _beginning(text)
    if start[:1] == "[":
        return _classify_array(path, limits)
    if start[:1] == "{":
        return _recognise_lines(path, limits)
    tag = _TAG.match(start)
    if _HTML.search(text) or (tag and tag.group(1).lower() in _HTML_TAGS):
        return "html"
    if tag and tag.group(1).lower() == "mediawiki":
        raise InputError("expected rendered HTML, got a MediaWiki XML dump of wikitext")
    if "\0" in text:
        raise InputError("expected HTML or JSON, got a binary file")
    raise InputError(f"expected HTML or JSON, got text that begins {text.strip()[:40]!r}")


def classify(row: Mapping[str, object]) -> Recognised:
    """The format of a file's rows, by the keys of one of them. Raises InputError naming the keys."""
    document = row.get("document")
    if "document_html" in row or (isinstance(document, Mapping) and "html" in document):
        return "nq"
    if "title" in row and "text" in row:
        return "records"
    if "document_text" in row:
        raise InputError(
            "these are Natural Questions rows without HTML (the simplified files); use the original ones"
        )
    if "question" in row or "question_text" in row:
        raise InputError("these are questions, not documents; pass the file to  trivium evaluate")
    raise InputError(f"expected the keys title and text, or those of Natural Questions, got {some_keys(row)}")


def _recognise_lines(path: Path, limits: InputLimits) -> Recognised:
    reason = ""
    for line in islice(read_lines(path, limits), _LINES_TRIED):
        if line.data is None:
            reason = reason or f"line {line.number}: {too_long('line', line.length, limits)}"
            continue
        try:
            value = parse_json(line.data, limits)
        except InputError as error:
            reason = reason or f"line {line.number}: {error}"
            continue
        if isinstance(value, Mapping):
            return classify(value)
        reason = reason or f"line {line.number} is a JSON {type(value).__name__}, not an object"
    # No line is an object by itself: one object may be spread over the whole file.
    try:
        parse_json(read_document(path, limits), limits)
    except InputError as error:
        raise InputError(f"expected JSON Lines or a JSON array of objects: {reason or error}") from error
    raise InputError(
        "expected JSON Lines (one object per line) or a JSON array, got one value over several lines"
    )


def _classify_array(path: Path, limits: InputLimits) -> Recognised:
    try:
        first = _first_object(read_array(path, limits))
    except InputError as error:
        raise InputError(f"expected JSON Lines or a JSON array of objects: {error}") from error
    if first is None:
        raise InputError("expected JSON objects with title and text, got none")
    kind = classify(first)
    if kind == "nq":
        raise InputError("Natural Questions are read as JSON Lines (one row per line), got a JSON array")
    return kind


def _first_object(values: Iterable[object]) -> Mapping[str, object] | None:
    return next((value for value in values if isinstance(value, Mapping)), None)


def _decoded(head: bytes) -> str:
    """The head as text, as Latin-1 without a byte order mark, since only ASCII matters here."""
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if head.startswith(mark):
            return head[len(mark) :].decode(encoding, "replace")
    return head.decode("latin-1")


def _beginning(text: str) -> str:
    """The text from its first element, after white space, comments and processing instructions."""
    text = text.lstrip()
    for opening, closing in (("<?", "?>"), ("<!--", "-->")) * 4:
        if text.startswith(opening):
            text = text.partition(closing)[2].lstrip()
    return text
