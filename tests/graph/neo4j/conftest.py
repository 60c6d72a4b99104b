"""An empty store in a server, the connection to it, and what is sent over connections."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.graph.neo4j.database import connected, empty, sent_queries
from tests.graph.neo4j.stores import OLDER_SLOW
from tests.neo4j_servers import Server
from trivium.graph.neo4j import Neo4jStore
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher.searching import Dialect


@pytest.fixture(params=OLDER_SLOW)
def server(request: pytest.FixtureRequest) -> Server:
    """For what both versions do in one way."""
    found: Server = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def connection(server: Server) -> Iterator[Connection]:
    """To an empty store."""
    with connected(server) as connection:
        empty(connection)
        yield connection


@pytest.fixture
def store(connection: Connection) -> Neo4jStore:
    """The store."""
    return Neo4jStore(connection, Dialect.PROCEDURE)


@pytest.fixture
def trips(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows by each query that is sent."""
    return sent_queries(monkeypatch)
