"""Detects the format of a file by its content, and by its name only if the content is not conclusive, as for plain
text.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path, PurePath

from trivium.errors import InputError
from trivium.parser.documents.archive import OLD_SUFFIXES, OLE_SIGNATURE, ZIP_SIGNATURE, Archive, describe_ole
from trivium.parser.documents.formats import (
    document_formats,
    format_of_archive,
    format_of_content,
    format_of_name,
)
from trivium.parser.documents.mail import is_mail
from trivium.parser.sources.read_files import (
    parse_json,
    read_array,
    read_document,
    read_head,
    read_lines,
    too_long,
    unpacked_name,
)
from trivium.parser.sources.source_items import ZIM_SIGNATURE, ItemFormat, some_keys
from trivium.parser.sources.title_text_records import DOCUMENT_ID
from trivium.settings.limits import DEFAULT_LIMITS, InputLimits

_HEAD = 4096
# The first lines may be damaged although the rest of the file is good.
_LINES_TRIED = 20

_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_BINARY = {
    b"(\xb5/\xfd": "a zstd archive; unpack it first",
    b"PAR1": "a Parquet file; read it as hf:parquet:PATH",
}
_OF_PROGRAMS = re.compile(r".*file|build|workspace|codeowners|gradlew|configure", re.IGNORECASE)
"""Names without a suffix of files that programs read."""
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_TAG = re.compile(r"<(?:!doctype\s+)?([a-z][\w:-]*)", re.IGNORECASE)
_HTML = re.compile(r"<!doctype\s+html\b|<html\b", re.IGNORECASE)
_TAGS = """
html head body title meta link base style script main article section header div span p h1 h2 h3 h4 h5 h6
table ul ol dl center
"""
_HTML_TAGS = frozenset(_TAGS.split())
QUERIES, QRELS = "queries", "qrels"
"""The file of queries and the folder of judgements of the benchmark BEIR."""
_OF_WIKITEXT = frozenset({".wiki", ".wikitext", ".mediawiki"})
_JSON_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson"})


class OtherContentError(InputError):
    """A valid file that contains no documents, such as JSON with other content."""


class WikitextError(InputError):
    """A file of wikitext, which people take for pages."""

    def __init__(self, got: str) -> None:
        super().__init__(
            f"expected rendered HTML, got {got}, whose templates only a wiki can expand: take an HTML dump of the wiki"
            " (NAME-ENTERPRISE-HTML.json.tar.gz of Wikimedia Enterprise) or its ZIM file instead"
        )


class _UnknownContentError(InputError):
    """The content of a file is of no known format. ``got`` says in a few words what it is."""

    def __init__(self, message: str, got: str) -> None:
        super().__init__(message)
        self.got = got


def is_of_benchmark(path: Path) -> bool:
    """Whether a file has the queries or judgements of a folder of the benchmark BEIR, which are no documents."""
    within = path.parent.name == QRELS
    folder = path.parent.parent if within else path.parent
    return (within or path.name.partition(".")[0] in (QUERIES, QRELS)) and all(
        any((folder / f"{name}.jsonl{packed}").is_file() for packed in ("", ".gz"))
        for name in ("corpus", QUERIES)
    )


def known_formats() -> str:
    """Return the supported formats, for messages."""
    return ", ".join(
        [*(format.suffixes[0] for format in document_formats().values() if format.suffixes), "JSON"]
    )


def is_left_out(name: str, error: InputError) -> bool:
    """Whether a file that was not named explicitly is in an unsupported format. Otherwise it is a broken file of a
    supported format, which should be reported. ``error`` is that of :func:`recognise`.

    >>> is_left_out("main.py", InputError("...")), is_left_out("Mars.html.gz", InputError("the file is empty"))
    (True, False)
    """
    if isinstance(error, WikitextError):
        return False
    path = PurePath(unpacked_name(name).lower())
    known = path.suffix in (_JSON_SUFFIXES | OLD_SUFFIXES) or format_of_name(path.name) is not None
    return not known or isinstance(error, OtherContentError)


def recognise(path: Path, limits: InputLimits = DEFAULT_LIMITS, name: str | None = None) -> ItemFormat:
    """Detect the format of a file. ``name`` is its name if that is not the path, for example of an upload. Raises
    InputError that describes the file when its format is not supported.
    """
    name = unpacked_name(path.name if name is None else name)
    if is_of_benchmark(path):
        raise OtherContentError("these are questions or judgements; pass their folder to  trivium evaluate")
    head = read_head(path, _HEAD)
    if not head.strip():
        raise InputError("the file is empty")
    found = format_of_content(head, name)
    if found is not None:
        return found.name
    if head.startswith(ZIP_SIGNATURE):
        return _recognise_archive(path, limits)
    if head.startswith(OLE_SIGNATURE):
        raise InputError(f"expected a document, got {describe_ole(read_document(path, limits))}")
    if head.startswith(ZIM_SIGNATURE):
        return "zim"
    if PurePath(name.lower()).suffix in _OF_WIKITEXT:
        raise WikitextError("wikitext")
    named = format_of_name(name)
    if named is not None and named.by_name:
        return _recognise_text(path, head, limits, named.name)
    if _may_be_text(name, head):
        return _recognise_text(path, head, limits, "text")
    try:
        return _recognise_web(path, head, limits)
    except InputError as error:
        if named is None or not isinstance(error, _UnknownContentError):
            raise
        suffix = PurePath(name.lower()).suffix
        raise InputError(
            f"expected a {suffix.removeprefix('.').upper()} file, as its name ends in {suffix}, got {error.got}"
        ) from error


def _may_be_text(name: str, head: bytes) -> bool:
    """Whether a file without a suffix is text written for people, such as ``README``, rather than a program.

    >>> [_may_be_text(name, b"Read this first.") for name in ("docs/README", "notes", "Makefile", ".profile", "a.py", "")]
    [True, True, False, False, False, False]
    """
    plain = PurePath(name).name
    if not plain or "." in plain or _OF_PROGRAMS.fullmatch(plain) or head.startswith((b"#!", *_BINARY)):
        return False
    # Text of another alphabet may be cut within a character, so the encoding is not checked here.
    return _CONTROL.search(head) is None and _beginning(_decoded(head))[:1] not in ("[", "{", "<")


def _recognise_archive(path: Path, limits: InputLimits) -> ItemFormat:
    """Detect the format of a zip archive by its content, regardless of its name."""
    found = format_of_archive(Archive(read_document(path, limits), limits).get)
    if found is None:
        raise InputError("expected a document, got a zip archive; unpack it first")
    return found.name


def _recognise_text(path: Path, head: bytes, limits: InputLimits, named: ItemFormat) -> ItemFormat:
    """Detect the format of a text file. Web pages and record collections may have the suffix ``.txt``, and Markdown may
    begin like either.
    """
    if named != "text":
        return named
    try:
        return _recognise_web(path, head, limits)
    except WikitextError:
        raise
    except InputError:
        return named


def _recognise_web(path: Path, head: bytes, limits: InputLimits) -> ItemFormat:
    """Detect HTML or JSON."""
    for signature, description in _BINARY.items():
        if head.startswith(signature):
            raise InputError(f"expected a document, got {description}")
    if head[257:262] == b"ustar":
        from trivium.parser.sources.wikimedia_dumps import is_dump

        if is_dump(path, limits):
            return "wikimedia"
        raise InputError("expected a document, got a tar archive; unpack it first")
    text = _decoded(head)
    start = _beginning(text)
    if start[:1] == "[":
        return _classify_array(path, limits)
    if start[:1] == "{":
        return _recognise_lines(path, limits)
    if is_mail(text):
        return "mail"
    tag = _TAG.match(start)
    if _HTML.search(text) or (tag and tag.group(1).lower() in _HTML_TAGS):
        return "html"
    if tag and tag.group(1).lower() == "mediawiki":
        raise WikitextError("a MediaWiki XML dump of wikitext")
    if "\0" in text:
        raise _UnknownContentError("expected a document, got a binary file", "another binary file")
    begins = repr(text.strip()[:40])
    raise _UnknownContentError(
        f"its name and content are of no format that is read ({known_formats()}); it begins {begins}",
        f"text that begins {begins}",
    )


def classify(row: Mapping[str, object]) -> ItemFormat:
    """Return the format of a file's rows, by the keys of one of them. Raises InputError that lists the keys."""
    document = row.get("document")
    simplified = "document_text" in row and "annotations" in row
    if "document_html" in row or simplified or (isinstance(document, Mapping) and "html" in document):
        return "nq"
    if "article_body" in row:
        return "wikimedia"
    if "text" in row and ("title" in row or DOCUMENT_ID in row):
        return "records"
    if "document_text" in row:
        raise OtherContentError(
            "these are simplified Natural Questions rows without annotations; use those with, or the original ones"
        )
    if "question" in row or "question_text" in row:
        raise OtherContentError("these are questions, not documents; pass the file to  trivium evaluate")
    raise OtherContentError(
        f"expected the keys title and text, or those of Natural Questions, got {some_keys(row)}"
    )


