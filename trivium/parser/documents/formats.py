"""What is known of each document format: how its files are recognised, what reads them, and what follows from the format.

Installed packages add formats by entry points of the group ``trivium.formats`` (:mod:`trivium.plugins`): functions
without arguments that return a :class:`DocumentFormat`, which gets the name of its entry point. Declared formats are
tried before built-in ones, so they can take over files. JSON, archives of Wikimedia and ZIM files are not documents but
collections of them, and are recognised in :mod:`trivium.parser.sources`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import PurePath
from pkgutil import resolve_name
from typing import TYPE_CHECKING, cast

from trivium.errors import ConfigurationError
from trivium.plugins import create_plugin, list_plugins

if TYPE_CHECKING:
    from trivium.parser.documents.document_file import DocumentReader

GROUP = "trivium.formats"


@dataclass(frozen=True, slots=True)
class DocumentFormat:
    """A format.

    - ``suffixes``: suffixes of its files, in lower case, the usual one first.
    - ``reader``: ``module:function`` that reads a file, a :class:`.DocumentReader`. It is
      imported when the first file is read, because its libraries may be large or missing.
    - ``signatures``: (offset, bytes) in its files; one is sufficient.
    - ``by_name``: it has no signature, so the file name decides.
    - ``inside``: (member, bytes in it) of zip archives in this format; one is sufficient.
    - ``within``: in files with its suffix, a signature may be anywhere in this many first bytes.
    - ``risky``: files are packed or read by C libraries, so a process of its own reads them.
    - ``joined``: consecutive short blocks of a section become one passage, as lines of working documents should; rows
      of sheets are kept as they are.
    - ``anchored``: links to a file can name its sections (``setup.md#linux``).
    - ``media_types``: the types by which web servers name its files, if it has no signature. The encoding that a server
      names with them applies.
    - ``by_programs``: programs fill in its metadata, also with placeholders such as ``Unknown``. (A book in another
      format by "Anonymous" is by Anonymous.)
    """

    name: str
    suffixes: tuple[str, ...]
    reader: str
    signatures: tuple[tuple[int, bytes], ...] = ()
    by_name: bool = False
    inside: tuple[tuple[str, bytes], ...] = ()
    within: int = 0
    risky: bool = True
    joined: bool = True
    anchored: bool = False
    media_types: tuple[str, ...] = ()
    by_programs: bool = False


def _office(main: str, *types: str) -> tuple[tuple[str, bytes], ...]:
    """Office formats are distinguished by the type of the main part; without a list of types, by its usual name."""
    return (*(("[Content_Types].xml", f"{name}.main+xml".encode()) for name in types), (main, b"<"))


def _reader(module: str) -> str:
    return f"trivium.parser.documents.{module}:read"


PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff")
PICTURE_SIGNATURES = (
    (0, b"\x89PNG\r\n\x1a\n"),
    (0, b"\xff\xd8\xff"),
    (0, b"GIF87a"),
    (0, b"GIF89a"),
    (8, b"WEBPVP8"),
    (0, b"II*\0"),
    (0, b"MM\0*"),
)
"""Without the signature of bitmaps (``BM``), with which a text may begin."""

BUILT_IN: Mapping[str, DocumentFormat] = {
    format.name: format
    for format in (
        DocumentFormat(
            "image", PICTURE_SUFFIXES, _reader("image"), PICTURE_SIGNATURES, by_name=True, joined=False
        ),
        DocumentFormat(
            "markdown",
            (".md", ".markdown", ".mdx"),
            _reader("markdown"),
            by_name=True,
            risky=False,
            anchored=True,
            media_types=("text/markdown", "text/x-markdown"),
        ),
        DocumentFormat("pdf", (".pdf",), _reader("pdf"), ((0, b"%PDF-"),), within=1_024, by_programs=True),
        DocumentFormat(
            "text",
            (".txt", ".text", ".log", ".rst"),
            _reader("text"),
            by_name=True,
            risky=False,
            media_types=("text/plain",),
        ),
        DocumentFormat(
            "docx",
            (".docx", ".docm", ".dotx"),
            _reader("word"),
            inside=_office(
                "word/document.xml",
                "wordprocessingml.document",
                "wordprocessingml.template",
                "ms-word.document.macroEnabled",
            ),
            by_programs=True,
        ),
        DocumentFormat(
            "pptx",
            (".pptx", ".pptm", ".ppsx", ".potx"),
            _reader("powerpoint"),
            inside=_office(
                "ppt/presentation.xml",
                "presentationml.presentation",
                "presentationml.slideshow",
                "presentationml.template",
                "ms-powerpoint.presentation.macroEnabled",
                "ms-powerpoint.slideshow.macroEnabled",
            ),
            by_programs=True,
        ),
        DocumentFormat(
            "xlsx",
            (".xlsx", ".xlsm", ".xltx"),
            _reader("excel"),
            inside=_office(
                "xl/workbook.xml",
                "spreadsheetml.sheet",
                "spreadsheetml.template",
                "ms-excel.sheet.macroEnabled",
            ),
            joined=False,
            by_programs=True,
        ),
        DocumentFormat(
            "epub",
            (".epub",),
            _reader("epub"),
            inside=(("mimetype", b"application/epub+zip"), ("META-INF/container.xml", b"oebps-package+xml")),
        ),
        DocumentFormat(
            "csv",
            (".csv", ".tsv", ".tab"),
            _reader("delimited"),
            by_name=True,
            risky=False,
            joined=False,
            media_types=("text/csv",),
        ),
        DocumentFormat("mail", (".eml", ".mht", ".mhtml", ".mbox"), _reader("mail"), by_name=True),
        DocumentFormat(
            "html",
            (".html", ".htm", ".xhtml"),
            "trivium.parser.html:read",
            risky=False,
            anchored=True,
            media_types=("text/html", "application/xhtml+xml"),
        ),
    )
}
"""The formats of this package, by name."""


@cache
def document_formats() -> Mapping[str, DocumentFormat]:
    """Return the formats by name, declared ones first. Built-in names win. Raises ConfigurationError for a declared one
    that cannot be loaded.
    """
    return {name: _declared(name) for name in list_plugins(GROUP) if name not in BUILT_IN} | dict(BUILT_IN)


def _declared(name: str) -> DocumentFormat:
    format = create_plugin(GROUP, name)
    if not isinstance(format, DocumentFormat):
        raise ConfigurationError(
            f"the entry point {name!r} of {GROUP}: expected a function that returns a DocumentFormat, got"
            f" {type(format).__name__}"
        )
    return replace(format, name=name)


def format_of_name(name: str) -> DocumentFormat | None:
    """Return the format suggested by the name of a file.

    >>> format_of_name("docs/Setup.MD").name
    'markdown'
    """
    suffix = PurePath(name).suffix.lower()
    return next((format for format in document_formats().values() if suffix in format.suffixes), None)


def format_of_content(head: bytes, name: str) -> DocumentFormat | None:
    """Return the format whose signature is in the first bytes of a file. If several match (as for zip archives), the
    file name decides.
    """
    named = format_of_name(name)
    found = [
        format
        for format in document_formats().values()
        if any(
            head.startswith(signature, offset)
            or (format is named and signature in head[offset : offset + format.within])
            for offset, signature in format.signatures
        )
    ]
    return named if named in found else next(iter(found), None)


def format_of_archive(member: Callable[[str], bytes | None]) -> DocumentFormat | None:
    """Return the format of a zip archive, based on its content. ``member`` returns the content of a member, None if it
    does not exist.
    """
    return next(
        (
            format
            for format in document_formats().values()
            if any(content in (member(name) or b"") for name, content in format.inside)
        ),
        None,
    )


def reader_of(name: str) -> DocumentReader:
    """Import and return the reader of a format. Raises KeyError for an unknown format, and ConfigurationError when there
    is no such function.
    """
    reader = document_formats()[name].reader
    try:
        return cast("DocumentReader", resolve_name(reader))
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigurationError(
            f"the reader {reader!r} of the format {name} cannot be loaded: {error}"
        ) from error
