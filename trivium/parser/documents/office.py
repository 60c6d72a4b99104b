"""What Word, PowerPoint and Excel files have in common: the package they are, its properties, and their faults."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from trivium.errors import MissingExtraError, ParseError, TriviumError, said
from trivium.limits import InputLimits
from trivium.parser.documents.archive import Archive
from trivium.parser.ocr import parser_time
from trivium.text import normalise_title
from trivium.types import MetadataValue

EXTRA = "documents"
"""What installs the libraries: ``pip install 'trivium[documents]'``."""

_TYPES = "[Content_Types].xml"
_RELATIONSHIPS = "_rels/.rels"
_STRICT = b"http://purl.oclc.org/ooxml/"
_MAX_TITLE = 200
_MAX_PROPERTY = 1_000
# Types of main parts that the libraries refuse, although what is in them is the same: templates, shows, macros.
_OTHER_TYPES = re.compile(
    rb"application/(?:vnd\.openxmlformats-officedocument\.(wordprocessing|presentation|spreadsheet)ml\.(?:template|slideshow)"
    rb"|vnd\.ms-(word|powerpoint|excel)\.[a-zA-Z]+\.macroEnabled(?:Template)?)\.main\+xml"
)
_PLAIN_TYPES = {
    b"wordprocessing": b"wordprocessingml.document",
    b"word": b"wordprocessingml.document",
    b"presentation": b"presentationml.presentation",
    b"powerpoint": b"presentationml.presentation",
    b"spreadsheet": b"spreadsheetml.sheet",
    b"excel": b"spreadsheetml.sheet",
}
# What programs write where nobody gave a title.
_NO_TITLE = re.compile(
    r"(?:untitled|document|presentation|book|workbook|title|word document|powerpoint presentation|slide|unknown|none"
    r"|microsoft (?:word|powerpoint|excel) - .*)\W*\d*|.*\.(?:docx?|dotx?|pptx?|potx?|xlsx?|rtf|odt|indd|qxd|tmp)",
    re.IGNORECASE,
)


class Deadline:
    """Ends the reading of a document that takes too long, in processes that nothing else would end."""

    def __init__(self, limits: InputLimits) -> None:
        self._seconds = limits.seconds
        self._end = parser_time() + limits.seconds

    def check(self) -> None:
        """Raises ParseError when the time is over."""
        if parser_time() > self._end:
            raise ParseError(f"to parse it takes more than {self._seconds:g} seconds, the limit: split it")


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Whatever a library raises inside over a broken document becomes ParseError; ``what`` was expected."""
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(f"reading {what}", EXTRA) from error
    except (TriviumError, MemoryError):
        raise
    except Exception as error:  # libraries trust that documents are as their standard says
        raise ParseError(
            f"expected {what}, got a damaged file ({type(error).__name__}: {said(error)})"
        ) from error


def check_strict(archive: Archive) -> None:
    """Raises ParseError for the variant of Office's formats that the libraries do not read."""
    if _STRICT in (archive.get(_RELATIONSHIPS) or b""):
        raise ParseError(
            "the file is saved as Strict Open XML: save it in the usual form (.docx, .pptx, .xlsx)"
        )


def plain_type(name: str, data: bytes) -> bytes:
    """The content of a part; the list of types says of a template or a document with macros that it is a document."""
    if name != _TYPES:
        return data
    return _OTHER_TYPES.sub(
        lambda match: (
            b"application/vnd.openxmlformats-officedocument."
            + _PLAIN_TYPES[match[1] or match[2]]
            + b".main+xml"
        ),
        data,
    )


def sensible_title(title: object) -> str | None:
    """A title that somebody gave, not one that a program has put there; None where there is none.

    >>> sensible_title("Annual_Report"), sensible_title("PowerPoint Presentation"), sensible_title("draft2.docx")
    ('Annual Report', None, None)
    """
    clean = normalise_title(title) if isinstance(title, str) else ""
    if not clean or len(clean) > _MAX_TITLE or not any(map(str.isalpha, clean)):
        return None
    return None if _NO_TITLE.fullmatch(clean) else clean


def metadata_of(properties: Any) -> dict[str, MetadataValue]:
    """What the core properties of a document say, as ``author``, ``created``, ``keywords``, ``subject``, ``category`` and
    ``language``; ``properties`` are those of python-docx, python-pptx or openpyxl."""
    found: dict[str, MetadataValue] = {}
    for key, names in (
        ("author", ("author", "creator")),
        ("keywords", ("keywords",)),
        ("subject", ("subject",)),
        ("category", ("category",)),
        ("language", ("language",)),
    ):
        value = next((v for name in names if isinstance(v := _property(properties, name), str)), "")
        clean = " ".join(value.split())[:_MAX_PROPERTY]
        if clean:
            found[key] = clean
    created = iso(_property(properties, "created"))
    if created is not None:
        found["created"] = created
    return found


def modified_of(properties: Any) -> str | None:
    """When a document says that it was last changed."""
    return iso(_property(properties, "modified"))


def iso(value: object) -> str | None:
    """A point in time as ISO 8601 in UTC, which it is in where it does not say; None for what is none.

    >>> iso(datetime(2024, 5, 1, 12, 30))
    '2024-05-01T12:30:00Z'
    """
    if not isinstance(value, datetime):
        return None
    try:
        there = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except (OverflowError, ValueError):  # near the ends of the calendar
        return None
    return there.replace(microsecond=0).isoformat().replace("+00:00", "Z")


def _property(properties: Any, name: str) -> object:
    try:
        return getattr(properties, name, None)
    except Exception:  # a date that is none, two of what there is one of
        return None
