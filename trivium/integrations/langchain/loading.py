"""Documents of LangChain's loaders as a source of a store."""

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
"""Keys of a record that metadata cannot have."""


def write_records(
    documents: BaseLoader | Iterable[Document],
    file: str | Path,
    *,
    title: Callable[[Document], str] | None = None,
) -> int:
    """Write what a loader loads (or documents, such as those of a text splitter) to a file of ``{title, text}`` records,
    a source that :meth:`trivium.Engine.build` and ``trivium build`` take; returns how many records. Their metadata come
    along as far as a store can keep them.

    ``title`` says which page a document is a part of: by default its metadata ``title``, else the name of its
    ``source`` (a path or an address) without folder and ending, or the whole source where another one has taken the name.
    Documents of one title, such as the pages of a PDF, are one page, in their order. They are written as they come; the
    file is there when all are, so that a loader that fails leaves what was there before.

    Raises InputError for a document with neither title nor source, and where there is none at all.
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
    """Titles of documents, of which two sources never share one."""

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
    """``report`` of ``docs/report.pdf`` and of ``https://example.org/docs/report.html?x``; the source where it has no
    name."""
    parts = urlsplit(source)
    path = unquote(parts.path) if parts.scheme in ("http", "https") else source.replace("\\", "/")
    return PurePosixPath(path).stem or source
