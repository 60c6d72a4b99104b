"""Constraints, indexes, the store's metadata node, and queries about the server."""

from __future__ import annotations

from typing import LiteralString

from trivium.graph.schema import Label

VECTOR_INDEXES = {
    Label.CHUNK: "chunk_embedding",
    Label.SUBCHAPTER: "subchapter_embedding",
    Label.PAGE: "page_embedding",
    Label.ENTITY: "entity_embedding",
}
"""Label -> name of its vector index."""

WORD_INDEX = "chunk_search_terms"
"""Name of the full-text index."""

CONSTRAINTS: dict[str, LiteralString] = {
    "page_uri": "CREATE CONSTRAINT page_uri IF NOT EXISTS FOR (n:Page) REQUIRE n.uri IS UNIQUE",
    "entity_uri": "CREATE CONSTRAINT entity_uri IF NOT EXISTS FOR (n:Entity) REQUIRE n.uri IS UNIQUE",
    "subchapter_uri": "CREATE CONSTRAINT subchapter_uri IF NOT EXISTS FOR (n:SubChapter) REQUIRE n.uri IS UNIQUE",
    "chunk_uri": "CREATE CONSTRAINT chunk_uri IF NOT EXISTS FOR (n:Chunk) REQUIRE n.uri IS UNIQUE",
    "alias_uri": "CREATE CONSTRAINT alias_uri IF NOT EXISTS FOR (n:Alias) REQUIRE n.uri IS UNIQUE",
    "term_term": "CREATE CONSTRAINT term_term IF NOT EXISTS FOR (n:Term) REQUIRE n.term IS UNIQUE",
    "relation_type": "CREATE CONSTRAINT relation_type IF NOT EXISTS FOR (n:RelationType) REQUIRE n.type IS UNIQUE",
    "question_uri": "CREATE CONSTRAINT question_uri IF NOT EXISTS FOR (n:Question) REQUIRE n.uri IS UNIQUE",
    "trivium_id": "CREATE CONSTRAINT trivium_id IF NOT EXISTS FOR (n:Trivium) REQUIRE n.id IS UNIQUE",
}
"""Constraint name -> statement that creates it."""

INDEXES: dict[str, LiteralString] = {
    "entity_text_hash": "CREATE INDEX entity_text_hash IF NOT EXISTS FOR (n:Entity) ON (n.text_hash)",
    "subchapter_text_hash": "CREATE INDEX subchapter_text_hash IF NOT EXISTS FOR (n:SubChapter) ON (n.text_hash)",
    "chunk_text_hash": "CREATE INDEX chunk_text_hash IF NOT EXISTS FOR (n:Chunk) ON (n.text_hash)",
    "relation_text_hash": "CREATE INDEX relation_text_hash IF NOT EXISTS FOR (n:RelationType) ON (n.text_hash)",
    "entity_name": "CREATE INDEX entity_name IF NOT EXISTS FOR (n:Entity) ON (n.name)",
    "entity_short_name": "CREATE INDEX entity_short_name IF NOT EXISTS FOR (n:Entity) ON (n.short_name)",
    "entity_type": "CREATE INDEX entity_type IF NOT EXISTS FOR (n:Entity) ON (n.type)",
    "alias_name": "CREATE INDEX alias_name IF NOT EXISTS FOR (n:Alias) ON (n.name)",
    "alias_short_name": "CREATE INDEX alias_short_name IF NOT EXISTS FOR (n:Alias) ON (n.short_name)",
    "alias_leads_to": "CREATE INDEX alias_leads_to IF NOT EXISTS FOR (n:Alias) ON (n.leads_to)",
    "semantic_rel_type": "CREATE INDEX semantic_rel_type IF NOT EXISTS FOR ()-[r:semantic_rel]-() ON (r.type)",
    "chunk_search_terms": (
        "CREATE FULLTEXT INDEX chunk_search_terms IF NOT EXISTS FOR (n:Chunk) ON EACH [n.search_terms]"
        " OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}"
    ),
}
"""Index name -> statement that creates it. Vector indexes are created with the first vectors."""

CREATE_VECTOR_INDEX: dict[Label, LiteralString] = {
    Label.CHUNK: (
        "CREATE VECTOR INDEX chunk_embedding IF NOT EXISTS FOR (n:Chunk) ON n.embedding OPTIONS $options"
    ),
    Label.SUBCHAPTER: (
        "CREATE VECTOR INDEX subchapter_embedding IF NOT EXISTS FOR (n:SubChapter) ON n.embedding OPTIONS $options"
    ),
    Label.PAGE: "CREATE VECTOR INDEX page_embedding IF NOT EXISTS FOR (n:Page) ON n.embedding OPTIONS $options",
    Label.ENTITY: (
        "CREATE VECTOR INDEX entity_embedding IF NOT EXISTS FOR (n:Entity) ON n.embedding OPTIONS $options"
    ),
}

DROP_VECTOR_INDEX: dict[Label, LiteralString] = {
    Label.CHUNK: "DROP INDEX chunk_embedding IF EXISTS",
    Label.SUBCHAPTER: "DROP INDEX subchapter_embedding IF EXISTS",
    Label.PAGE: "DROP INDEX page_embedding IF EXISTS",
    Label.ENTITY: "DROP INDEX entity_embedding IF EXISTS",
}

# Name, state, percentage populated, options and failure of every index.
SHOW_INDEXES: LiteralString = (
    "SHOW INDEXES YIELD name, state, populationPercent, options, failureMessage"
    " RETURN name, state, populationPercent, options, failureMessage"
)

# Number of nodes in the database, maintained by the server.
COUNT_NODES: LiteralString = "MATCH (n) RETURN count(n)"

# The schema version, if the database is a store.
READ_VERSION: LiteralString = "MATCH (t:Trivium) RETURN t.schema_version LIMIT 1"

# Turns an empty database into a store.
CREATE_STORE: LiteralString = (
    "MERGE (t:Trivium {id: 1}) ON CREATE SET t.schema_version = $version, t.generation = 0,"
    " t.uuid = randomUUID(), t.term_total = 0"
)

# Reverts this, if the database contains nothing else.
DISCARD_STORE: LiteralString = "MATCH (t:Trivium) WHERE COUNT { MATCH (n) } = 1 DELETE t RETURN count(*)"
DROP_CONSTRAINT: LiteralString = "DROP CONSTRAINT $name IF EXISTS"
DROP_INDEX: LiteralString = "DROP INDEX $name IF EXISTS"

# Fails on servers without the SEARCH clause, whatever indexes exist.
EXPLAIN_SEARCH: LiteralString = (
    "EXPLAIN CYPHER 25 MATCH (c:Chunk) SEARCH c IN (VECTOR INDEX chunk_embedding FOR $vector LIMIT $k) SCORE AS s"
    " RETURN c.uri, s"
)

# The configured addresses of the server's web pages.
WEB_SETTINGS: LiteralString = """
SHOW SETTINGS
  'server.http.enabled', 'server.http.listen_address', 'server.http.advertised_address',
  'server.https.enabled', 'server.https.listen_address', 'server.https.advertised_address'
YIELD name, value
RETURN name, value
"""
