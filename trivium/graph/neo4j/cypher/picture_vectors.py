"""Vectors of pictures."""

from __future__ import annotations

from typing import LiteralString

READ_EMBEDDER: LiteralString = """
MATCH (t:TriviumStore {id: 1}) WHERE t.image_embedder IS NOT NULL
RETURN t.image_embedder, t.image_embedder_version, t.image_embedder_dimension
"""

SET_EMBEDDER: LiteralString = """
MATCH (t:TriviumStore {id: 1})
SET t.image_embedder = $name, t.image_embedder_version = $version, t.image_embedder_dimension = $dimension
"""

ANY_VECTOR: LiteralString = "RETURN EXISTS { MATCH (c:TriviumChunk) WHERE c.picture_vector IS NOT NULL }"

PENDING: LiteralString = """
MATCH (c:TriviumChunk) WHERE c.thumbnail IS NOT NULL AND c.picture_vector IS NULL
RETURN collect(c.uri)
"""

# Skips pictures that have changed since they were read.
SET_VECTORS: LiteralString = """
UNWIND $rows AS row
MATCH (c:TriviumChunk {uri: row.uri}) WHERE c.thumbnail = row.thumbnail
SET c.picture_vector = row.vector
"""

VECTORS: LiteralString = """
MATCH (c:TriviumChunk) WHERE c.uri >= $after AND c.picture_vector IS NOT NULL
WITH c ORDER BY c.uri LIMIT $limit RETURN collect([c.picture_vector, c.uri])
"""
