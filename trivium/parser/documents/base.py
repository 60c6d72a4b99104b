"""What a reader of documents gets, and what it has to be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Protocol

from trivium.limits import InputLimits
from trivium.parser.document import Document
from trivium.text import normalise_title
from trivium.types import MetadataValue, Page


def nothing_beside(_address: str) -> bytes | None:
    """For files that came alone."""
    return None


@dataclass(frozen=True, slots=True)
class DocumentFile:
    """A file to read.

    ``source`` is what problems and the store call it. ``path`` is where it lies among the files it came with, with ``/``
    between folders (``docs/setup.md``). ``modified`` is when it was last changed (ISO 8601, UTC), None when unknown.
    ``beside`` gives the content of another file by its address relative to this one, as for a picture that it shows; None
    where there is none, or where it would lie outside of the folder that is read. ``language`` is the code of the
    language that it is in, None when unknown: it helps to tell the encoding of text.
    """

    data: bytes
    source: str
    path: str
    modified: str | None = None
    beside: Callable[[str], bytes | None] = nothing_beside
    language: str | None = None

    @property
    def title(self) -> str:
        """What the file is called, for documents that do not say it themselves.

        >>> DocumentFile(b"", "x", "docs/annual_report-2023.pdf").title
        'annual report-2023'
        """
        return PurePosixPath(self.path).stem.replace("_", " ").strip() or self.path


def page_of(
    document: Document,
    file: DocumentFile,
    format: str,
    *,
    title: str | None = None,
    modified: str | None = None,
    aliases: tuple[str, ...] = (),
    metadata: Mapping[str, MetadataValue] | None = None,
) -> Page:
    """What was read of a file as a page of a format. The file says what the document does not: without a ``title`` the
    page is called after it, without ``modified`` it was changed when the file was."""
    return Page(
        title=title or normalise_title(file.title),
        text=document.text,
        chunks=tuple(document.lead),
        sections=document.sections,
        aliases=aliases,
        source=file.source,
        format=format,
        path=file.path,
        modified=modified or file.modified,
        metadata=_said(metadata or {}) if format in _BY_PROGRAMS else metadata or {},
    )


_BY_PROGRAMS = frozenset(("pdf", "docx", "pptx", "xlsx"))
"""Formats whose metadata programs fill in; a book by Anonymous is by Anonymous."""
_PLACEHOLDERS = frozenset(
    (
        "anonymous",
        "unspecified",
        "unknown",
        "untitled",
        "none",
        "null",
        "n/a",
        "python-docx",
        "python-pptx",
        "openpyxl",
    )
)


def _said(metadata: Mapping[str, MetadataValue]) -> dict[str, MetadataValue]:
    """The metadata without what programs write where nobody has said anything."""
    return {
        key: value
        for key, value in metadata.items()
        if not (isinstance(value, str) and value.strip(" ().").lower() in _PLACEHOLDERS)
    }


class DocumentReader(Protocol):
    """Reads files of one format."""

    def __call__(self, file: DocumentFile, limits: InputLimits) -> Page:
        """The file as a page, with :attr:`~trivium.types.Page.format`, ``path``, ``source`` and ``modified`` set.

        Raises ParseError where the file is broken, encrypted, too large or without text, and MissingExtraError where a
        package is missing. The messages say what was expected and what came, and do not name the file.
        """
        ...
