"""Embeddings as they are, for who reckons with them: kept in memory, only the missing ones are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import LiteralString

import numpy as np

from trivium.common.iteration import batched
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher import reading as cypher
from trivium.graph.neo4j.memory import Memory
from trivium.graph.schema import Label
from trivium.graph.store import Vectors

_AT_ONCE = 2_000
"""Vectors in one answer: a few megabytes."""
_RELATION = "relation type"


def vectors(connection: Connection, memory: Memory, label: Label, uris: Sequence[str]) -> Vectors:
    """Embeddings (n x d) of nodes; a row of NaN where the node is unknown or has none."""
    return _rows(connection, memory, label, cypher.vectors(label), uris)


def relation_vectors(connection: Connection, memory: Memory, types: Sequence[str]) -> Vectors:
    """Embeddings of relation types (n x d), NaN rows where unknown."""
    return _rows(connection, memory, _RELATION, cypher.RELATION_VECTORS, types)


def _rows(
    connection: Connection, memory: Memory, kind: str, query: LiteralString, keys: Sequence[str]
) -> Vectors:
    standing = memory.standing(connection)
    wanted = dict.fromkeys(keys)
    known = memory.vectors.find(standing.state, ((kind, key) for key in wanted))
    missing = [key for key in wanted if (kind, key) not in known]
    if missing and standing.dimension:
        read = _read(connection, query, missing)
        fresh = {(kind, key): read.get(key) for key in missing}
        memory.vectors.keep(standing.state, fresh)
        known |= fresh
    gathered = np.full((len(keys), standing.dimension), np.nan, dtype=np.float32)
    for row, key in enumerate(keys):
        vector = known.get((kind, key))
        if vector is not None and len(vector) == standing.dimension:
            gathered[row] = vector
    return gathered


def _read(connection: Connection, query: LiteralString, keys: Sequence[str]) -> dict[str, Vectors]:
    asked = [{"keys": part} for part in batched(keys, _AT_ONCE)]
    parts = connection.read_at_once([query] * len(asked), asked)
    return {key: np.array(values, dtype=np.float32) for part in parts for key, values in part[0][0]}
