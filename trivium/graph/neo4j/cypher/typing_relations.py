"""Queries that give relations typed relationships. These are known by their property ``semantic_rel``, the relation's type
as it is written; their own type is a parameter, never part of a query's text."""

from __future__ import annotations

from typing import LiteralString

READ_STYLE: LiteralString = "MATCH (t:TriviumStore {id: 1}) RETURN t.relations"

SET_STYLE: LiteralString = "MATCH (t:TriviumStore {id: 1}) SET t.relations = $style"

TYPES: LiteralString = "MATCH (t:TriviumRelationType) RETURN t.type, t.typed ORDER BY t.type"

# Some typed relationships of relations of a type that have another name than wanted.
DROP_OTHERS: LiteralString = """
MATCH (a:TriviumEntity)-[r:semantic_rel {type: $type}]->(b:TriviumEntity) WHERE r.stated
MATCH (a)-[x]->(b) WHERE x.semantic_rel = $type AND type(x) <> $typed
WITH x LIMIT $limit DELETE x RETURN count(*)
"""

# For some relations of a type that have none.
MAKE: LiteralString = """
MATCH (a:TriviumEntity)-[r:semantic_rel {type: $type}]->(b:TriviumEntity)
WHERE r.stated AND NOT EXISTS { MATCH (a)-[x]->(b) WHERE x.semantic_rel = $type AND type(x) = $typed }
WITH a, b LIMIT $limit CREATE (a)-[:$($typed) {semantic_rel: $type}]->(b) RETURN count(*)
"""

MARK: LiteralString = "MATCH (t:TriviumRelationType {type: $type}) SET t.typed = $typed"
