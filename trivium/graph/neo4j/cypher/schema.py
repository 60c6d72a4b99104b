"""Marks of the store's nodes, constraints, indexes, the store's metadata node, and queries about the server.

Every node of the store has, beside its label, a mark: that label with the prefix ``Trivium``. All queries and indexes
go by the marks, so that nodes of other programs in the same database are never touched, whatever their labels. The
metadata node has the mark only. Queries are written with these names; a store with a prefix of its own has that in
their place, see :func:`with_prefix`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import LiteralString

from trivium.graph.node_properties import InternalLabel
from trivium.graph.schema import Label

VECTOR_INDEXES: dict[str, LiteralString] = {
    Label.CHUNK: "trivium_chunk_embedding",
    Label.SUBCHAPTER: "trivium_subchapter_embedding",
    Label.PAGE: "trivium_page_embedding",
    Label.ENTITY: "trivium_entity_embedding",
    InternalLabel.RELATION_TYPE: "trivium_relation_type_embedding",
}
"""Label -> name of its vector index."""

WORD_INDEX: LiteralString = "trivium_search_terms"
"""Name of the full-text index."""

_KEYS: tuple[tuple[LiteralString, LiteralString, LiteralString], ...] = (
    ("trivium_page_uri", "Page", "uri"),
    ("trivium_entity_uri", "Entity", "uri"),
    ("trivium_subchapter_uri", "SubChapter", "uri"),
    ("trivium_chunk_uri", "Chunk", "uri"),
    ("trivium_chunk_data_uri", "ChunkData", "uri"),
    ("trivium_alias_uri", "Alias", "uri"),
    ("trivium_term_term", "Term", "term"),
    ("trivium_relation_type", "RelationType", "type"),
    ("trivium_question_uri", "Question", "uri"),
    ("trivium_store_id", "Store", "id"),
)

_LOOKED_UP: tuple[tuple[LiteralString, LiteralString, LiteralString], ...] = (
    ("trivium_entity_text_hash", "Entity", "text_hash"),
    ("trivium_subchapter_text_hash", "SubChapter", "text_hash"),
    ("trivium_chunk_text_hash", "Chunk", "text_hash"),
    ("trivium_relation_text_hash", "RelationType", "text_hash"),
    ("trivium_entity_name", "Entity", "name"),
    ("trivium_entity_short_name", "Entity", "short_name"),
    ("trivium_entity_type", "Entity", "type"),
    ("trivium_alias_name", "Alias", "name"),
    ("trivium_alias_short_name", "Alias", "short_name"),
    ("trivium_alias_leads_to", "Alias", "leads_to"),
)

CONSTRAINTS: dict[str, LiteralString] = {
    name: f"CREATE CONSTRAINT {name} IF NOT EXISTS FOR (n:Trivium{label}) REQUIRE n.{key} IS UNIQUE"
    for name, label, key in _KEYS
}
"""Constraint name -> statement that creates it."""

INDEXES: dict[str, LiteralString] = {
    **{
        name: f"CREATE INDEX {name} IF NOT EXISTS FOR (n:Trivium{label}) ON (n.{key})"
        for name, label, key in _LOOKED_UP
    },
    "trivium_semantic_rel_type": (
        "CREATE INDEX trivium_semantic_rel_type IF NOT EXISTS FOR ()-[r:semantic_rel]-() ON (r.type)"
    ),
    WORD_INDEX: (
        f"CREATE FULLTEXT INDEX {WORD_INDEX} IF NOT EXISTS FOR (n:TriviumChunkData) ON EACH [n.search_terms]"
        " OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}"
    ),
}
"""Index name -> statement that creates it. Vector indexes are created with the first vectors."""

CREATE_VECTOR_INDEX: dict[str, LiteralString] = {
    label: f"CREATE VECTOR INDEX {name} IF NOT EXISTS FOR (n:Trivium{label}) ON n.embedding OPTIONS $options"
    for label, name in VECTOR_INDEXES.items()
}

DROP_VECTOR_INDEX: dict[str, LiteralString] = {
    label: f"DROP INDEX {name} IF EXISTS" for label, name in VECTOR_INDEXES.items()
}

NAMES = frozenset({*CONSTRAINTS, *INDEXES, *VECTOR_INDEXES.values()})
"""Names of all constraints and indexes of a store."""

ANY_NODE: LiteralString = "|".join(f"Trivium{label}" for _, label, _ in _KEYS if label != "Store")
"""Label expression for every node of a store but its metadata node."""

# Name, state, percentage populated, options and failure of every index of the store.
SHOW_INDEXES: LiteralString = (
    "SHOW INDEXES YIELD name, state, populationPercent, options, failureMessage WHERE name IN $names"
    " RETURN name, state, populationPercent, options, failureMessage"
)

# The schema version, if there is a store.
READ_VERSION: LiteralString = "MATCH (t:TriviumStore {id: 1}) RETURN t.schema_version"

ANY_CONTENT: LiteralString = f"RETURN EXISTS {{ (:{ANY_NODE}) }}"

# Makes a store where there is none.
CREATE_STORE: LiteralString = (
    "MERGE (t:TriviumStore {id: 1}) ON CREATE SET t.schema_version = $version, t.generation = 0,"
    " t.uuid = randomUUID(), t.term_total = 0"
)

# Reverts this, if the store has no content.
DISCARD_STORE: LiteralString = (
    f"MATCH (t:TriviumStore) WHERE NOT EXISTS {{ (:{ANY_NODE}) }} DETACH DELETE t RETURN count(*)"
)
DROP_CONSTRAINT: LiteralString = "DROP CONSTRAINT $name IF EXISTS"
DROP_INDEX: LiteralString = "DROP INDEX $name IF EXISTS"

# -- the server ----------------------------------------------------------------------------------------------------

# Fails on servers without the SEARCH clause, whatever indexes exist.
EXPLAIN_SEARCH: LiteralString = (
    "EXPLAIN CYPHER 25 MATCH (c:TriviumChunk)"
    " SEARCH c IN (VECTOR INDEX trivium_chunk_embedding FOR $vector LIMIT $k) SCORE AS s RETURN c.uri, s"
)

# The configured addresses of the server's web pages.
WEB_SETTINGS: LiteralString = """
SHOW SETTINGS
  'server.http.enabled', 'server.http.listen_address', 'server.http.advertised_address',
  'server.https.enabled', 'server.https.listen_address', 'server.https.advertised_address'
