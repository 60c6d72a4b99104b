"""Document formats besides HTML and JSON: how a file is recognised, and which module reads it.

A module is imported when the first file of its format is read, because its libraries may be large or missing.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import cast

from trivium.parser.documents.base import DocumentReader
from trivium.settings import load_settings


@dataclass(frozen=True, slots=True)
class DocumentFormat:
    """A format.

    - ``suffixes``: suffixes of its files.
    - ``module``: module with a function ``read``, a :class:`~trivium.parser.documents.base.DocumentReader`.
    - ``signatures``: (offset, bytes) in its files; one is sufficient.
    - ``by_name``: it has no signature, so the file name decides.
    - ``inside``: (member, bytes in it) of zip archives in this format; one is sufficient.
    - ``within``: in files with its suffix, a signature may be anywhere in this many first bytes.
    """

    name: str
    suffixes: tuple[str, ...]
    module: str
    signatures: tuple[tuple[int, bytes], ...] = ()
    by_name: bool = False
    inside: tuple[tuple[str, bytes], ...] = ()
    within: int = 0


def _office(*types: str) -> tuple[tuple[str, bytes], ...]:
    """Office formats are distinguished by the type of the main part."""
    return tuple(("[Content_Types].xml", f"{name}.main+xml".encode()) for name in types)


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

DOCUMENT_FORMATS: dict[str, DocumentFormat] = {
    format.name: format
    for format in (
        DocumentFormat("image", PICTURE_SUFFIXES, "image", PICTURE_SIGNATURES, by_name=True),
        DocumentFormat("markdown", (".md", ".markdown", ".mdx"), "markdown", by_name=True),
        DocumentFormat("pdf", (".pdf",), "pdf", ((0, b"%PDF-"),), within=1_024),
        DocumentFormat("text", (".txt", ".text", ".log", ".rst"), "text", by_name=True),
        DocumentFormat(
            "docx",
            (".docx", ".docm", ".dotx"),
            "word",
            inside=_office(
                "wordprocessingml.document", "wordprocessingml.template", "ms-word.document.macroEnabled"
            ),
        ),
        DocumentFormat(
            "pptx",
            (".pptx", ".pptm", ".ppsx", ".potx"),
            "powerpoint",
            inside=_office(
                "presentationml.presentation",
                "presentationml.slideshow",
                "presentationml.template",
                "ms-powerpoint.presentation.macroEnabled",
                "ms-powerpoint.slideshow.macroEnabled",
            ),
        ),
        DocumentFormat(
            "xlsx",
            (".xlsx", ".xlsm", ".xltx"),
            "excel",
            inside=_office("spreadsheetml.sheet", "spreadsheetml.template", "ms-excel.sheet.macroEnabled"),
        ),
        DocumentFormat(
            "epub",
            (".epub",),
            "epub",
            inside=(("mimetype", b"application/epub+zip"), ("META-INF/container.xml", b"oebps-package+xml")),
        ),
        DocumentFormat("csv", (".csv", ".tsv", ".tab"), "delimited", by_name=True),
    )
}
"""Formats by name."""


def format_of_name(name: str) -> DocumentFormat | None:
    """Return the format suggested by the name of a file.

    >>> format_of_name("docs/Setup.MD").name
    'markdown'
    """
    suffix = PurePath(name).suffix.lower()
    return next((format for format in DOCUMENT_FORMATS.values() if suffix in format.suffixes), None)


def format_of_content(head: bytes, name: str) -> DocumentFormat | None:
    """Return the format whose signature is in the first bytes of a file. If several match (as for zip archives), the
    file name decides.
    """
    named = format_of_name(name)
    found = [
        format
        for format in DOCUMENT_FORMATS.values()
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
            for format in DOCUMENT_FORMATS.values()
            if any(content in (member(name) or b"") for name, content in format.inside)
        ),
        None,
    )


def reader_of(name: str) -> DocumentReader:
    """Import and return the reader of a format. For PDF it depends on the settings, which are not read for other
    formats. Raises KeyError for an unknown format.
    """
    module = DOCUMENT_FORMATS[name].module
    if name == "pdf" and load_settings().pdf_reader == "docling":
        module = "docling"
    return cast(DocumentReader, importlib.import_module(f"trivium.parser.documents.{module}").read)
