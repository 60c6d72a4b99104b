"""Nodes as rows of statements: what of a page, a title or a relation type goes into the database. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from trivium.graph.model import ChunkNode, PageGraph, RelationEdge, SectionNode
from trivium.graph.neo4j.keys import names_of
from trivium.graph.schema import embedding_text, entity_text, headings_of
from trivium.graph.vectors import text_hash

Parameters = dict[str, Any]


def entity_row(uri: str) -> Parameters:
    """A new entity, of no known type."""
    name, short_name = names_of(uri)
    text = entity_text(uri)
    return {
        "uri": uri,
        "text": text,
        "text_hash": text_hash(text),
        "name": name,
        "short_name": short_name,
    }


def type_row(kind: str) -> Parameters:
    """A new relation type."""
    return {"type": kind, "text_hash": text_hash(kind)}


def page_row(page: PageGraph) -> Parameters:
    """What makes an entity a page."""
    relations = list(dict.fromkeys(page.relations))
    return {
        "uri": page.uri,
        "source": page.source,
        "revision": page.revision,
        "content_hash": page.content_hash,
        "body": page.text,
        "relation_sources": [relation.source for relation in relations],
        "relation_types": [relation.type for relation in relations],
        "relation_targets": [relation.target for relation in relations],
    }


def statement_row(page: str, relations: Iterable[RelationEdge]) -> Parameters:
    """More relations of a page."""
    listed = list(relations)
    return {
        "uri": page,
        "sources": [relation.source for relation in listed],
        "types": [relation.type for relation in listed],
        "targets": [relation.target for relation in listed],
    }


def section_row(section: SectionNode) -> Parameters:
    """A section."""
    return {
        "uri": section.uri,
        "text_hash": text_hash(section.uri),
        "level": section.level,
        "position": section.position,
    }


def chunk_row(chunk: ChunkNode, headings: list[str]) -> Parameters:
    """A chunk under its headings."""
    of_headings = chunk.heading_terms.split()
    return {
        "uri": chunk.uri,
        "text": chunk.text,
        "text_hash": text_hash(embedding_text(headings, chunk.text)),
        "kind": str(chunk.kind),
        "position": chunk.position,
        "start": chunk.start,
        "end": chunk.end,
        "token_count": chunk.token_count,
        "citations": list(chunk.cites),
        "search_terms": " ".join([*of_headings, *chunk.terms.split()]),
        "heading_count": len(of_headings),
    }


def ancestors(page: PageGraph) -> dict[str, list[str]]:
    """section uri -> what it stands under, nearest first, the page last; the page itself has none."""
    parents = {section.uri: section.parent for section in page.sections}
    above: dict[str, list[str]] = {page.uri: []}
    for uri in parents:
        path = [parents[uri]]
        while path[-1] != page.uri:
            path.append(parents[path[-1]])
        above[uri] = path
    return above


def chunks_by_parent(page: PageGraph) -> dict[str, list[Parameters]]:
    """uri of the page or section -> the chunks directly under it, in the order of the page."""
    found: dict[str, list[Parameters]] = {}
    for parent, chunks in _grouped(page).items():
        headings = headings_of(parent)
        found[parent] = [chunk_row(chunk, headings) for chunk in chunks]
    return found


def neighbours(page: PageGraph) -> list[tuple[str, str]]:
    """(chunk, the next one of the same section)."""
    return [(a.uri, b.uri) for chunks in _grouped(page).values() for a, b in pairwise(chunks)]


def _grouped(page: PageGraph) -> dict[str, list[ChunkNode]]:
    groups: dict[str, list[ChunkNode]] = {}
    for chunk in sorted(page.chunks, key=lambda c: c.position):
        groups.setdefault(chunk.parent, []).append(chunk)
    return groups
