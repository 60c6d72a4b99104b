"""The queries of docs/explore.md, as its readers copy them."""

from __future__ import annotations

from dataclasses import dataclass

from markdown_it import MarkdownIt

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
