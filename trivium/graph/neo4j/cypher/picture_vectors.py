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

ANY_VECTOR: LiteralString = "RETURN EXISTS { MATCH (d:TriviumChunkData) WHERE d.picture_vector IS NOT NULL }"

PENDING: LiteralString = """
MATCH (d:TriviumChunkData) WHERE d.thumbnail IS NOT NULL AND d.picture_vector IS NULL
RETURN collect(d.uri)
"""

# Skips pictures that have changed since they were read.
SET_VECTORS: LiteralString = """
UNWIND $rows AS row
MATCH (d:TriviumChunkData {uri: row.uri}) WHERE d.thumbnail = row.thumbnail
SET d.picture_vector = row.vector
"""

VECTORS: LiteralString = """
MATCH (d:TriviumChunkData) WHERE d.uri >= $after AND d.picture_vector IS NOT NULL
WITH d ORDER BY d.uri LIMIT $limit RETURN collect([d.picture_vector, d.uri])
"""
