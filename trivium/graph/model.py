"""The nodes and relationships of one page, ready for any store (made by :mod:`trivium.graph.build`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SectionNode:
    """A SubChapter. ``parent`` is the uri of the section or page it stands under; ``position`` counts from 0
    in the order of the page; ``level`` from 1."""

    uri: str
    parent: str
    level: int
    position: int


@dataclass(frozen=True, slots=True)
class ChunkNode:
    """A Chunk. ``position`` counts from 0 in the order of the page. ``cites`` are the distinct uris of the
    linked titles in order of appearance, redirects unresolved. ``terms`` and ``heading_terms`` are the search
    terms of the text and of the headings above it (:func:`trivium.text.terms`), joined by spaces."""

    uri: str
    parent: str
    text: str
    kind: str
    position: int
    start: int
    end: int
    token_count: int
    cites: tuple[str, ...]
    terms: str
    heading_terms: str


@dataclass(frozen=True, slots=True)
class RelationEdge:
    """A typed relation between two entities. Its mirror is implied, not listed."""

    source: str
    type: str
    target: str


@dataclass(frozen=True, slots=True)
class PageGraph:
    """Everything one page contributes to the graph. ``aliases`` are uris that resolve to this page.
    ``content_hash`` changes with everything but ``source`` and ``aliases``: what a page's own copy says of its
    redirects is never complete, so aliases accumulate until the page is removed."""

    uri: str
    text: str
    source: str
    revision: int | None
    content_hash: str
    aliases: tuple[str, ...]
    sections: tuple[SectionNode, ...]
    chunks: tuple[ChunkNode, ...]
    relations: tuple[RelationEdge, ...]
