"""Queries that keep vectors of texts. Each takes a list of rows, and finds nodes by an indexed key or by element id."""

from __future__ import annotations

from typing import LiteralString

# -- the embedder ------------------------------------------------------------------------------------------------

READ_EMBEDDER: LiteralString = """
MATCH (t:TriviumStore {id: 1}) WHERE t.embedder IS NOT NULL
RETURN t.embedder, t.embedder_version, t.embedder_dimension
"""

SET_EMBEDDER: LiteralString = """
MATCH (t:TriviumStore {id: 1})
SET t.embedder = $name, t.embedder_version = $version, t.embedder_dimension = $dimension
"""

ANY_VECTOR: LiteralString = """
CALL () {
  MATCH (n:TriviumChunk) WHERE n.uri IS NOT NULL AND n.embedding IS NOT NULL RETURN 1 AS one LIMIT 1
  UNION ALL
  MATCH (n:TriviumChunkData) WHERE n.uri IS NOT NULL AND n.sentences IS NOT NULL RETURN 1 AS one LIMIT 1
  UNION ALL
  MATCH (n:TriviumSubChapter) WHERE n.uri IS NOT NULL AND n.embedding IS NOT NULL RETURN 1 AS one LIMIT 1
  UNION ALL
  MATCH (n:TriviumEntity) WHERE n.uri IS NOT NULL AND n.embedding IS NOT NULL RETURN 1 AS one LIMIT 1
  UNION ALL
  MATCH (n:TriviumRelationType) WHERE n.type IS NOT NULL AND n.embedding IS NOT NULL RETURN 1 AS one LIMIT 1
}
RETURN count(one) > 0
"""

# -- of nodes ----------------------------------------------------------------------------------------------------

# The vector of each text, from some node that has it.
FIND_VECTORS: LiteralString = """
UNWIND $hashes AS hash
CALL (hash) {
  MATCH (n:TriviumChunk {text_hash: hash}) WHERE n.embedding IS NOT NULL RETURN n.embedding AS vector LIMIT 1
  UNION ALL
  MATCH (n:TriviumSubChapter {text_hash: hash}) WHERE n.embedding IS NOT NULL RETURN n.embedding AS vector LIMIT 1
  UNION ALL
  MATCH (n:TriviumEntity {text_hash: hash}) WHERE n.embedding IS NOT NULL RETURN n.embedding AS vector LIMIT 1
  UNION ALL
  MATCH (n:TriviumRelationType {text_hash: hash}) WHERE n.embedding IS NOT NULL RETURN n.embedding AS vector LIMIT 1
}
RETURN hash, head(collect(vector))
"""

SET_VECTORS: LiteralString = """
UNWIND $rows AS row
CALL (row) {
  MATCH (n:TriviumChunk {text_hash: row.hash}) RETURN n
  UNION ALL
  MATCH (n:TriviumSubChapter {text_hash: row.hash}) RETURN n
  UNION ALL
  MATCH (n:TriviumEntity {text_hash: row.hash}) RETURN n
  UNION ALL
  MATCH (n:TriviumRelationType {text_hash: row.hash}) RETURN n
}
CALL db.create.setNodeVectorProperty(n, 'embedding', row.vector)
"""

# Only chunks have sentence vectors.
FIND_SENTENCES: LiteralString = """
UNWIND $hashes AS hash
CALL (hash) {
  MATCH (c:TriviumChunk {text_hash: hash})
  MATCH (d:TriviumChunkData {uri: c.uri}) WHERE d.sentences IS NOT NULL RETURN d.sentences AS sentences LIMIT 1
}
RETURN hash, sentences
"""

SET_SENTENCES: LiteralString = """
UNWIND $rows AS row MATCH (c:TriviumChunk {text_hash: row.hash})
MATCH (d:TriviumChunkData {uri: c.uri}) SET d.sentences = row.sentences
"""

# -- of relations ------------------------------------------------------------------------------------------------

# Some relations of a type, or mirrors of them, that lack its embedding.
EMBED_RELATIONS: LiteralString = """
MATCH (t:TriviumRelationType {type: $type}) WHERE t.embedding IS NOT NULL
MATCH (:TriviumEntity)-[r:semantic_rel {type: $relation}]->(:TriviumEntity)
WHERE r.stated = $stated AND (r.embedding IS NULL OR r.embedding <> t.embedding)
WITH t, r LIMIT $limit
CALL db.create.setRelationshipVectorProperty(r, 'embedding', t.embedding)
RETURN count(r)
"""

MARK_TYPE: LiteralString = """
MATCH (t:TriviumRelationType {type: $type}) WHERE t.embedding IS NOT NULL SET t.relations_embedded = true
"""

UNMARK_TYPES: LiteralString = (
    "UNWIND $hashes AS hash MATCH (t:TriviumRelationType {text_hash: hash}) REMOVE t.relations_embedded"
)
