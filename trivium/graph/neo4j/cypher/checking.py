"""Queries that find and remove inconsistencies.

Those of :data:`RULES` return the nodes that violate a rule of the graph, as one list of uris. Most others iterate over
the store in batches, like those of :mod:`trivium.graph.neo4j.cypher.scanning`.
"""

from __future__ import annotations

from functools import cache
from typing import LiteralString

from trivium.graph.neo4j.cypher.schema import ANY_NODE
from trivium.graph.schema import Label

RULES: dict[str, LiteralString] = {
    "chunks do not stand under exactly one section or page, or belong to exactly one page": """
MATCH (c:TriviumChunk)
WHERE COUNT { (c)<-[:has_chunk]-(:TriviumPage|TriviumSubChapter) } <> 1
   OR COUNT { (c)-[:is_chunk_of]->(:TriviumPage) } <> 1
RETURN collect(c.uri)
""",
    "sections do not stand under exactly one section or page, or belong to exactly one page": """
MATCH (s:TriviumSubChapter)
WHERE COUNT { (s)<-[:has_subchapter]-(:TriviumPage|TriviumSubChapter) } <> 1
   OR COUNT { (s)-[:is_subchapter_of]->(:TriviumPage) } <> 1
RETURN collect(s.uri)
""",
    "chunks are without what belongs to them for the program's own use": """
MATCH (c:TriviumChunk) WHERE NOT EXISTS { (:TriviumChunkData {uri: c.uri}) } RETURN collect(c.uri)
""",
    "chunks cite an entity that does not know it": """
MATCH (c:TriviumChunk)
WHERE COUNT { (c)-[:cites]->(:TriviumEntity) } <> COUNT { (c)<-[:cited_in]-(:TriviumEntity) }
   OR EXISTS { MATCH (c)-[:cites]->(e:TriviumEntity) WHERE NOT EXISTS { (e)-[:cited_in]->(c) } }
RETURN collect(c.uri)
""",
    "chunks come next to one that does not come before them": """
MATCH (c:TriviumChunk)
WHERE COUNT { (c)-[:next]->(:TriviumChunk) } > 1 OR COUNT { (c)-[:previous]->(:TriviumChunk) } > 1
   OR EXISTS { MATCH (c)-[:next]->(d:TriviumChunk) WHERE NOT EXISTS { (d)-[:previous]->(c) } }
   OR EXISTS { MATCH (c)-[:previous]->(d:TriviumChunk) WHERE NOT EXISTS { (d)-[:next]->(c) } }
RETURN collect(c.uri)
""",
    "relations are stated without their mirror, or are of a type that is not known": """
MATCH (a:TriviumEntity)-[r:semantic_rel]->(b:TriviumEntity) WHERE r.stated
  AND (NOT EXISTS { MATCH (b)-[m:semantic_rel]->(a) WHERE NOT m.stated AND m.type = 'is_' + r.type + '_of' }
       OR NOT EXISTS { (:TriviumRelationType {type: r.type}) })
UNWIND r.pages AS page RETURN collect(page)
""",
}
"""Problem -> query for the pages concerned, or their sections and chunks."""

# Unreferenced nodes: entities, aliases, relation types, chunks and sections without a page, questions without a
# chunk.
LEFTOVERS: LiteralString = """
CALL () {
  MATCH (e:TriviumEntity) WHERE NOT e:TriviumPage AND NOT EXISTS { (e)--() } RETURN e AS node
  UNION ALL
  MATCH (a:TriviumAlias) WHERE NOT EXISTS { (a)-[:alias_of]->(:TriviumPage) } RETURN a AS node
  UNION ALL
  MATCH (t:TriviumRelationType)
  WHERE NOT EXISTS { MATCH (:TriviumEntity)-[r:semantic_rel {type: t.type}]->(:TriviumEntity) WHERE r.stated }
  RETURN t AS node
  UNION ALL
  MATCH (c:TriviumChunk) WHERE NOT EXISTS { (c)-[:is_chunk_of]->(:TriviumPage) } RETURN c AS node
  UNION ALL
  MATCH (d:TriviumChunkData) WHERE NOT EXISTS { (:TriviumChunk {uri: d.uri}) } RETURN d AS node
  UNION ALL
  MATCH (s:TriviumSubChapter) WHERE NOT EXISTS { (s)-[:is_subchapter_of]->(:TriviumPage) } RETURN s AS node
  UNION ALL
  MATCH (q:TriviumQuestion) WHERE NOT EXISTS { (q)<-[:is_answer_of]-(:TriviumChunk) } RETURN q AS node
}
RETURN collect([elementId(node), coalesce(node.uri, node.type, '')])
"""

