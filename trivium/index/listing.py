"""Goes through all pages of a store without having them all in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from trivium.graph.records import PageRecord

PAGES_A_READ = 1_000


class PageLister(Protocol):
    """What this needs of a store."""

    def pages(self, after: str | None = None, limit: int | None = None) -> Sequence[PageRecord]: ...


def each_page(store: PageLister) -> Iterator[PageRecord]:
    """The pages by uri, read some at a time: what is written meanwhile may or may not be among them."""
    after: str | None = None
    while True:
        some = store.pages(after, PAGES_A_READ)
        yield from some
        if len(some) < PAGES_A_READ:
            return
        after = some[-1].uri
