"""Labels, relationship types and indexes beside those of :mod:`trivium.graph.schema`: the books of a Neo4j store."""

from __future__ import annotations

from enum import StrEnum

from trivium.graph.schema import Label


class Book(StrEnum):
    """Node labels that keep the books."""

    ALIAS = "Alias"
    TERM = "Term"
    RELATION_TYPE = "RelationType"
    STORE = "Trivium"


ALIAS_OF = "alias_of"

VECTOR_INDEXES = {
    Label.CHUNK: "chunk_embedding",
    Label.SUBCHAPTER: "subchapter_embedding",
    Label.PAGE: "page_embedding",
    Label.ENTITY: "entity_embedding",
}
WORD_INDEX = "chunk_search_terms"