# Element ids may have been given to new nodes meanwhile, of another program too.
DROP_NODES: LiteralString = f"""
UNWIND $ids AS id MATCH (n:{ANY_NODE}) WHERE elementId(n) = id DETACH DELETE n
"""

# -- terms and vectors -------------------------------------------------------------------------------------------

CHUNK_TERMS: LiteralString = """
MATCH (d:TriviumChunkData) WHERE d.uri >= $after
WITH d ORDER BY d.uri LIMIT $limit RETURN collect([coalesce(d.search_terms, ''), d.uri])
"""

TERMS: LiteralString = """
MATCH (t:TriviumTerm) WHERE t.term >= $after
WITH t ORDER BY t.term LIMIT $limit RETURN collect([t.df, t.term])
"""

ALL_TERMS: LiteralString = "MATCH (d:TriviumChunkData) RETURN coalesce(d.search_terms, '')"

TERM_TOTAL: LiteralString = "MATCH (t:TriviumStore {id: 1}) RETURN t.term_total"

DROP_TERMS: LiteralString = "MATCH (t:TriviumTerm) DETACH DELETE t"

SET_TERMS: LiteralString = "UNWIND $rows AS row CREATE (:Term:TriviumTerm {term: row[0], df: row[1]})"

SET_TERM_TOTAL: LiteralString = "MATCH (t:TriviumStore {id: 1}) SET t.term_total = $total"


@cache
def vector_sizes(label: Label) -> LiteralString:
    """Query for the length and the sum of squares of nodes' vectors, and the hashes of their texts."""
    return f"""
    MATCH (n:Trivium{label}) WHERE n.uri >= $after AND n.embedding IS NOT NULL
    WITH n ORDER BY n.uri LIMIT $limit
    RETURN collect([size(n.embedding), reduce(sum = 0.0, x IN n.embedding | sum + x * x), n.text_hash, n.uri])
    """


# Removes vectors, and those of sentences, by the hashes of their texts.
DROP_VECTORS: LiteralString = """
UNWIND $hashes AS hash
CALL (hash) {
  MATCH (n:TriviumChunk {text_hash: hash}) RETURN n
  UNION ALL
  MATCH (n:TriviumSubChapter {text_hash: hash}) RETURN n
  UNION ALL
  MATCH (n:TriviumEntity {text_hash: hash}) RETURN n
  UNION ALL
  MATCH (n:TriviumRelationType {text_hash: hash}) RETURN n
}
REMOVE n.embedding, n.relations_embedded
WITH n MATCH (d:TriviumChunkData {uri: n.uri}) REMOVE d.sentences
"""

# Relation types marked as embedded with relations, or mirrors of them, that lack the type's embedding, and such whose
# relations are to have a typed relationship and lack it.
OTHER_RELATIONS: LiteralString = """
MATCH (t:TriviumRelationType) WHERE t.embedding IS NOT NULL AND t.relations_embedded
  AND (EXISTS { MATCH (:TriviumEntity)-[r:semantic_rel {type: t.type}]->(:TriviumEntity)
                WHERE r.stated AND (r.embedding IS NULL OR r.embedding <> t.embedding) }
       OR EXISTS { MATCH (:TriviumEntity)-[r:semantic_rel {type: 'is_' + t.type + '_of'}]->(:TriviumEntity)
                   WHERE NOT r.stated AND (r.embedding IS NULL OR r.embedding <> t.embedding) })
  OR t.typed IS NOT NULL
     AND EXISTS { MATCH (a:TriviumEntity)-[r:semantic_rel {type: t.type}]->(b:TriviumEntity)
                  WHERE r.stated AND NOT EXISTS {
                    MATCH (a)-[x]->(b) WHERE x.semantic_rel = t.type AND type(x) = t.typed } }
RETURN collect(t.type)
"""

UNMARK_TYPES: LiteralString = (
    "UNWIND $types AS type MATCH (t:TriviumRelationType {type: type}) REMOVE t.relations_embedded, t.typed"
)

# -- pages -------------------------------------------------------------------------------------------------------

PAGE_DIGESTS: LiteralString = """
MATCH (p:TriviumPage) WHERE p.uri >= $after AND p.digest IS NOT NULL
WITH p ORDER BY p.uri LIMIT $limit RETURN collect([p.digest, p.uri])
"""

GIVE_UP_PAGES: LiteralString = """
UNWIND $uris AS uri MATCH (p:TriviumPage {uri: uri}) SET p.content_hash = '' REMOVE p.revision
"""
