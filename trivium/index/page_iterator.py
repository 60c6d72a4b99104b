"""Iterates over all pages of a store without holding them in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from trivium.graph.records import PageRecord

PAGES_A_READ = 1_000


class PageLister(Protocol):
    """The part of a store that :func:`each_page` uses."""

    def pages(self, after: str | None = None, limit: int | None = None) -> Sequence[PageRecord]: ...


def each_page(store: PageLister) -> Iterator[PageRecord]:
    """Iterate over the pages sorted by uri, read in batches. Pages written meanwhile may or may not be included."""
    after: str | None = None
    while True:
        some = store.pages(after, PAGES_A_READ)
        yield from some
        if len(some) < PAGES_A_READ:
            return
        after = some[-1].uri
