"""Renders pages of the PDF files that documents were read from, if the file is still there and unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from trivium.common.cache import LruCache
from trivium.engine import Engine
from trivium.errors import InputError
from trivium.graph.page_graph import PageGraph
from trivium.graph.records import page_numbers
from trivium.parser.documents.render_pdf_page import DrawnPage, draw_page
from trivium.parser.sources.read_files import read_document
from trivium.settings.settings import load_settings
from trivium.types import MetadataValue

LONGEST = 1600
"""Longer side of a picture in pixels, enough to read the small print of a letter page."""
_KEPT_BYTES = 48 << 20
"""Maximum total size of cached pictures."""
_SAME = 0.5
"""Minimum share of a page's text that must be found on it. Headers, hyphens and unusual fonts affect less than that."""
_MAX_TEXT = 20_000
"""Maximum number of characters of a page that are compared."""

KEPT_NOT = (
    "The pages cannot be shown: only the text of this file was kept, since it was sent to the server, or named without"
    " its folder when the collection was built."
)
GONE = "The pages cannot be shown: the file is not where it was read from."
_FROM_HERE = " Its path is relative to the folder in which the collection was built: start the server there."
CHANGED = "The pages cannot be shown: the file has changed since it was read. Build it again."
FROM_THE_WEB = "The pages cannot be shown here: the file was read from the web."


class NoOriginalError(Exception):
    """The page cannot be shown; the message is the reason, for users."""


@dataclass(frozen=True, slots=True)
class Original:
    """What the store knows of a document, one of its pages (from 1), and a passage on it."""

    source: str
    modified: str | None
    metadata: Mapping[str, MetadataValue]
    page: int
    texts: tuple[str, ...]
    """Texts of the passages that are on no other page."""
    passage: str = ""


_Key = tuple[str, int, int, int]
"""File, modification time, size and page number."""


def original_of(engine: Engine, uri: str, page: int, passage: str | None) -> Original | None:
    """Return what to draw for a document; None if it is not a PDF or has no text on that page. A ``passage`` of another
    document is ignored.
    """
    for graph in list(engine.store.page_graphs([uri])):
        return _of_graph(graph, page, passage)
    return None


def _of_graph(graph: PageGraph, page: int, passage: str | None) -> Original | None:
    if graph.format != "pdf":
        return None
    texts: list[str] = []
    room = _MAX_TEXT
    marked = ""
    for chunk in graph.chunks:
        text = graph.text[chunk.start : chunk.end]
        if chunk.uri == passage:
            marked = text
        if page_numbers(chunk.pages) == [page] and room > 0:
            texts.append(text[:room])
            room -= len(text)
    return Original(graph.source, graph.modified, graph.metadata, page, tuple(texts), marked[:_MAX_TEXT])


class Originals:
    """Draws pages and caches the most recent ones. Thread-safe."""

    def __init__(self) -> None:
        self._drawn: LruCache[_Key, DrawnPage] = LruCache(_KEPT_BYTES, lambda _, drawn: len(drawn.picture))

    def draw(self, original: Original) -> DrawnPage:
        """Draw the page and locate the passage on it. Raises NoOriginalError, and the errors of
        :func:`~trivium.parser.documents.render_pdf_page.draw_page`.
        """
        path = _path_of(original.source)
        try:
            found = path.stat()
            if not path.is_file():
                raise NoOriginalError(GONE)
        except (OSError, ValueError):  # a null byte
            raise NoOriginalError(GONE if path.is_absolute() else GONE + _FROM_HERE) from None
        key: _Key = (original.source, found.st_mtime_ns, found.st_size, original.page)
        known = self._drawn.find(None, [key]).get(key)
        if known is not None and not original.passage:
            return known
        try:
            data = read_document(path, load_settings().limits)
        except InputError:
            raise NoOriginalError(GONE) from None
        drawn = draw_page(
            data,
            original.page,
            longest=LONGEST if known is None else 0,
            passage=original.passage,
            texts=original.texts,
        )
        _check_unchanged(original, drawn, found.st_mtime)
        if known is not None:
            return replace(drawn, picture=known.picture)
        self._drawn.put(None, {key: replace(drawn, marks=())})
        return drawn


def _path_of(source: str) -> Path:
    """Return the file of a document. Uploaded documents have a bare file name, which must not match a file in the
    server's working directory. Raises NoOriginalError.
    """
    if "://" in source:
        raise NoOriginalError(FROM_THE_WEB)
    if not source or Path(source).name == source:
        raise NoOriginalError(KEPT_NOT)
    return Path(source)


def _check_unchanged(original: Original, drawn: DrawnPage, changed: float) -> None:
    """Check that the file is the one that was read: same date and page count, and the text of the page is found on it.
    Raises NoOriginalError.
    """
    at = datetime.fromtimestamp(int(changed), UTC).isoformat().replace("+00:00", "Z")
    same = (
        original.modified == (drawn.modified or at)
        and original.metadata.get("page_count", drawn.pages) == drawn.pages
        and (drawn.shown is None or drawn.shown >= _SAME)
    )
    if not same:
        raise NoOriginalError(CHANGED)
