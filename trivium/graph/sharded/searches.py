"""Searches of several stores at once: each is asked, and what they return is merged as one store would order it."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import merge
from itertools import chain
from typing import Protocol

from trivium.graph.keyword_scores import keyword_scores
from trivium.graph.nearness import in_order, of_nearest
from trivium.graph.records import Neighbour, Reached, TermCounts, TermStatistics, Vectors, rank_key
from trivium.graph.schema import Hop, Label, page_of


class Searched(Protocol):
    """The part of a store, or of one that a condition limits, that is merged here."""

    def nearest(
        self, labels: Sequence[Label], vector: Vectors, k: int, *, exact: bool = False
    ) -> list[Neighbour]: ...

    def expand_nearest(
        self,
        labels: Sequence[Label],
        vector: Vectors,
        nodes: int,
        hop: Hop,
        limit: int | None,
        *,
        exact: bool = False,
    ) -> list[Reached]: ...

    def keyword_search(self, terms: Sequence[str], k: int) -> list[str]: ...

    def term_counts(self, chunks: Sequence[str], terms: Sequence[str]) -> TermCounts: ...

    def expand(self, uris: Sequence[str], hop: Hop) -> dict[str, list[str]]: ...

    def outline(self, pages: Sequence[str]) -> dict[str, list[str]]: ...


def nearest(
    shards: Sequence[Searched], labels: Sequence[Label], vector: Vectors, k: int, *, exact: bool
) -> list[Neighbour]:
    """Return the k nearest nodes of all. An entity of several shards is one; where they know other types of it, its
    vectors differ, and the best counts.
    """
    return _merged([shard.nearest(labels, vector, k, exact=exact) for shard in shards], k)


def _merged(lists: Sequence[Sequence[Neighbour]], k: int) -> list[Neighbour]:
    found = sorted(chain.from_iterable(lists), key=lambda near: rank_key(near.score, near.uri))
    distinct: dict[str, Neighbour] = {}
    for near in found:
        distinct.setdefault(near.uri, near)
    return list(distinct.values())[: max(k, 0)]


def expand_nearest(
    shards: Sequence[Searched],
    labels: Sequence[Label],
    vector: Vectors,
    nodes: int,
    hop: Hop,
    limit: int | None,
    *,
    exact: bool,
) -> list[Reached]:
    """Return the chunks along a hop from the ``nodes`` nearest nodes of all."""
    lists = [shard.nearest(labels, vector, nodes, exact=exact) for shard in shards]
    best = {near.uri for near in _merged(lists, nodes)}
    found: list[Reached] = []
    for shard, own in zip(shards, lists, strict=True):
        count = sum(near.uri in best for near in own)  # the best of all that a shard has are its own best
        if count:
            found += shard.expand_nearest(labels, vector, count, hop, limit, exact=exact)
    return in_order(found, limit)


def expand_nearest_matching(
    shards: Sequence[Searched],
    labels: Sequence[Label],
    vector: Vectors,
    nodes: int,
    hop: Hop,
    limit: int | None,
    *,
    exact: bool,
) -> list[Reached]:
    """The same under a condition. What :meth:`nearest` returns are then not the nodes that hops start from, so that the
    best are those that led to chunks.
    """
    parts = (shard.expand_nearest(labels, vector, nodes, hop, limit, exact=exact) for shard in shards)
    return of_nearest(list(chain.from_iterable(parts)), nodes, limit)


def keyword_search(
    shards: Sequence[Searched], terms: Sequence[str], k: int, statistics: TermStatistics
) -> list[str]:
    """Return about k chunks, best first by BM25. Each shard proposes its own k best by its own statistics; they are
    ordered by those of all shards, which ``statistics`` has for ``terms``, distinct.
    """
    if len(shards) == 1:
        return shards[0].keyword_search(terms, k)
    scored: list[tuple[float, str]] = []
    for shard in shards:
        uris = shard.keyword_search(terms, k)
        scores = keyword_scores(shard.term_counts(uris, terms), statistics).tolist()
        scored.extend(zip(scores, uris, strict=True))
    scored.sort(key=lambda pair: rank_key(*pair))
    return [uri for _, uri in scored[: max(k, 0)]]


def expand(shards: Sequence[Searched], uris: Sequence[str], hop: Hop) -> dict[str, list[str]]:
    """Return the chunks along a hop from each node, by page and position."""
    found = [shard.expand(uris, hop) for shard in shards]
    return {uri: by_page([chunks[uri] for chunks in found if chunks[uri]]) for uri in uris}


def outline(shards: Sequence[Searched], pages: Sequence[str]) -> dict[str, list[str]]:
    """Return the sections of each page in document order."""
    found = [shard.outline(pages) for shard in shards]
    return {page: next((own[page] for own in found if own[page]), []) for page in pages}


def by_page(lists: Sequence[list[str]]) -> list[str]:
    """Merge lists of chunks that are ordered by page and position. No page is in two of them."""
    return lists[0] if len(lists) == 1 else list(merge(*lists, key=page_of))
