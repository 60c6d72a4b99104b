"""Pages as they were written, for whoever copies or checks a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from trivium.common.iteration import batched
from trivium.graph.model import ChunkNode, PageGraph, RelationEdge, SectionNode
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher import writing as cypher

_PAGES_A_READ = 50


def pages(connection: Connection) -> list[tuple[str, str, int | None, str]]:
    """(uri, source, revision, content_hash) of every page, by uri."""
    return sorted((row[0], row[1], row[2], row[3]) for row in connection.read(cypher.PAGES, whole=True)[0][0])


def page_graphs(connection: Connection, uris: Sequence[str] | None = None) -> Iterator[PageGraph]:
    """Pages with every relation and alias they have by now, by uri or in the order asked (unknown ones left out).
    Read some at a time: a page that goes meanwhile is left out."""
    asked = sorted(connection.read(cypher.PAGE_URIS, whole=True)[0][0]) if uris is None else uris
    for part in batched(asked, _PAGES_A_READ):
        found = {
            row[0]: row for row in connection.read(cypher.PAGE_GRAPHS, {"uris": list(dict.fromkeys(part))})
        }
        yield from (_graph(*found[uri]) for uri in part if uri in found)


def types(connection: Connection) -> dict[str, str]:
    """entity uri -> type, of every entity that has one, by uri."""
    return dict(sorted((uri, kind) for uri, kind in connection.read(cypher.TYPES, whole=True)[0][0]))


def _graph(
    uri: str,
    text: str,
    source: str,
    revision: int | None,
    content_hash: str,
    aliases: list[str],
    sources: list[str],
    kinds: list[str],
    targets: list[str],
    sections: list[list[Any]],
    chunks: list[list[Any]],
) -> PageGraph:
    return PageGraph(
        uri=uri,
        text=text,
        source=source,
        revision=revision,
        content_hash=content_hash,
        aliases=tuple(sorted(aliases)),
        sections=tuple(sorted((SectionNode(*row) for row in sections), key=lambda s: s.position)),
        chunks=tuple(sorted((_chunk(*row) for row in chunks), key=lambda c: c.position)),
        relations=tuple(RelationEdge(*edge) for edge in sorted(zip(sources, kinds, targets, strict=True))),
    )


def _chunk(
    uri: str,
    parent: str,
    text: str,
    kind: str,
    position: int,
    start: int,
    end: int,
    token_count: int,
    citations: list[str],
    search_terms: str,
    heading_count: int,
) -> ChunkNode:
    terms = search_terms.split()
    return ChunkNode(
        uri=uri,
        parent=parent,
        text=text,
        kind=kind,
        position=position,
        start=start,
        end=end,
        token_count=token_count,
        cites=tuple(citations),
        terms=" ".join(terms[heading_count:]),
        heading_terms=" ".join(terms[:heading_count]),
    )
