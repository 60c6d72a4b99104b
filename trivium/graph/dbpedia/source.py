"""Sources of statements. Each is read twice: first which pages its resources are about, then what is said of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from trivium.parser.sources.source_items import Problem

Statement = tuple[str, str, str]
"""Subject, predicate, object: three IRIs. Statements about literals and blank nodes are of no use here."""


@dataclass(frozen=True, slots=True)
class Reporter:
    """What a source calls while it is read: ``problem`` for each problem, ``advance`` with (done, total) in units of its
    own."""

    problem: Callable[[Problem], None]
    advance: Callable[[int, int], None]


class Source(Protocol):
    """A source of statements, in any order. ``titles`` are the uris and aliases of the store's entities; a
    source that is asked piece by piece (an endpoint) asks for those, one that is read through (a file) gives
    everything."""

    def links(self, titles: Sequence[str], reporter: Reporter) -> Iterator[Statement]:
        """Statements by ``foaf:isPrimaryTopicOf``: resource to Wikipedia page. Read to the end before
        :meth:`facts`."""
        ...

    def facts(self, titles: Sequence[str], reporter: Reporter) -> Iterator[Statement]:
        """Everything else: relations, types, the hierarchy of classes. May repeat the links."""
        ...
