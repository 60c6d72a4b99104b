"""Documents of LangChain loaders as a source of a store."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import orjson
from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from trivium.common.files import replacing
from trivium.errors import InputError

_OWN = ("title", "text")
"""Keys of a record that cannot be used for metadata."""


def write_records(
    documents: BaseLoader | Iterable[Document],
    file: str | Path,
    *,
    title: Callable[[Document], str] | None = None,
) -> int:
    """Write the documents of a loader (or given documents, such as those of a text splitter) to a file of ``{title,
    text}`` records, a source for :meth:`trivium.Engine.build` and ``trivium build``. Metadata is included as far as a
    store supports it. Returns the number of records.

    ``title`` maps a document to the title of its page. By default it is the metadata ``title``, else the name of the
    ``source`` (a path or an address) without folder and extension, or the entire source if another one has that name.
    Documents with the same title, such as the pages of a PDF, form one page, in their order. The file is replaced only
    when all documents are written, so a loader that fails leaves the previous file.

    Raises InputError for a document without title and source, and when there are no documents.
    """
    given = documents.lazy_load() if isinstance(documents, BaseLoader) else documents
    named = _Titles() if title is None else title
    count = 0
    with replacing(Path(file)) as out:
        for document in given:
            if not isinstance(document, Document):
                raise InputError(f"expected LangChain's documents, got {type(document).__name__}")
            metadata = {key: value for key, value in document.metadata.items() if key not in _OWN}
            record = {"title": named(document), "text": document.page_content, **metadata}
            out.write(
                orjson.dumps(record, default=str, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS)
            )
            count += 1
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
