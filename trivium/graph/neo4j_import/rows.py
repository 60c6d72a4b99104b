"""Pages, entities, aliases as rows of tables, with the properties that the Neo4j store itself would write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

import numpy as np

from trivium.graph.neo4j_import import tables
from trivium.graph.neo4j_import.id_table import Placed
from trivium.graph.node_properties import (
    KIND_LABELS,
    STORE_VERSION,
    ancestors,
    chunk_row,
    data_row,
    entity_row,
    evidence_row,
    names_of,
    neighbours,
    page_row,
    section_row,
    type_row,
)
from trivium.graph.page_facts import BLOCKS
from trivium.graph.page_graph import RelationEdge
from trivium.graph.protocols import GraphStore
from trivium.graph.records import Vectors
from trivium.graph.schema import entity_text, headings_as_text, mirror_type
from trivium.graph.stored_vectors import text_hash

Vector = Vectors | None
Row = dict[str, Any]


def entity(uri: str, kind: str | None, embedding: Vector) -> Row:
    """An entity of a type, or none."""
    row = entity_row(uri) | {"type": kind, "embedding": embedding, "": KIND_LABELS.get(kind or "")}
    if kind is not None:
        text = entity_text(uri, kind)
        row |= {"text": text, "text_hash": text_hash(text)}
    return row


def page(placed: Placed, kind: str | None, embedding: Vector, added: str | None) -> Row:
    """A page, with what it is as an entity; ``added`` is when it was first loaded."""
    source = placed.page
    own = {"aliases": source.aliases, "added": added}
    return entity(source.uri, kind, embedding) | page_row(source) | own


def sections(placed: Placed, embeddings: Mapping[str, Vectors]) -> Iterator[str]:
    """The lines of a page's sections."""
    for section in placed.page.sections:
        row = section_row(section) | {"text": section.uri, "embedding": embeddings.get(section.uri)}
        yield tables.SECTIONS.line(placed.sections[section.uri], row)


def chunks(placed: Placed, embeddings: Mapping[str, Vectors]) -> Iterator[str]:
    """The lines of a page's chunks."""
    headings: dict[str, list[str]] = {}
    for chunk in placed.page.chunks:
        above = headings.get(chunk.parent)
        if above is None:
            above = headings[chunk.parent] = headings_as_text(chunk.parent)
        row = chunk_row(chunk, above) | {"embedding": embeddings.get(chunk.uri)}
        yield tables.CHUNKS.line(placed.chunks[chunk.uri], row)


def chunk_data(placed: Placed, sentences: Mapping[str, str], pictures: Mapping[str, str]) -> Iterator[str]:
    """The lines of the data of a page's chunks. ``sentences`` and ``pictures`` (vectors of them) are those that are
    known, by uri, as the nodes have them.
    """
    for chunk in placed.page.chunks:
        row = data_row(chunk) | {
            "sentences": sentences.get(chunk.uri),
            "picture_vector": pictures.get(chunk.uri),
        }
        yield tables.CHUNK_DATA.line(placed.chunks[chunk.uri] + 1, row)


def structure(placed: Placed) -> Iterator[tuple[tables.RelationshipTable, list[tuple[int, int]]]]:
    """The relationships within a page: by table the numbers of both ends."""
    numbers = {placed.page.uri: placed.number, **placed.sections}
    above = ancestors(placed.page)
    sections = [(number, [numbers[uri] for uri in above[uri]]) for uri, number in placed.sections.items()]
    chunks = [
        (placed.chunks[chunk.uri], [numbers[uri] for uri in (chunk.parent, *above[chunk.parent])])
        for chunk in placed.page.chunks
    ]
    yield tables.HAS_SUBCHAPTER, [(path[0], section) for section, path in sections]
    yield tables.IS_SUBCHAPTER_OF, [(section, ancestor) for section, path in sections for ancestor in path]
    yield tables.HAS_CHUNK, [(path[0], chunk) for chunk, path in chunks]
    yield tables.IS_CHUNK_OF, [(chunk, ancestor) for chunk, path in chunks for ancestor in path]
    yield tables.NEXT, [(placed.chunks[a], placed.chunks[b]) for a, b in neighbours(placed.page)]


def relation(said: RelationEdge, pages: Sequence[str], embedding: Vector) -> tuple[Row, Row]:
    """A relation that pages state, and its mirror, with the embedding of the type."""
    kind = said.type
    there = {"type": kind, "stated": True, "pages": pages, "embedding": embedding, **evidence_row(said)}
    return there, {**there, "type": mirror_type(kind), "stated": False, "pages": None}


def relation_type(kind: str, embedding: Vector) -> Row:
    """A relation type."""
    relations_embedded = None if embedding is None or np.isnan(embedding[0]) else True
    return type_row(kind) | {"embedding": embedding, "relations_embedded": relations_embedded}


def alias(uri: str, leads_to: str | None) -> Row:
    """An alias and the page it stands for."""
    name, short_name = names_of(uri)
    return {"uri": uri, "name": name, "short_name": short_name, "leads_to": leads_to}


def store(whole: GraphStore, term_total: int, state: UUID) -> Row:
    """The store's own node. The import counts as the first write; ``state`` identifies the content."""
    embedder, of_pictures, chunker = whole.embedder, whole.image_embedder, whole.chunker
    return {
        "id": 1,
        "schema_version": STORE_VERSION,
        "generation": 1,
        "uuid": str(state),
        "term_total": term_total,
        "embedder": None if embedder is None else embedder.name,
        "embedder_version": None if embedder is None else embedder.version,
        "embedder_dimension": None if embedder is None else embedder.dimension,
        "image_embedder": None if of_pictures is None else of_pictures.name,
        "image_embedder_version": None if of_pictures is None else of_pictures.version,
        "image_embedder_dimension": None if of_pictures is None else of_pictures.dimension,
        "chunker": None if chunker == BLOCKS else chunker,
        "entities": whole.entities,
        "languages": whole.languages,
        "fusion": whole.fusion_decision,
    }
