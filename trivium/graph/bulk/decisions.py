"""Decides about names that several shards know: which node a title stands for, which shard writes it, and which relations
several of them state. Titles are read in order from all shards at once, so that only numbers are kept in memory.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from trivium.common.arrays import Integers
from trivium.errors import StoreError
from trivium.graph.bulk.name_files import Claim, Mask, NameFiles, Relation, Title


class Alias(NamedTuple):
    """An alias, the page it leads to, and the numbers of all pages that claim it."""

    alias: str
    leads_to: str | None
    pages: Sequence[int]


class _Known(NamedTuple):
    """What a shard knows of a title: that it is one (``page`` is None), or that a page has it as an alias."""

    title: str
    page: str | None
    shard: int
    number: int
    is_page: bool


def decide(shards: Sequence[NameFiles]) -> list[Alias]:
    """Decide about the titles, write that for each shard, and return the aliases in order. Raises StoreError if two
    shards have the same page.
    """
    aliases: list[Alias] = []
    # Of each title of each shard: its number, that of the node it stands for, whether the shard writes that.
    decided = [(array("q"), array("q"), bytearray()) for _ in shards]
    by_title = attrgetter("title")
    streams = [stream for number, files in enumerate(shards) for stream in _known(number, files)]
    for title, group in groupby(merge(*streams, key=by_title), key=by_title):
        told = list(group)
        titles = [known for known in told if known.page is None]
        pages = [known for known in titles if known.is_page]
        claims = sorted((known.page, known.number) for known in told if known.page is not None)
        if len(pages) > 1:
            raise StoreError(
                f"expected every document in one shard only, got {title!r} in {len(pages)}:  trivium remove TITLE --store"
                " SHARD  removes it from one of them"
            )
        # A page's own title stands for itself; of several pages that claim an alias the lowest uri holds it.
        if titles:
            stands_for = pages[0].number if pages else claims[0][1] if claims else titles[0].number
            for known in titles:
                numbers, nodes, own = decided[known.shard]
                numbers.append(known.number)
                nodes.append(stands_for)
                own.append(not pages and not claims and known is titles[0])
        if claims:
            leads_to = None if pages else claims[0][0]
            aliases.append(Alias(title, leads_to, [number for _, number in claims]))
    for files, (numbers, nodes, own) in zip(shards, decided, strict=True):
        files.write_decided(np.array(numbers), np.array(nodes), np.array(own, dtype=np.bool_))
    return aliases


def _known(shard: int, files: NameFiles) -> tuple[Iterator[_Known], Iterator[_Known]]:
    return (
        (_Known(title, None, shard, number, is_page) for title, number, is_page in files.read(Title)),
        (_Known(alias, page, shard, number, is_page=False) for alias, page, number in files.read(Claim)),
    )


def decide_relations(shards: Sequence[NameFiles]) -> list[str]:
    """Decide which relations several shards state, once it is known what titles stand for. Returns the types of all."""
    kinds: dict[str, int] = {}
    triples = []
    for files in shards:
        rows = [
            (source, kinds.setdefault(kind, len(kinds)), target)
            for _, source, kind, target in files.read(Relation)
        ]
        triple = np.array(rows, dtype=np.int64).reshape(-1, 3)
        triple[:, ::2] = files.stands_for()[triple[:, ::2] - files.facts().first]
        triples.append(triple)
    for files, shared in zip(shards, _in_several(triples), strict=True):
        files.write_shared(shared)
    return sorted(kinds)


def _in_several(parts: Sequence[Integers]) -> list[Mask]:
    """Return of each row of each part whether another part has it, too."""
    part = np.repeat(np.arange(len(parts)), [len(rows) for rows in parts])
    unique, place = np.unique(np.concatenate(parts), axis=0, return_inverse=True)
    place = place.reshape(-1)
    lowest, highest = np.full(len(unique), len(parts)), np.full(len(unique), -1)
    np.minimum.at(lowest, place, part)
    np.maximum.at(highest, place, part)
    shared = (lowest != highest)[place]
    return [shared[part == number] for number in range(len(parts))]
