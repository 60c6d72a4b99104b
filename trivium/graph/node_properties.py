"""What of a page goes into a property graph: labels, keys and the properties of nodes. Pure: no database, no files.

The Neo4j store writes these rows, and the bulk export puts the same ones into files.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Any

from trivium.graph.page_facts import encode_metadata, page_digest
from trivium.graph.page_graph import ChunkNode, Name, PageGraph, RelationEdge, SectionNode
from trivium.graph.records import Codes
from trivium.graph.schema import (
    CHUNK_MARK,
    embedding_text,
    entity_text,
    headings_as_text,
    headings_of,
    unescape,
)
from trivium.graph.stored_vectors import text_hash
from trivium.text.normalise import normalise_name, without_parenthesis

STORE_VERSION = 10
"""What a store in Neo4j is laid out by. Version 9 is changed into it when it is opened."""
_MARK = "Trivium"


class InternalLabel(StrEnum):
    """Labels of nodes that a store in Neo4j has beside those of the graph, for its own use. The last is a mark."""

    CHUNK_DATA = "ChunkData"
    ALIAS = "Alias"
    TERM = "Term"
    RELATION_TYPE = "RelationType"
    STORE = "TriviumStore"


def with_marks(labels: Sequence[str]) -> list[str]:
    """The labels of a node in Neo4j: its own, and the mark of each, by which the store's nodes are told from others.

    >>> with_marks(["Chunk"]), with_marks(["TriviumStore"])
    (['Chunk', 'TriviumChunk'], ['TriviumStore'])
    """
    return [*labels, *(f"{_MARK}{label}" for label in labels if not label.startswith(_MARK))]


KIND_LABELS = {
    kind: f"{_MARK}{kind.title()}"
    for kind in ("person", "organisation", "place", "work", "event", "product", "law")
}
"""The label of entities of a type, by which Neo4j Browser colours them. Other types may be any words, and have none."""

ALIAS_OF = "alias_of"
"""The relationship from an alias to each page that claims it."""

MAX_KEY_BYTES = 8_000
"""Longest string, in bytes of UTF-8, that an index of the server takes (its own limit is 8,167)."""


def fits(key: str) -> bool:
    """Whether an index of the server takes a string."""
    return len(key) * 4 <= MAX_KEY_BYTES or len(key.encode()) <= MAX_KEY_BYTES


def names_of(title: str) -> tuple[str | None, str | None]:
    """The normalised title of a uri, and the one without its trailing parenthesis. None where a name has no letters
    or is too long for an index; the second also where it does not differ.

    >>> names_of("Mercury (planet)")
    ('mercury planet', 'mercury')
    >>> names_of("Earth's")
    ('earth s', None)
    """
    text = unescape(title)
    name = normalise_name(text)
    short = normalise_name(without_parenthesis(text)) if text.endswith(")") else name
    return _key(name), (_key(short) if short != name else None)


def title_of(uri: str) -> str:
    """What people call a node: a title, the heading of a section, the headings over a chunk.

    >>> title_of("C%23 (language)"), title_of("Mars#Moons"), title_of("Mars#Moons#chunk-1")
    ('C# (language)', 'Moons', 'Mars > Moons')
    """
    section, mark, _ = uri.rpartition(CHUNK_MARK)
    return " > ".join(headings_of(section)) if mark else headings_of(uri)[-1]


def term_key(term: str) -> str:
    """What a search term is counted under: itself, or its hash where it is longer than any word.

    >>> term_key("moon")
    'moon'
    >>> len(term_key("x" * 10_000))
    32
    """
    return term if fits(term) else text_hash(term)


def _key(name: str) -> str | None:
    return name if name and fits(name) else None


Parameters = dict[str, Any]


def entity_row(uri: str) -> Parameters:
    """A new entity, of no known type."""
    name, short_name = names_of(uri)
    text = entity_text(uri)
    return {
        "uri": uri,
        "title": title_of(uri),
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
    relations = RelationEdge.distinct(page.relations)
    return {
        "uri": page.uri,
        "source": page.source,
        "revision": page.revision,
        "content_hash": page.content_hash,
        "digest": page_digest(page),
        "format": page.format or None,
        "path": page.path or None,
        "modified": page.modified,
        "metadata": encode_metadata(page.metadata, page.given) if page.metadata else None,
        "body": page.text,
        "relation_sources": [relation.source for relation in relations],
        "relation_types": [relation.type for relation in relations],
        "relation_targets": [relation.target for relation in relations],
        "relation_places": _places(relations),
    }


def statement_row(page: str, relations: Iterable[RelationEdge]) -> Parameters:
    """More relations of a page."""
    listed = list(relations)
    return {
        "uri": page,
        "sources": [relation.source for relation in listed],
        "types": [relation.type for relation in listed],
        "targets": [relation.target for relation in listed],
        "places": _places(listed),
    }


def evidence_row(relation: RelationEdge) -> Parameters:
    """Where a relation is said, as properties of its relationship; None without."""
    chunk, start, end = relation[3:]
    return {"chunk": chunk, "start": start, "end": end} if chunk else dict.fromkeys(("chunk", "start", "end"))


def _places(relations: Sequence[RelationEdge]) -> list[str] | None:
    """Where relations are said, as a property beside them; None where that is known of none."""
    if not any(relation.chunk for relation in relations):
        return None
    return [f"{relation.start} {relation.end} {relation.chunk}" for relation in relations]


def decode_relations(
    sources: Sequence[str], types: Sequence[str], targets: Sequence[str], places: Sequence[str]
) -> list[RelationEdge]:
    """The relations of a page from its properties; ``places`` is empty where that of none is known."""
    parts = (place.split(" ", 2) for place in places or ["0 0 "] * len(sources))
    return [
        RelationEdge(source, kind, target, chunk, int(start), int(end))
        for source, kind, target, (start, end, chunk) in zip(sources, types, targets, parts, strict=True)
    ]


def section_row(section: SectionNode) -> Parameters:
    """A section."""
    return {
        "uri": section.uri,
        "title": title_of(section.uri),
        "text_hash": text_hash(section.uri),
        "level": section.level,
        "position": section.position,
        "anchors": list(section.anchors) or None,
    }


def chunk_row(chunk: ChunkNode, headings: list[str]) -> Parameters:
    """A chunk under its headings."""
    return {
        "uri": chunk.uri,
        "title": " > ".join(headings),
        "text": chunk.text,
        "text_hash": text_hash(embedding_text(headings, chunk.text)),
        "kind": str(chunk.kind),
        "position": chunk.position,
        "start": chunk.start,
        "end": chunk.end,
        "token_count": chunk.token_count,
        "first_page": None if chunk.pages is None else chunk.pages[0],
        "last_page": None if chunk.pages is None else chunk.pages[1],
        "citations": list(chunk.cites),
        "anchors": list(chunk.anchors) or None,
        "names": [name.uri for name in chunk.names] or None,
        "name_places": [encode_name_place(name) for name in chunk.names] or None,
    }


def data_row(chunk: ChunkNode) -> Parameters:
    """What of a chunk only the program reads, on a node of its own, so that who clicks a chunk sees what it says."""
    of_headings = chunk.heading_terms.split()
    return {
        "uri": chunk.uri,
        "search_terms": " ".join([*of_headings, *chunk.terms.split()]),
        "heading_count": len(of_headings),
        "thumbnail": b64encode(chunk.thumbnail).decode() if chunk.thumbnail else None,
    }


def ancestors(page: PageGraph) -> dict[str, list[str]]:
    """section uri -> the sections above it, nearest first, then the page; the page itself has none above."""
    parents = {section.uri: section.parent for section in page.sections}
    above: dict[str, list[str]] = {page.uri: []}
    for uri in parents:
        path = [parents[uri]]
        while path[-1] != page.uri:
            path.append(parents[path[-1]])
        above[uri] = path
    return above


def chunks_by_parent(page: PageGraph) -> dict[str, list[Parameters]]:
    """uri of the page or section -> the chunks directly under it, in the order of the page, each as the properties of
    its two nodes, ``shown`` and ``data``."""
    found: dict[str, list[Parameters]] = {}
    for parent, chunks in _grouped(page).items():
        headings = headings_as_text(parent)
        found[parent] = [{"shown": chunk_row(chunk, headings), "data": data_row(chunk)} for chunk in chunks]
    return found


def neighbours(page: PageGraph) -> list[tuple[str, str]]:
    """(chunk, the next one of the same section)."""
    return [(a.uri, b.uri) for chunks in _grouped(page).values() for a, b in pairwise(chunks)]


def _grouped(page: PageGraph) -> dict[str, list[ChunkNode]]:
    groups: dict[str, list[ChunkNode]] = {}
    for chunk in sorted(page.chunks, key=lambda c: c.position):
        groups.setdefault(chunk.parent, []).append(chunk)
    return groups


def encode_sentences(codes: Codes) -> str:
    """Vectors of the sentences of a chunk (m x d) as its property: their bytes, one sentence after another, in base64.
    Empty where m is 0. It is text because neo4j-admin cannot import an empty list, and "no sentences" is an answer.

    >>> import numpy as np
    >>> encode_sentences(np.array([[127, -128]], dtype=np.int8))
    'f4A='
    """
    return b64encode(codes.tobytes()).decode()


def encode_name_place(name: Name) -> str:
    """Where a name is in its chunk, and its kind, as a property beside its uri.

    >>> encode_name_place(Name("Ada Lovelace", "person", 4, 16))
    '4 16 person'
    """
    return f"{name.start} {name.end} {name.kind}"


def decode_names(uris: Sequence[str], places: Sequence[str]) -> tuple[Name, ...]:
    """The names of a chunk from its two properties.

    >>> decode_names(["Ada Lovelace"], ["4 16 person"])
    (Name(uri='Ada Lovelace', kind='person', start=4, end=16),)
    """
    parts = (place.split(" ", 2) for place in places)
    return tuple(
        Name(uri, kind, int(start), int(end)) for uri, (start, end, kind) in zip(uris, parts, strict=True)
    )


def decode_thumbnail(text: str | None) -> bytes:
    """The thumbnail of a chunk from its property, which is base64: neo4j-admin imports no bytes. Empty for None.

    >>> decode_thumbnail("UklGRg=="), decode_thumbnail(None)
    (b'RIFF', b'')
    """
    return b"" if text is None else b64decode(text)


def decode_sentences(text: str) -> bytes:
    """The bytes that :func:`encode_sentences` was given.

    >>> decode_sentences("f4A=")
    b'\\x7f\\x80'
    """
    return b64decode(text)
