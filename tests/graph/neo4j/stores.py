"""Stores in real databases, for the tests of how they are read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest

from tests.neo4j_servers import Server
from tests.neo4j_wipe import wipe
from trivium.graph.neo4j import Neo4jStore

SERVERS = ("neo4j_5", "neo4j_2026")
"""The fixtures of the servers."""
OLDER_SLOW = (pytest.param("neo4j_5", marks=pytest.mark.slow), "neo4j_2026")
"""The same, for tests of what both do in one way: the older one is asked once more with the slow tests."""


@contextmanager
def credentials(server: Server) -> Iterator[None]:
    """The environment in which stores of a server can be opened."""
    with patch.dict(os.environ, NEO4J_USER=server.user, NEO4J_PASSWORD=server.password):
        yield


@contextmanager
def new_store(server: Server) -> Iterator[Neo4jStore]:
    """An empty store in the server's database."""
    wipe(server)
    with credentials(server), Neo4jStore.create(server.bolt) as store:
        yield store
