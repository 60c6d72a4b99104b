"""The database after any history of changes, node by node and edge by edge, against the obvious store."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.examples import examples
from tests.fakes.memory_store import MemoryStore
from tests.graph.neo4j.database import connected, empty, expected, found
from tests.graph.neo4j.histories import HISTORIES, Step, carry_out
from tests.neo4j_servers import Server
from trivium.graph.neo4j import Neo4jStore
from trivium.graph.neo4j.cypher.searching import Dialect


@pytest.mark.more
@settings(max_examples=examples(5), deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=HISTORIES)
def test_any_history_leaves_the_nodes_and_edges_of_the_obvious_store(
    server: Server, steps: list[Step]
) -> None:
    """Whatever is written, replaced, renamed, enriched or removed, in any order: the reports are the same, and so
    are all nodes, properties, vectors and relationships after every step."""
    with connected(server) as connection:
        empty(connection)
        store, oracle = Neo4jStore(connection, Dialect.PROCEDURE), MemoryStore()
        for step in steps:
            assert carry_out(store, step) == carry_out(oracle, step)
            (nodes, edges), (wanted_nodes, wanted_edges) = found(connection), expected(oracle)
            assert nodes == wanted_nodes
            assert edges == wanted_edges
