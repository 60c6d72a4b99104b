"""Finds documents whose files were deleted from the folders of a build."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from trivium.graph.page_facts import PageLister, each_page
from trivium.graph.page_graph import PageGraph
from trivium.graph.records import PageRecord
from trivium.index.file_locations import absolute
from trivium.index.load_report import IngestReport
from trivium.index.record_pages import RECORDS
from trivium.index.write_batches import PageCheck


class Pruning:
    """The documents to remove at the end of a build of ``folders``: those of files below them that no longer exist,
    and those that a file which was read without a problem no longer contains (records).
    """

    def __init__(self, folders: Iterable[str]) -> None:
        real = (form for folder in folders for form in (absolute(folder), os.path.realpath(folder)))
        self._below = tuple(os.path.join(folder, "") for folder in real)  # noqa: PTH118
        self._loaded: set[str] = set()
        self._read: set[str] = set()  # sources

    def before(self, check: PageCheck | None) -> PageCheck:
        """Return a check of pages that notes them first."""

        def saw(page: PageGraph) -> None:
            self._loaded.add(page.uri)
            self._read.add(page.source)
            if check is not None:
                check(page)

        return saw

    def stale(self, store: PageLister, report: IngestReport) -> list[str]:
        """Return the uris of the pages to remove, sorted; none if nothing was read, because the documents may be
        somewhere else for the moment.
        """
        if not report.read:
            return []
        return [page.uri for page in each_page(store) if self._is_stale(page, report)]

    def count_deleted(self, store: PageLister) -> int:
        """Return the number of documents of which the file no longer exists."""
        files = map(self._file_below, each_page(store))
        return sum(file is not None and _is_deleted(file) for file in files)

    def _is_stale(self, page: PageRecord, report: IngestReport) -> bool:
        file = self._file_below(page)
        if file is None:
            return False
        if _is_deleted(file):
            return True
        sound = not report.unlisted and not any(_is_of(problem.location, file) for problem in report.problems)
        return sound and page.source in self._read

    def _file_below(self, page: PageRecord) -> str | None:
        """Return the file of a document that was not loaded, if it is below the folders."""
        source = page.source.removeprefix(RECORDS)
        # Uploads and documents of programs have names without a folder, or are called what they are displayed as: they
        # look like files that are not there.
        uploaded = source == page.path or not os.path.dirname(source)  # noqa: PTH120
        if page.uri in self._loaded or uploaded or "://" in source:
            return None
        file = file_of(source)
        # As it is called and where it really is: a folder may be a symbolic link.
        forms = (os.path.abspath(file), absolute(file))  # noqa: PTH100
        return file if any(form.startswith(self._below) for form in forms) else None


def _is_deleted(file: str) -> bool:
    """Whether a file is certainly not there: it may also be in a folder that cannot be read now."""
    try:
        os.lstat(file)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def _is_of(location: str, file: str) -> bool:
    """Whether the location of a problem is that of a file or in it."""
    return location == file or location.startswith((f"{file},", f"{file} "))


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
