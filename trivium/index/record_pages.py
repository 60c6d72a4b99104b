"""Turns records into pages: records with the same title form one page, even across files.

The links of a record depend on the titles of all records, so records are kept until all have been read, on disk if
there are many. Only their titles stay in memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from tempfile import SpooledTemporaryFile, gettempdir

from trivium.chunking.chunker import Chunker
from trivium.chunking.portable_chunkers import BLOCKS
from trivium.errors import InputError, TriviumError
from trivium.graph.build_page_graph import build
from trivium.graph.page_graph import PageGraph
from trivium.index.recognise_names import with_recognised_names
from trivium.parser.gazetteer import Gazetteer
from trivium.parser.sources.source_items import Item, Problem
from trivium.parser.sources.title_text_records import (
    Record,
    common_metadata,
    read_records,
    records_to_pages,
    relinked,
)
from trivium.settings.limits import InputLimits

RECORDS = "records:"
IN_MEMORY = 64 << 20
"""Bytes of records kept in memory; beyond that a temporary file is used."""
_OVERHEAD = 500
"""Overhead of a record in bytes, besides its title and text."""
_NONE = -1


@dataclass(frozen=True, slots=True)
class RecordGroup:
    """The distinct records of one title, in their order. ``source`` is that of the first. ``differing`` are the keys of
    metadata in which all of them differ, also those with the same text; the records lack them.
    """

    title: str
    source: str
    records: tuple[Record, ...]
    differing: tuple[str, ...] = ()

    def graph(
        self, gazetteer: Gazetteer, chunker: Chunker, limits: InputLimits, entities: str | None
    ) -> PageGraph | Problem:
        """Return the page of the records, with links to the names that the gazetteer finds; with what recognises names
        without links, which :mod:`trivium.index.link_mentions` makes.
        """
        try:
            if entities is not None:
                gazetteer = Gazetteer(())
            (page,) = records_to_pages(self.records, gazetteer)
            if chunker is not BLOCKS:  # link chunk by chunk, as later loads will re-link stored pages
                page = relinked(chunker.rechunk(page), gazetteer)
            graph = build(replace(page, source=self.source), limits)
            return with_recognised_names(replace(graph, differing=self.differing), entities)
        except TriviumError as error:
            return Problem(f"{self.source.removeprefix(RECORDS)}, {self.title!r}", str(error))


class RecordPages:
    """The records of several files, by title. Must be closed."""

    def __init__(self, limits: InputLimits, max_bytes: int | None = None) -> None:
        """``max_bytes`` limits how much is kept; records beyond it are skipped and reported."""
        self._limits = limits
        self._left = max_bytes
        self._max_bytes = max_bytes
        self._last: dict[str, int] = {}  # title -> position of the last of its records
        self._kept = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - closed by close()
        self._end = 0

    def __len__(self) -> int:
        """Number of titles."""
        return len(self._last)

    def close(self) -> None:
        """Discard the records."""
        self._kept.close()

    def read(self, item: Item) -> Iterator[Problem | None]:
        """Add the records of a file. Yields a problem or None after each of them. Raises InputError if they cannot be
        stored.
        """
        for found in read_records(item.location, item.name, self._limits):
            if not self._has_room(found):
                assert self._max_bytes is not None
                yield Problem(
                    item.name,
                    f"these are more records than can be loaded at once, {self._max_bytes >> 20} MB: the rest is left"
                    " out; load it by itself",
                )
                return
            if isinstance(found, Problem):
                yield found
                continue
            self._keep(found, RECORDS + item.source)
            yield None

    def _has_room(self, found: Record | Problem) -> bool:
        if self._left is None:
            return True
        self._left -= _OVERHEAD + (len(found.title) + len(found.text) if isinstance(found, Record) else 0)
        return self._left >= 0

    def _keep(self, record: Record, source: str) -> None:
        """Store a record with the position of the previous one with the same title."""
        before = self._last.get(record.title, _NONE)
        line = json.dumps([before, source, record.text, record.source, dict(record.metadata)]).encode()
        try:
            self._kept.write(line + b"\n")
        except OSError as error:
            raise InputError(
                f"records that wait for their links cannot be kept in {gettempdir()} ({error}): free space there, or name"
                " another folder by TMPDIR"
            ) from error
        self._last[record.title] = self._end
        self._end += len(line) + 1

    def _group(self, title: str) -> RecordGroup:
        """Return the records of a title."""
        place, source = self._last[title], ""
        found: list[Record] = []
        while place != _NONE:
            self._kept.seek(place)
            place, source, text, file, metadata = json.loads(self._kept.readline())
            found.append(Record(title, text, file, metadata))
        found.reverse()
        metadata, differing = common_metadata(found)
        first: dict[str, Record] = {}
        for record in found:
            first.setdefault(record.text, replace(record, metadata=metadata))
        return RecordGroup(title, source, tuple(first.values()), tuple(differing))

    def names(self) -> Iterator[tuple[str, str]]:
        """Iterate over the titles, as names of themselves."""
        return ((title, title) for title in self._last)

    def groups(self) -> Iterator[RecordGroup]:
        """Iterate over the records by title."""
        for title in self._last:
            yield self._group(title)

    def graphs(
        self, gazetteer: Gazetteer, chunker: Chunker = BLOCKS, entities: str | None = None
    ) -> Iterator[tuple[str, PageGraph | Problem]]:
        """Iterate over the source and graph of every page; see :meth:`RecordGroup.graph`."""
        for group in self.groups():
            yield group.source, group.graph(gazetteer, chunker, self._limits, entities)
