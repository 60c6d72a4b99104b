"""An empty database for each test, fast: what makes a new store slow, its constraints and indexes, stays.
To drop and make the vector indexes of each test took the server longer than all else of it."""

from __future__ import annotations

from typing import LiteralString

from neo4j import GraphDatabase, Query

from tests.neo4j_servers import Server

_DELETE: LiteralString = "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS"


def wipe(server: Server) -> None:
    """Delete every node."""
    with GraphDatabase.driver(server.bolt, auth=server.auth) as driver, driver.session() as session:
        session.run(Query(_DELETE)).consume()