YIELD name, value
RETURN name, value
"""

# -- a store of the version before: everything of a chunk on one node, and no titles ------------------------------------

MOVE_DATA: LiteralString = """
MATCH (c:TriviumChunk) WHERE c.heading_count IS NOT NULL WITH c LIMIT $limit
MERGE (d:TriviumChunkData {uri: c.uri})
SET d:ChunkData:TriviumChunkData, d.search_terms = coalesce(c.search_terms, ''), d.heading_count = c.heading_count,
  d.sentences = c.sentences, d.thumbnail = c.thumbnail, d.picture_vector = c.picture_vector
REMOVE c.search_terms, c.heading_count, c.sentences, c.thumbnail, c.picture_vector
RETURN count(c)
"""

UNTITLED: LiteralString = """
MATCH (n:TriviumEntity|TriviumSubChapter|TriviumChunk) WHERE n.title IS NULL AND n.uri IS NOT NULL
WITH n LIMIT $limit RETURN collect([elementId(n), n.uri])
"""

SET_TITLES: LiteralString = "UNWIND $rows AS row MATCH (n) WHERE elementId(n) = row[0] SET n.title = row[1]"

DROP_OLD_INDEX: LiteralString = "DROP INDEX trivium_chunk_search_terms IF EXISTS"

# -- a prefix of one's own -----------------------------------------------------------------------------------------

_PLAIN = re.compile(r":[A-Z]\w*(?=:Trivium[A-Z])")
_NAME = re.compile(r"\bTrivium(?=[A-Z])|\btrivium(?=_(?!semantic_rel))")
"""The index on relationships is one for all stores of a database, as their type is."""


@cache
def with_prefix(text: LiteralString, prefix: str) -> LiteralString:
    """Return a query, or a name, as a store with a prefix has it: marks and indexes begin with that, and nodes have no
    label but their marks.

    >>> with_prefix("CREATE (:Term:TriviumTerm)", "Acme"), with_prefix("trivium_chunk_uri", "Acme")
    ('CREATE (:AcmeTerm)', 'Acme_chunk_uri')
    """
    return _NAME.sub(prefix, _PLAIN.sub("", text))
