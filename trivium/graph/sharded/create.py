"""Checks of stores that are to become shards of one."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import merge

from trivium.graph.protocols import PageReader
from trivium.graph.sharded.joined import overlapping
from trivium.graph.sharded.reads import Shard
from trivium.graph.sharded.store import check_embedders

_PAGES = 10_000


def check_apart(shards: Sequence[Shard]) -> None:
    """Raise StoreError if two of the stores have the same document, and EmbedderMismatchError if different embedders
    filled them.
    """
    check_embedders(shards)
    twice: dict[str, list[str]] = {}
    before = ("", "")
    named = ([(uri, shard.location) for uri in page_uris(shard)] for shard in shards)
    for uri, place in merge(*named):
        if uri == before[0]:
            twice.setdefault(uri, [before[1]]).append(place)
        before = uri, place
    if twice:
        raise overlapping(list(twice), next(iter(twice.values())))


def page_uris(store: PageReader) -> list[str]:
    """Return the uris of all pages, sorted; only some records are in memory at once."""
    uris: list[str] = []
    while some := store.pages(uris[-1] if uris else None, _PAGES):
        uris.extend(page.uri for page in some)
    return uris
