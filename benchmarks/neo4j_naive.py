"""Naive loading, as in tutorials: one statement per node and one per relationship, whose ends are matched by uri.

The driver's manual begins with ``execute_query`` for every statement; the fastest loader of this kind uses one session
in which every statement commits automatically. Each can be timed with and without uniqueness constraints on the uris.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from neo4j import Driver, GraphDatabase

from trivium.graph.schema import Label, RelationshipType

_PAGES = "MATCH (p:Page) RETURN p.uri ORDER BY p.uri"
# A page, its descendants and the entities it cites, with the relationships between them.
_PAGE = """
MATCH (p:Page {uri: $uri})
CALL (p) {
  RETURN p AS n
  UNION MATCH (p)<-[:is_subchapter_of|is_chunk_of]-(n) RETURN n
  UNION MATCH (p)<-[:is_chunk_of]-(:Chunk)-[:cites]->(n) RETURN n
}
WITH collect(DISTINCT n) AS nodes
RETURN [n IN nodes | [labels(n), properties(n)]],
  COLLECT {
    UNWIND nodes AS a MATCH (a)-[r]->(b) WHERE b IN nodes AND (a:Chunk OR b:Chunk OR a:SubChapter OR b:SubChapter)
    RETURN [labels(a), a.uri, type(r), properties(r), labels(b), b.uri]
  }
"""
Statement = tuple[str, dict[str, Any]]
Run = Callable[[str, dict[str, Any]], object]


@dataclass(frozen=True, slots=True)
class Sample:
    """Part of a graph, page by page: statements that create nodes, each once, then relationships between them."""

    pages: list[tuple[list[Statement], list[Statement]]]


@dataclass(frozen=True, slots=True)
class Naive:
    """Number of executed statements, and the seconds they took."""

    nodes: int
    node_seconds: float
    relationships: int
    relationship_seconds: float

    def seconds_for(self, nodes: int, relationships: int) -> float:
        """Return how long that many statements would take at this rate."""
        a_node, a_relationship = (
            self.node_seconds / self.nodes,
            self.relationship_seconds / self.relationships,
        )
        return nodes * a_node + relationships * a_relationship


def read_sample(address: str, pages: int) -> Sample:
    """Read some pages of a loaded database, spread evenly over its titles."""
    with _driver(address) as driver:
        uris = [uri for (uri,) in driver.execute_query(_PAGES).records]
        return Sample(list(_pages(driver, uris[:: max(1, len(uris) // pages)][:pages])))


def _pages(driver: Driver, uris: list[str]) -> Iterator[tuple[list[Statement], list[Statement]]]:
    made: set[str] = set()
    for page in uris:
        ((nodes, relationships),) = driver.execute_query(_PAGE, uri=page).records
        fresh = [(labels, properties) for labels, properties in nodes if properties["uri"] not in made]
        made.update(properties["uri"] for _, properties in fresh)
        yield (
            [
                (f"CREATE (n{_labels(labels)}) SET n = $properties", {"properties": row})
                for labels, row in fresh
            ],
            [
                (
                    f"MATCH (a{_labels(one)} {{uri: $a}}) MATCH (b{_labels(other)} {{uri: $b}})"
                    f" CREATE (a)-[r:{RelationshipType(kind)}]->(b) SET r = $properties",
                    {"a": a, "b": b, "properties": properties},
                )
                for one, a, kind, properties, other, b in relationships
            ],
        )


@contextmanager
def execute_query(address: str) -> Iterator[Run]:
    """Call ``execute_query`` for each statement, as in the driver's manual."""
    with _driver(address) as driver:
        yield lambda statement, given: driver.execute_query(statement, given)  # type: ignore[arg-type]


@contextmanager
def one_session(address: str) -> Iterator[Run]:
    """Use one session with auto-commit transactions, the fastest of the naive ways."""
    with _driver(address) as driver, driver.session() as session:
        yield lambda statement, given: session.run(statement, given).consume()  # type: ignore[arg-type]


WAYS = {"execute_query": execute_query, "one session": one_session}


def load_naively(address: str, way: str, sample: Sample, seconds: float) -> Naive:
    """Load a sample page by page until the time is up. The first fifth of the time is warm-up and not counted."""
    counts, spent = [0, 0], [0.0, 0.0]
    with WAYS[way](address) as run:
        began = time.perf_counter()
        for page in sample.pages:
            warm = time.perf_counter() - began > seconds / 5
            for kind, statements in enumerate(page):
                taken = _timed(run, statements)
                if warm or page is sample.pages[-1]:
                    counts[kind] += len(statements)
                    spent[kind] += taken
            if time.perf_counter() - began > seconds:
                break
    return Naive(counts[0], spent[0], counts[1], spent[1])


def _timed(run: Run, statements: list[Statement]) -> float:
    began = time.perf_counter()
    for statement, parameters in statements:
        run(statement, parameters)
    return time.perf_counter() - began


def _labels(labels: list[str]) -> str:
    return "".join(f":{Label(label)}" for label in sorted(labels))


def _driver(address: str) -> Driver:
    return GraphDatabase.driver(address, auth=(os.environ["NEO4J_USER"], os.environ["NEO4J_PASSWORD"]))
