"""The interface of document readers and their input."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Protocol

from trivium.parser.document import Document
from trivium.parser.documents.formats import document_formats
from trivium.settings.limits import InputLimits
from trivium.text.normalise import normalise_title
from trivium.types import MetadataValue, Page


def nothing_beside(_address: str) -> bytes | None:
    """Return None, for files without other files next to them."""
    return None


@dataclass(frozen=True, slots=True)
class DocumentFile:
    """A file to read.

    - ``source``: its name in error messages and in the store.
    - ``path``: its path among the files it came with, with ``/`` between folders (``docs/setup.md``).
    - ``modified``: time of the last change (ISO 8601, UTC), None if unknown.
    - ``beside``: returns the content of another file by its address relative to this one, for example of a picture;
      None if it does not exist or is outside the folder being read.
    - ``language``: code of its language, None if unknown. Helps to detect the encoding of text.
    """

    data: bytes
    source: str
    path: str
    modified: str | None = None
    beside: Callable[[str], bytes | None] = nothing_beside
    language: str | None = None

    @property
    def title(self) -> str:
        """The name of the file as a title, for documents that have none.

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
    """Create the page of a document. Without ``title`` and ``modified``, those of the file are used."""
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
        metadata=_without_placeholders(metadata or {})
        if document_formats()[format].by_programs
        else metadata or {},
        missing=document.missing,
    )


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


def _without_placeholders(metadata: Mapping[str, MetadataValue]) -> dict[str, MetadataValue]:
    """Remove values that programs write as placeholders."""
    return {
        key: value
        for key, value in metadata.items()
        if not (isinstance(value, str) and value.strip(" ().").lower() in _PLACEHOLDERS)
    }


class DocumentReader(Protocol):
    """Reads files of one format."""

    def __call__(self, file: DocumentFile, limits: InputLimits) -> Page | Sequence[Page]:
        """Convert a file to a page, or an archive of documents to several, with
        :attr:`~trivium.types.Page.format`, ``path``, ``source`` and ``modified``.

        Raises ParseError when the file is broken, encrypted, too large or without text, and MissingExtraError when a
        package is missing. Messages state what was expected and what was found, without naming the file.
        """
        ...
