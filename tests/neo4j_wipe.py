"""An empty database for each test, fast: what makes a new store slow, its constraints and indexes, may stay."""

from __future__ import annotations

from typing import LiteralString

from neo4j import GraphDatabase, Query

from tests.neo4j_servers import Server
from trivium.graph.neo4j.cypher.schema import DROP_VECTOR_INDEX

_DELETE: LiteralString = "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS"


def wipe(server: Server) -> None:
    """Delete every node, and the vector indexes: each test has vectors of its own length."""
    with GraphDatabase.driver(server.bolt, auth=server.auth) as driver, driver.session() as session:
        session.run(Query(_DELETE)).consume()
        for statement in DROP_VECTOR_INDEX.values():
            session.run(Query(statement)).consume()
