"""Documents of LangChain loaders as a source of a store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from trivium.common.safe_files import replacing
from trivium.errors import InputError
from trivium.index.in_memory_documents import record_line

_OWN = ("title", "text")
"""Keys of a record that cannot be used for metadata."""


def to_records(
    documents: BaseLoader | Iterable[Document], *, title: Callable[[Document], str] | None = None
) -> Iterator[dict[str, Any]]:
    """Iterate over the documents of a loader (or given documents, such as those of a text splitter) as records for
    :meth:`trivium.Engine.add_records`: title, text and metadata.

    ``title`` maps a document to the title of its page. By default it is the metadata ``title``, else the name of the
    ``source`` (a path or an address) without folder and extension, or the entire source if another one has that name.
    Documents with the same title, such as the pages of a PDF, form one page, in their order.

    Raises InputError for a document without title and source.
    """
    given = documents.lazy_load() if isinstance(documents, BaseLoader) else documents
    named = _Titles() if title is None else title
    for document in given:
        if not isinstance(document, Document):
            raise InputError(f"expected LangChain's documents, got {type(document).__name__}")
        metadata = {key: value for key, value in document.metadata.items() if key not in _OWN}
        yield {"title": named(document), "text": document.page_content, **metadata}


def write_records(
    documents: BaseLoader | Iterable[Document],
    file: str | Path,
    *,
    title: Callable[[Document], str] | None = None,
) -> int:
    """Write the records of :func:`to_records` to a file, a source for ``trivium build``. Returns their number. The
    file is replaced only when all documents are written, so a loader that fails leaves the previous file.

    Raises InputError for a document without title and source, and when there are no documents.
    """
    count = 0
    with replacing(Path(file)) as out:
        for count, record in enumerate(to_records(documents, title=title), 1):
            out.write(record_line(record, f"document {count}"))
        if not count:
            raise InputError(f"expected documents to write to {file}, got none")
    return count


class _Titles:
    """Assigns titles to documents. Different sources never share a title."""

    def __init__(self) -> None:
        self._sources: dict[str, str] = {}

    def __call__(self, document: Document) -> str:
        given, source = document.metadata.get("title"), str(document.metadata.get("source") or "")
        if isinstance(given, str) and given.strip():
            return given.strip()
        if not source:
            start = document.page_content[:40]
            raise InputError(f"a document has neither title nor source ({start!r}): say which by  title=")
        name = _name(source)
        return name if self._sources.setdefault(name, source) == source else source


def _name(source: str) -> str:
    """Return the name of a source: ``report`` for ``docs/report.pdf`` and for
    ``https://example.org/docs/report.html?x``, or the source itself if it has no name.
    """
    parts = urlsplit(source)
    path = unquote(parts.path) if parts.scheme in ("http", "https") else source.replace("\\", "/")
    return PurePosixPath(path).stem or source
