"""How the servers carry out the queries of a search, as they explain it themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.contract.graphs import embed_pending, graph
from tests.neo4j_servers import Server
from tests.unit.neo4j_stores import SERVERS, new_store
from trivium.graph.neo4j import Neo4jStore
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher import reading, searching
from trivium.graph.neo4j.indexes import Dialect, detect
from trivium.graph.schema import Hop, Label

SCANS = ("Scan", "CartesianProduct")
"""What operators are called that look at everything, or join everything with everything."""

OF_THE_WHOLE = {
    "ALIAS_COUNT",
    "TEXT_COUNTS",
    "CHUNK_URIS",
    "NAMES",
    "NUMBERED_CHUNKS",
    "NUMBERED_ENTITIES",
    "CITATIONS",
}
"""Queries whose answer is everything there is of something; no search asks them, but the first after a change for
the walk's graph."""

LABELS = ((Label.CHUNK,), (Label.PAGE,), (Label.ENTITY,), (Label.SUBCHAPTER, Label.PAGE))
PARAMETERS: dict[str, Any] = {
    **{name: ["A"] for name in ("chunks", "uris", "pages", "entities", "titles", "names", "terms", "keys")},
    "vector": [0.5] * 8,
    "near": [["A", 0.5]],
    "indexes": ["chunk_embedding"],
    "index": "chunk_search_terms",
    "query": '"a"',
    "page": "A",
    **dict.fromkeys(("count", "kept", "nodes", "rows"), 9),
}


def queries(dialect: Dialect) -> dict[str, str]:
    """Every query of a search, by a name."""
    found = {
        f"{module.__name__}.{name}": value
        for module in (reading, searching)
        for name, value in vars(module).items()
        if isinstance(value, str) and name.isupper() and name[0] != "_" and name not in OF_THE_WHOLE
    }
    found |= {f"vectors of {label}": reading.vectors(label) for label in Label}
    found |= {f"expand {hop}": reading.expand(hop) for hop in Hop}
    found |= {f"nearest {labels}": searching.nearest(labels, dialect) for labels in LABELS}
    for hop in Hop:
        found |= {f"reach {labels} {hop}": searching.reach(labels, hop, dialect) for labels in LABELS}
        found |= {
            f"reach {hop} {exact}": searching.reach_from(hop, embeddings=exact) for exact in (False, True)
        }
    return found


def operators(plan: dict[str, Any]) -> Iterator[str]:
    """The operators of a plan."""
    yield plan["operatorType"]
    for child in plan.get("children", []):
        yield from operators(child)


def explained(connection: Connection, query: str) -> list[str]:
    """The operators the server would carry a query out with."""

    async def ask() -> dict[str, Any]:
        result = await connection._ready().execute_query("EXPLAIN " + query, PARAMETERS)
        return result.summary.plan or {}

    return list(operators(connection.run(ask())))


@pytest.fixture(params=SERVERS)
def store(request: pytest.FixtureRequest) -> Iterator[Neo4jStore]:
    """A few pages with their indexes."""
    server: Server = request.getfixturevalue(request.param)
    with new_store(server) as filled:
        filled.write(
            [graph("A", [("a", ["B"])], {"S": [("s", ["C"])]}, aliases=["D"], relations=[("r", "C")])]
        )
        embed_pending(filled)
        filled.refresh()
        yield filled


def test_no_query_of_a_search_looks_at_everything(store: Neo4jStore) -> None:
    """Each begins at an index. A server that has the SEARCH clause is asked with it."""
    connection = store._connection
    dialect = detect(connection)
    asked = queries(dialect)
    assert ("SEARCH" in asked[f"nearest {LABELS[0]}"]) == (dialect is Dialect.SEARCH)
    plans = {name: explained(connection, query) for name, query in asked.items()}
    scans = {
        name: [operator for operator in plan if any(scan in operator for scan in SCANS)]
        for name, plan in plans.items()
    }
    assert {name: found for name, found in scans.items() if found} == {}


def test_the_check_would_see_a_scan(store: Neo4jStore) -> None:
    """On the queries that are meant to look at everything, and the exact search."""
    for query in (reading.CHUNK_URIS, reading.TEXT_COUNTS, searching.nearest_of_all(Label.CHUNK)):
        assert any("Scan" in operator for operator in explained(store._connection, query))


def test_the_dialect_is_that_of_the_version(neo4j_5: Server, neo4j_2026: Server) -> None:
    """5.26 knows the procedure only."""
    for server, dialect in ((neo4j_5, Dialect.PROCEDURE), (neo4j_2026, Dialect.SEARCH)):
        with new_store(server) as store:
            assert detect(store._connection) is dialect
