"""Queries that change a store of version 9, whose chunks had everything on one node and whose nodes had no titles."""

from __future__ import annotations

from typing import LiteralString

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

SET_TITLES: LiteralString = (
    "UNWIND $rows AS row MATCH (n) WHERE elementId(n) = row[0] SET n.title = row[1] RETURN count(n)"
)

SET_VERSION: LiteralString = "MATCH (t:TriviumStore {id: 1}) SET t.schema_version = $version"

DROP_OLD_INDEX: LiteralString = "DROP INDEX trivium_chunk_search_terms IF EXISTS"
