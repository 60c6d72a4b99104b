"""The queries of docs/explore.md, as its readers copy them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from markdown_it import MarkdownIt
from neo4j import Driver

from trivium.graph.neo4j.browser_guide import guide_folder

GUIDE = guide_folder() / "explore.md"
STYLE = guide_folder() / "explore" / "trivium.grass"


@dataclass(frozen=True, slots=True)
class GuideQuery:
    """A query with the heading over it: its number in the guide and the question it answers."""

    number: int
    question: str
    cypher: str


def guide_queries() -> list[GuideQuery]:
    """Every ``cypher`` block, in order."""
    heading, found = "", []
    tokens = MarkdownIt("commonmark").parse(GUIDE.read_text("utf-8"))
    for before, token in zip([None, *tokens], tokens, strict=False):
        if before is not None and before.type == "heading_open":
            heading = token.content
        elif token.type == "fence" and token.info == "cypher":
            number, _, question = heading.partition(". ")
            found.append(GuideQuery(int(number), question, token.content))
    return found


def guide_query(number: int) -> GuideQuery:
    """The query of that number."""
    return next(query for query in guide_queries() if query.number == number)


def rows(driver: Driver, number: int) -> list[dict[str, Any]]:
    """What the query of that number returns."""
    return [record.data() for record in driver.execute_query(guide_query(number).cypher).records]


def graph(driver: Driver, number: int) -> tuple[set[str], set[tuple[str, str, str]]]:
    """What the query of that number draws: uris of nodes, and (from, type or relation, to)."""
    found = driver.execute_query(
        guide_query(number).cypher, result_transformer_=lambda result: result.graph()
    )
    uris = {node.element_id: str(node["uri"]) for node in found.nodes}
    edges = set()
    for edge in found.relationships:
        start, end = edge.nodes
        assert start is not None and end is not None
        edges.add((uris[start.element_id], str(edge.get("type", edge.type)), uris[end.element_id]))
    return set(uris.values()), edges
