"""The query plans of a server, from its EXPLAIN."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, LiteralString

from neo4j import Driver, Query

WHOLE = ("Scan", "CartesianProduct")
"""What operators are called that look at everything, or join everything with everything."""


def replan(driver: Driver) -> None:
    """Have the server count again what its planner goes by, and forget its plans: after other tests it may hold the
    graph for nearly empty, and a scan for cheap."""
    driver.execute_query("CALL db.prepareForReplanning(60)")


def operators(driver: Driver, query: LiteralString, parameters: Mapping[str, Any] | None = None) -> list[str]:
    """Return the operators of the plan of a query."""
    explained = driver.execute_query(Query("EXPLAIN " + query), dict(parameters or {}))
    assert explained.summary.plan is not None
    return list(_operators(explained.summary.plan))


def scans(found: list[str]) -> list[str]:
    """Return the operators that scan everything."""
    return [operator for operator in found if any(scan in operator for scan in WHOLE)]


def _operators(plan: Mapping[str, Any]) -> Iterator[str]:
    yield plan["operatorType"].partition("@")[0]
    for child in plan.get("children", ()):
        yield from _operators(child)
