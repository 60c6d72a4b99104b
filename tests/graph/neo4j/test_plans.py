"""How the servers carry out every query of the store, with the statistics of a filled database."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, LiteralString

import pytest
from neo4j import Driver, GraphDatabase

from tests.graph.neo4j.stores import OLDER_SLOW, credentials
from tests.neo4j_servers import Server
from tests.plans import operators, replan, scans
from tests.sample_graph import fill_with_a_part
from trivium.graph.neo4j import Neo4jStore
from trivium.graph.neo4j.cypher import reading, scanning, searching, vectors, writing
from trivium.graph.neo4j.cypher.searching import Dialect
from trivium.graph.neo4j.prepare_database import detect
from trivium.graph.schema import Hop, Label

OF_THE_WHOLE = {
    "RELATIONSHIP_COUNTS",
    "ANSWER_COUNT",
    "ALIAS_COUNT",
    "TEXT_COUNTS",
    "PENDING_SENTENCE_COUNT",
    "PAGES_SAYING",
    "NAMED_IN",
    "PAGES_AT",
    "PAGES_OF_FILES",
    "UNLINKED_PAGES",
    "TYPES_TO_FOLLOW",
    "NAMED_TYPES",
}
"""Counts of everything there is of something, and what is looked for among all pages, or all relation types, when
documents come; no search asks them."""

KERNEL: LiteralString = (
    "CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel' RETURN versions[0] AS version"
)
LABELS = ((Label.CHUNK,), (Label.PAGE,), (Label.ENTITY,), (Label.SUBCHAPTER, Label.PAGE))
PARAMETERS: dict[str, Any] = {
    **{name: ["A"] for name in ("chunks", "uris", "pages", "entities", "titles", "names", "terms", "keys")},
    "vector": [0.5] * 384,
    "near": [["A", 0.5]],
    "relations": [{"place": 0, "source": "A", "type": "r", "target": "B"}],
    "query": '"a"',
    "page": "A",
    **dict.fromkeys(("count", "kept", "nodes", "rows"), 9),
}
_SOME = "NodeIndexScan"
"""Looks at the nodes of an index that has only some: those without a vector, or names that lead nowhere."""
_MERGED = "MergeUniqueNode"
"""Looks a node up in the index of its constraint, and makes it if it is not there."""
WRITING: dict[str, LiteralString] = {
    name: query
    for module in (writing, vectors, scanning)
    for name, query in vars(module).items()
    if name.isupper() and name[0] != "_"
}
"""Queries that change the store, and those that go through it some nodes at a time."""


def of_a_search(dialect: Dialect) -> dict[str, LiteralString]:
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
        found |= {
            f"reach {labels} {hop}": searching.expand_nearest(labels, hop, dialect) for labels in LABELS
        }
        found |= {
            f"reach {hop} {exact}": searching.reach_from(hop, embeddings=exact) for exact in (False, True)
        }
    return found  # type: ignore[return-value]


@pytest.fixture(scope="module", params=OLDER_SLOW)
def server(request: pytest.FixtureRequest) -> Server:
    """A server that holds some of the sample."""
    found: Server = request.getfixturevalue(request.param)
    fill_with_a_part(found)
    return found


@pytest.fixture(scope="module")
def driver(server: Server) -> Iterator[Driver]:
    """Of that server, which has just counted what it holds."""
    with GraphDatabase.driver(server.bolt, auth=server.auth, notifications_min_severity="OFF") as driver:
        replan(driver)
        yield driver


@pytest.fixture(scope="module")
def dialect(server: Server) -> Dialect:
    """How the server is asked for neighbours."""
    with credentials(server), Neo4jStore.open(server.bolt) as store:
        return detect(store._connection)


def test_no_query_of_a_search_looks_at_everything(driver: Driver, dialect: Dialect) -> None:
    """Each begins at an index. A server that has the SEARCH clause is asked with it."""
    asked = of_a_search(dialect)
    assert ("SEARCH" in asked[f"nearest {LABELS[0]}"]) == (dialect is Dialect.SEARCH)
    found = {name: scans(operators(driver, query, PARAMETERS)) for name, query in asked.items()}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_the_check_would_see_a_scan(driver: Driver) -> None:
    """On the queries that are meant to look at everything, and the exact search."""
    for query in (reading.ALIAS_COUNT, reading.TEXT_COUNTS, searching.nearest_of_all(Label.CHUNK)):
        assert scans(operators(driver, query, PARAMETERS))


def test_no_write_looks_at_everything(driver: Driver) -> None:
    """Each finds its nodes by an index, or makes new ones."""
    wrong = {}
    for name, query in WRITING.items():
        found = operators(driver, query, dict.fromkeys(re.findall(r"\$(\w+)", query)))
        by_index = any("Seek" in each or each in (_SOME, _MERGED) for each in found) or "Create" in found
        if any("Scan" in each and each != _SOME for each in found) or not by_index:
            wrong[name] = found
    assert wrong == {}


def test_the_dialect_is_that_of_the_version(server: Server, driver: Driver, dialect: Dialect) -> None:
    """5.26 knows the procedure only. The server is of the version that it was started as."""
    assert dialect is (Dialect.PROCEDURE if server.version.startswith("5.") else Dialect.SEARCH)
    found, _, _ = driver.execute_query(KERNEL)
    assert found[0]["version"] == server.version