def _recognise_lines(path: Path, limits: InputLimits) -> ItemFormat:
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
    # No line is an object by itself: one object may span the whole file.
    try:
        parse_json(read_document(path, limits), limits)
    except InputError as error:
        raise InputError(f"expected JSON Lines or a JSON array of objects: {reason or error}") from error
    raise OtherContentError(
        "expected JSON Lines (one object per line) or a JSON array, got one value over several lines"
    )


def _classify_array(path: Path, limits: InputLimits) -> ItemFormat:
    try:
        first = _first_object(read_array(path, limits))
    except InputError as error:
        raise InputError(f"expected JSON Lines or a JSON array of objects: {error}") from error
    if first is None:
        raise OtherContentError("expected JSON objects with title and text, got none")
    kind = classify(first)
    if kind == "nq":
        raise InputError("Natural Questions are read as JSON Lines (one row per line), got a JSON array")
    return kind


def _first_object(values: Iterable[object]) -> Mapping[str, object] | None:
    return next((value for value in values if isinstance(value, Mapping)), None)


def _decoded(head: bytes) -> str:
    """Decode the head, as Latin-1 without a byte order mark, because only ASCII matters here."""
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if head.startswith(mark):
            return head[len(mark) :].decode(encoding, "replace")
    return head.decode("latin-1")


def _beginning(text: str) -> str:
    """Return the text from its first element, after white space, comments and processing instructions."""
    text = text.lstrip()
    for opening, closing in (("<?", "?>"), ("<!--", "-->")) * 4:
        if text.startswith(opening):
            text = text.partition(closing)[2].lstrip()
    return text
