"""The documents among what sources hold: listed before they are read, without records and what cannot be used."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from trivium.index.file_locations import Places
from trivium.index.load_report import IngestReport
from trivium.parser.documents.formats import document_formats
from trivium.parser.sources.discover import Found
from trivium.parser.sources.source_items import Item, LeftOut, Problem
from trivium.settings.limits import InputLimits
from trivium.text.languages import AUTO, check_language

WORTH_A_POOL = 100
"""Number of documents from which a pool is worth its start-up time of about a second."""
_LARGE = 1 << 20
"""Size in bytes from which files of other formats are parsed in a separate process, too."""


def named(found: Iterator[Found], names: Mapping[str, str], language: str | None) -> Iterator[Found]:
    """Iterate over what was found, with display names and the language given by the user."""
    known = None if language is None or check_language(language) == AUTO else check_language(language)
    for item in found:
        if isinstance(item, Problem | LeftOut):
            yield replace(item, location=names.get(item.location, item.location))
        else:
            label = names.get(item.location)
            yield replace(item, label=label, path=label or item.path, language=known)


class FoundDocuments:
    """The documents among what was found, one by one; records are set aside and problems reported.

    Files are listed in advance, so that a progress bar knows their number. Of the rows of a file or a remote source
    only the first are, because counting them means reading them all; the others are read when it is their turn.
    """

    def __init__(
        self, found: Iterator[Found], report: IngestReport, limits: InputLimits, places: Places
    ) -> None:
        """``places`` is informed of every item before it is yielded."""
        self.records: list[Item] = []
        self._places = places
        self._documents = self._sort(found, report, limits)
        self._listed: deque[Item] = deque()
        self.count = 0
        for item in self._documents:
            self._listed.append(item)
            if _is_row(item) and len(self._listed) >= WORTH_A_POOL:
                break

    def _sort(self, found: Iterator[Found], report: IngestReport, limits: InputLimits) -> Iterator[Item]:
        for item in found:
            if isinstance(item, Problem):
                report.problem(item, limits.problems)
                continue
            if isinstance(item, LeftOut):
                report.leave_out(item, limits.problems)
                continue
            self._places.expect_item(item)
            if item.format == "records":
                self.records.append(item)
            else:
                self.count += 1
                yield item

    @property
    def risky(self) -> bool:
        """Whether a listed file may take much memory or time before that can be detected."""
        formats = [(document_formats().get(item.format), item) for item in self._listed]
        return any(format is not None and (format.risky or _size(item) > _LARGE) for format, item in formats)

    def __iter__(self) -> Iterator[Item]:
        while self._listed:
            yield self._listed.popleft()
        yield from self._documents


def _size(item: Item) -> int:
    try:
        return Path(item.location).stat().st_size
    except OSError:
        return 0


def _is_row(item: Item) -> bool:
    return item.line is not None or item.content is not None
