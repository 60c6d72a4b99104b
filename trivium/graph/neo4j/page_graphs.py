"""Whole pages, as rows of the server."""

from __future__ import annotations

from typing import Any

from trivium.graph.model import ChunkNode, PageGraph, QuestionNode, RelationEdge, SectionNode
from trivium.graph.pages import decode_given, decode_metadata
from trivium.graph.property_graph import decode_thumbnail


def read_graph(
    uri: str,
    text: str,
    source: str,
    revision: int | None,
    content_hash: str,
    aliases: list[str],
    sources: list[str],
    kinds: list[str],
    targets: list[str],
    format_: str,
    path: str,
    modified: str | None,
    metadata: str | None,
    sections: list[list[Any]],
    chunks: list[list[Any]],
    questions: list[list[Any]],
) -> PageGraph:
    """Return a page of a row of :data:`trivium.graph.neo4j.cypher.scanning.PAGE_GRAPHS`."""
    return PageGraph(
        uri=uri,
        text=text,
        source=source,
        revision=revision,
        content_hash=content_hash,
        aliases=tuple(sorted(aliases)),
        sections=tuple(sorted((_section(*row) for row in sections), key=lambda s: s.position)),
        chunks=tuple(sorted((_chunk(*row) for row in chunks), key=lambda c: c.position)),
        relations=tuple(RelationEdge(*edge) for edge in sorted(zip(sources, kinds, targets, strict=True))),
        format=format_,
        path=path,
        modified=modified,
        metadata=decode_metadata(metadata),
        given=decode_given(metadata),
        questions=tuple(sorted((_question(*row) for row in questions), key=lambda q: q.uri)),
    )


def _question(uri: str, text: str, answers: list[str], chunks: list[str]) -> QuestionNode:
    return QuestionNode(uri, text, tuple(answers), tuple(chunks))


def _section(uri: str, parent: str, level: int, position: int, anchors: list[str]) -> SectionNode:
    return SectionNode(uri, parent, level, position, tuple(anchors))


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
    anchors: list[str],
    search_terms: str,
    heading_count: int,
    first_page: int | None,
    last_page: int | None,
    thumbnail: str | None,
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
        pages=None if first_page is None or last_page is None else (first_page, last_page),
        thumbnail=decode_thumbnail(thumbnail),
        anchors=tuple(anchors),
    )
