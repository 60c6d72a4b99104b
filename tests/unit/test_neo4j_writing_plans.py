"""How the server means to carry out what is asked of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, LiteralString

import pytest

from tests.neo4j_servers import Server
from tests.unit.neo4j_database import connected
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher import writing

QUERIES: dict[str, LiteralString] = {name: query for name, query in vars(writing).items() if name.isupper()}
SCANS = {"AllNodesScan", "NodeByLabelScan", "DirectedRelationshipTypeScan", "UndirectedRelationshipTypeScan"}


@pytest.fixture(scope="module")
def connection(neo4j_5: Server) -> Iterator[Connection]:
    """A database with the schema of a store."""
    with connected(neo4j_5) as connection:
        yield connection


def _operators(plan: dict[str, Any]) -> Iterator[str]:
    yield plan["operatorType"].partition("@")[0]
    for child in plan.get("children", ()):
        yield from _operators(child)


@pytest.mark.parametrize("name", QUERIES)
def test_every_query_finds_its_nodes_by_an_index(connection: Connection, name: str) -> None:
    """None looks through all nodes, or all of a label."""
    query: Any = "EXPLAIN " + QUERIES[name]
    parameters = dict.fromkeys(re.findall(r"\$(\w+)", query))

    async def explain(transaction: Any) -> dict[str, Any]:
        summary = await (await transaction.run(query, parameters)).consume()
        plan: dict[str, Any] = summary.plan
        return plan

    operators = set(_operators(connection.write(explain)))
    assert operators.isdisjoint(SCANS)
    assert any("Seek" in each or each == "NodeIndexScan" for each in operators) or operators & {"Create"}
