"""Decides about names when all pages are known: which node a title stands for, and which titles are bare entities. Titles
are read in order from files, so that only numbers are kept in memory.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from trivium.graph.bulk.name_files import Claim, NameFiles, Title


class Alias(NamedTuple):
    """An alias, the page it leads to, and the numbers of all pages that claim it."""

    alias: str
    leads_to: str | None
    pages: Sequence[int]


class _Known(NamedTuple):
    """What is known of a title: that it is one (``page`` is None), or that a page has it as an alias."""

    title: str
    page: str | None
    number: int
    is_page: bool


def decide(files: NameFiles) -> list[Alias]:
    """Decide about the titles, write that, and return the aliases in order."""
    aliases: list[Alias] = []
    # Of each title: its number, that of the node it stands for, and whether it is an entity without a page.
    numbers, nodes, bare = array("q"), array("q"), bytearray()
    by_title = attrgetter("title")
    for name, group in groupby(merge(*_known(files), key=by_title), key=by_title):
        told = list(group)
        title = next((known for known in told if known.page is None), None)
        is_page = title is not None and title.is_page
        claims = sorted((known.page, known.number) for known in told if known.page is not None)
        # A page's own title stands for itself; of several pages that claim an alias the lowest uri holds it.
        if title is not None:
            numbers.append(title.number)
            nodes.append(claims[0][1] if claims and not is_page else title.number)
            bare.append(not is_page and not claims)
        if claims:
            leads_to = None if is_page else claims[0][0]
            aliases.append(Alias(name, leads_to, [number for _, number in claims]))
    files.write_decided(np.array(numbers), np.array(nodes), np.array(bare, dtype=np.bool_))
    return aliases


def _known(files: NameFiles) -> tuple[Iterator[_Known], Iterator[_Known]]:
    return (
        (_Known(title, None, number, is_page) for title, number, is_page in files.read(Title)),
        (_Known(alias, page, number, is_page=False) for alias, page, number in files.read(Claim)),
    )
