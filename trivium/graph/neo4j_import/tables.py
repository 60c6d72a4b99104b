"""The files of an export: their tables and columns, and the lines made of rows.

A table is one or more files under one header. Nodes of all labels share one row of numbers, so that a relationship
names its ends by two of them. Mirrored relationships are the same file read under another header.

Lines are not written by :mod:`csv`: to the importer a bare empty field is no value and ``""`` is the empty string, a
difference that module cannot write before Python 3.12. Quotes are doubled; nothing else is special within them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import numpy as np
import orjson

from trivium.errors import StoreError
from trivium.graph.node_properties import ALIAS_OF, InternalLabel
from trivium.graph.records import Vectors
from trivium.graph.schema import QUESTION, Label, RelationshipType

SEPARATOR = "\x1f"
"""Between the elements of a list. Titles have no control characters."""


class Kind(StrEnum):
    """Types of columns, as headers name them."""

    TEXT = "string"
    TEXTS = "string[]"
    NUMBER = "long"
    FLAG = "boolean"
    VECTOR = "float[]"
    LABEL = "LABEL"
    """Of a node, beside those of its table; its column has no name."""


def text_field(value: str) -> str:
    """Any string as a field.

    >>> text_field('the "red" planet')
    '"the ""red"" planet"'
    """
    return '"' + value.replace('"', '""') + '"'


def texts_field(values: Sequence[str]) -> str:
    """A list of strings; no value for an empty one, because the importer cannot create empty lists.

    Raises StoreError for two kinds of lists that the importer would read as other lists.
    """
    joined = SEPARATOR.join(values)
    if joined.count(SEPARATOR) != max(len(values) - 1, 0):
        wrong = next(value for value in values if SEPARATOR in value)
        raise StoreError(
            f"expected titles and relation types without the control character U+001F, got {wrong[:80]!r}: it"
            " separates them in bulk files; load this store page by page instead"
        )
    if values and not joined:
        raise StoreError(
            "expected titles and relation types that are not empty, got an empty one that stands alone: bulk files"
            " cannot say it; load this store page by page instead"
        )
    return text_field(joined) if joined else ""


def vector_field(values: Vectors) -> str:
    """A vector (d,); none for one of NaN. Each number has just enough digits to be read back in single precision. orjson
    formats them eight times as fast as Python."""
    if np.isnan(values[0]):
        return ""
    numbers = orjson.dumps(np.ascontiguousarray(values, np.float32), option=orjson.OPT_SERIALIZE_NUMPY)
    return numbers[1:-1].decode().replace(",", SEPARATOR)


def _flag_field(value: bool) -> str:
    return "true" if value else "false"


ENCODERS: dict[Kind, Callable[[Any], str]] = {
    Kind.TEXT: text_field,
    Kind.TEXTS: texts_field,
    Kind.NUMBER: str,
    Kind.FLAG: _flag_field,
    Kind.VECTOR: vector_field,
    Kind.LABEL: text_field,
}


Properties = Mapping[str, Kind]
_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class NodeTable:
    """Nodes that all have the same labels."""

    name: str
    labels: tuple[str, ...]
    properties: Properties

    def header(self) -> str:
        """The line that names the columns."""
        return ",".join([":ID", *_columns(self.properties)]) + "\n"

    def line(self, number: int, row: Mapping[str, Any]) -> str:
        """A node of that number. ``row`` has every property, None for one the node is without."""
        return f"{number}{_fields(self.properties, row)}\n"


@dataclass(frozen=True, slots=True)
class RelationshipTable:
    """Relationships of one type. ``mirror`` is the type of those that lead back, with no properties."""

    name: str
    type: str
    properties: Properties
    mirror: RelationshipType | None = None

    def header(self) -> str:
        """The line that names the columns."""
        return ",".join([":START_ID", ":END_ID", *_columns(self.properties)]) + "\n"

    def mirrored_header(self) -> str:
        """The same columns, read backwards."""
        return ",".join([":END_ID", ":START_ID", *(f"{name}:IGNORE" for name in self.properties)]) + "\n"

    def line(self, start: int, end: int, row: Mapping[str, Any] = _NONE) -> str:
        """A relationship between two nodes. ``row`` has every property, None for one it is without."""
        return f"{start},{end}{_fields(self.properties, row)}\n"


def _columns(properties: Properties) -> list[str]:
    return [f"{name}:{kind}" for name, kind in properties.items()]


def _fields(properties: Properties, row: Mapping[str, Any]) -> str:
    """Each field with the comma before it."""
    values = [(row[name], ENCODERS[kind]) for name, kind in properties.items()]
    return "".join(["," if value is None else f",{encode(value)}" for value, encode in values])


_EMBEDDED: Properties = {
    "title": Kind.TEXT,
    "text": Kind.TEXT,
    "text_hash": Kind.TEXT,
    "embedding": Kind.VECTOR,
}
_PLACE: Properties = {"chunk": Kind.TEXT, "start": Kind.NUMBER, "end": Kind.NUMBER}
_NAMED: Properties = {"uri": Kind.TEXT, "name": Kind.TEXT, "short_name": Kind.TEXT}

ENTITIES = NodeTable("entities", (Label.ENTITY,), {**_NAMED, **_EMBEDDED, "type": Kind.TEXT, "": Kind.LABEL})
PAGES = NodeTable(
    "pages",
    (Label.ENTITY, Label.PAGE),
    {
        **ENTITIES.properties,
        "source": Kind.TEXT,
        "revision": Kind.NUMBER,
        "content_hash": Kind.TEXT,
        "digest": Kind.TEXT,
        "body": Kind.TEXT,
        "format": Kind.TEXT,
        "path": Kind.TEXT,
        "modified": Kind.TEXT,
        "metadata": Kind.TEXT,
        "added": Kind.TEXT,
        "aliases": Kind.TEXTS,
        "relation_sources": Kind.TEXTS,
        "relation_types": Kind.TEXTS,
        "relation_targets": Kind.TEXTS,
        "relation_places": Kind.TEXTS,
    },
)
SECTIONS = NodeTable(
    "sections",
    (Label.SUBCHAPTER,),
    {
        "uri": Kind.TEXT,
        **_EMBEDDED,
        "level": Kind.NUMBER,
        "position": Kind.NUMBER,
        "anchors": Kind.TEXTS,
    },
)
CHUNKS = NodeTable(
    "chunks",
    (Label.CHUNK,),
    {
        "uri": Kind.TEXT,
        **_EMBEDDED,
        "kind": Kind.TEXT,
        "position": Kind.NUMBER,
        "start": Kind.NUMBER,
        "end": Kind.NUMBER,
        "token_count": Kind.NUMBER,
        "first_page": Kind.NUMBER,
        "last_page": Kind.NUMBER,
        "citations": Kind.TEXTS,
        "anchors": Kind.TEXTS,
        "names": Kind.TEXTS,
        "name_places": Kind.TEXTS,
    },
)
CHUNK_DATA = NodeTable(
    "chunk_data",
    (InternalLabel.CHUNK_DATA,),
    {
        "uri": Kind.TEXT,
        "search_terms": Kind.TEXT,
        "heading_count": Kind.NUMBER,
        "sentences": Kind.TEXT,
        "thumbnail": Kind.TEXT,
        "picture_vector": Kind.TEXT,
    },
)
QUESTIONS = NodeTable("questions", (QUESTION,), {"uri": Kind.TEXT, "text": Kind.TEXT, "answers": Kind.TEXTS})
ALIASES = NodeTable("aliases", (InternalLabel.ALIAS,), {**_NAMED, "leads_to": Kind.TEXT})
TERMS = NodeTable("terms", (InternalLabel.TERM,), {"term": Kind.TEXT, "df": Kind.NUMBER})
RELATION_TYPES = NodeTable(
    "relation_types",
    (InternalLabel.RELATION_TYPE,),
    {"type": Kind.TEXT, "text_hash": Kind.TEXT, "embedding": Kind.VECTOR, "relations_embedded": Kind.FLAG},
)
STORE = NodeTable(
    "store",
    (InternalLabel.STORE,),
    {
        "id": Kind.NUMBER,
        "schema_version": Kind.NUMBER,
        "generation": Kind.NUMBER,
        "uuid": Kind.TEXT,
        "term_total": Kind.NUMBER,
        "embedder": Kind.TEXT,
        "embedder_version": Kind.TEXT,
        "embedder_dimension": Kind.NUMBER,
        "image_embedder": Kind.TEXT,
        "image_embedder_version": Kind.TEXT,
        "image_embedder_dimension": Kind.NUMBER,
        "chunker": Kind.TEXT,
        "entities": Kind.TEXT,
        "languages": Kind.TEXT,
        "fusion": Kind.TEXT,
    },
)
NODES = (PAGES, ENTITIES, SECTIONS, CHUNKS, CHUNK_DATA, QUESTIONS, ALIASES, TERMS, RELATION_TYPES, STORE)

HAS_SUBCHAPTER = RelationshipTable("has_subchapter", RelationshipType.HAS_SUBCHAPTER, {})
IS_SUBCHAPTER_OF = RelationshipTable("is_subchapter_of", RelationshipType.IS_SUBCHAPTER_OF, {})
HAS_CHUNK = RelationshipTable("has_chunk", RelationshipType.HAS_CHUNK, {})
IS_CHUNK_OF = RelationshipTable("is_chunk_of", RelationshipType.IS_CHUNK_OF, {})
NEXT = RelationshipTable("next", RelationshipType.NEXT, {}, RelationshipType.PREVIOUS)
CITES = RelationshipTable(
    "cites", RelationshipType.CITES, {"position": Kind.NUMBER}, RelationshipType.CITED_IN
)
SEMANTIC_REL = RelationshipTable(
    "semantic_rel",
    RelationshipType.SEMANTIC_REL,
    {"type": Kind.TEXT, "stated": Kind.FLAG, "pages": Kind.TEXTS, **_PLACE, "embedding": Kind.VECTOR},
)
IS_ANSWER_OF = RelationshipTable("is_answer_of", RelationshipType.IS_ANSWER_OF, {})
ALIASED = RelationshipTable("alias_of", ALIAS_OF, {})
RELATIONSHIPS = (
    HAS_SUBCHAPTER,
    IS_SUBCHAPTER_OF,
    HAS_CHUNK,
    IS_CHUNK_OF,
    NEXT,
    CITES,
    SEMANTIC_REL,
    IS_ANSWER_OF,
    ALIASED,
)


def headers() -> Iterator[tuple[str, str]]:
    """(name of the file, its line) of every header."""
    for table in (*NODES, *RELATIONSHIPS):
        yield table.name, table.header()
        if isinstance(table, RelationshipTable) and table.mirror is not None:
            yield table.mirror, table.mirrored_header()
