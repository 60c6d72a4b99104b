"""The graph store in a Neo4j database: traversed with Cypher, searched through its vector and full-text indexes."""

from trivium.graph.neo4j.store import Neo4jStore

__all__ = ["Neo4jStore"]
