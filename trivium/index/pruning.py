"""Finds documents whose files were deleted from the folders of a build."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from trivium.graph.model import PageGraph
from trivium.graph.records import PageRecord
from trivium.index.listing import PageLister, each_page
from trivium.index.merge import PageCheck
from trivium.index.places import absolute, is_gone
from trivium.index.record_pages import RECORDS


class Pruning:
    """The documents to remove at the end of a build of ``folders``: those of files below them that no longer exist,
    and those that a file which was read no longer contains (records). Documents of unreadable files are kept.
    """

    def __init__(self, folders: Iterable[str]) -> None:
        self._below = tuple(os.path.join(absolute(folder), "") for folder in folders)  # noqa: PTH118
        self._loaded: set[str] = set()
        self._read: set[str] = set()  # sources

    def saw(self, page: PageGraph) -> None:
        """Note a page that was read in this build."""
        self._loaded.add(page.uri)
        self._read.add(page.source)

    def stale(self, store: PageLister) -> list[str]:
        """Return the uris of the pages to remove, sorted."""
        return [page.uri for page in each_page(store) if self._is_stale(page)]

    def _is_stale(self, page: PageRecord) -> bool:
        source = page.source.removeprefix(RECORDS)
        # Uploads and documents of programs are called like files that are not there.
        if page.uri in self._loaded or source == page.path or "://" in source:
            return False
        if not absolute(source).startswith(self._below):
            return False
        return page.source in self._read or is_gone(file_of(source))


def both(first: Callable[[PageGraph], None], second: Callable[[PageGraph], None] | None) -> PageCheck:
    """Return a check that calls two."""

    def check(page: PageGraph) -> None:
        first(page)
        if second is not None:
            second(page)

    return check


def file_of(source: str) -> str:
    """Return the file that a source names, which may be a document in it (``wiki.zim, A/Mars``)."""
    parts = source.split(", ")
    for count in range(1, len(parts)):
        file = ", ".join(parts[:count])
        if Path(file).is_file():
            return file
    return source


def folders_of(sources: Sequence[str]) -> list[str]:
    """Return those of the sources that are folders."""
    return [source for source in sources if Path(source).is_dir()]
