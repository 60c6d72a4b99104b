"""Records as pages: those of one title are one page, whatever files they stand in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trivium.chunking.base import Chunker
from trivium.chunking.strategies import BLOCKS
from trivium.errors import TriviumError
from trivium.graph.build import build
from trivium.graph.model import PageGraph
from trivium.limits import InputLimits
from trivium.parser.gazetteer import Gazetteer
from trivium.parser.sources.base import Item, Problem
from trivium.parser.sources.records import Record, read_records, records_to_pages, relinked

RECORDS = "records:"
_OVERHEAD = 500
"""Bytes that a record takes besides its title and text."""


class RecordPages:
    """The records of several files, by title."""

    def __init__(self, limits: InputLimits, max_bytes: int | None = None) -> None:
        """``max_bytes``: how much is kept; what comes then is left out and reported."""
        self._limits = limits
        self._left = max_bytes
        self._max_bytes = max_bytes
        self._by_title: dict[str, tuple[str, dict[str, Record]]] = {}

    def __len__(self) -> int:
        """How many titles there are."""
        return len(self._by_title)

    def read(self, item: Item) -> Iterator[Problem | None]:
        """Add the records of a file; yields after each of them, a problem or None."""
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
            _, same_title = self._by_title.setdefault(found.title, (RECORDS + item.source, {}))
            same_title.setdefault(found.text, found)
            yield None

    def _has_room(self, found: Record | Problem) -> bool:
        if self._left is None:
            return True
        self._left -= _OVERHEAD + (len(found.title) + len(found.text) if isinstance(found, Record) else 0)
        return self._left >= 0

    def names(self) -> list[tuple[str, str]]:
        """The titles, as names of themselves."""
        return [(title, title) for title in sorted(self._by_title)]

    def graphs(
        self, gazetteer: Gazetteer, chunker: Chunker = BLOCKS
    ) -> Iterator[tuple[str, PageGraph | Problem]]:
        """The source and graph of every page; its texts link to what a gazetteer finds in them."""
        for title, (source, records) in self._by_title.items():
            try:
                (page,) = records_to_pages(records.values(), gazetteer)
                if chunker is not BLOCKS:  # linked as later loads will link what is stored: chunk by chunk
                    page = relinked(chunker.rechunk(page), gazetteer)
                yield source, build(replace(page, source=source), self._limits)
            except TriviumError as error:
                yield source, Problem(f"{source.removeprefix(RECORDS)}, {title!r}", str(error))
