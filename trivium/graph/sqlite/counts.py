"""Counts the nodes and relationships of a store. All rows are read: a fifth of a second of 200,000 passages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from trivium.graph.records import NONE_KNOWN, WaitingTexts
from trivium.graph.schema import QUESTION, Label, RelationshipType, without_unrequested
from trivium.graph.sqlite.connection import Connection

NODES: Mapping[str, str] = {
    Label.ENTITY: "SELECT count(*) FROM name WHERE leads_to IS NULL",
    Label.PAGE: "SELECT count(*) FROM page",
    Label.SUBCHAPTER: "SELECT count(*) FROM section",
    Label.CHUNK: "SELECT count(*) FROM chunk",
    QUESTION: "SELECT count(*) FROM question",
}

# Each counts the rows of the view of the same name, without joining names to their rows, and so in a tenth of the time.
_FOLLOWING = """
    SELECT (SELECT count(*) FROM chunk) - (SELECT count(DISTINCT section_id) FROM chunk)
        - (SELECT count(DISTINCT page_id) FROM chunk WHERE section_id IS NULL)
    """
"""All chunks except the first under each heading, and the first of each page's lead."""
_CITED = """
    WITH redirected AS MATERIALIZED (
        SELECT t.chunk_id, n.leads_to FROM name AS n JOIN citation AS t ON t.name_id = n.id
        WHERE n.leads_to IS NOT NULL
    )
    SELECT (SELECT count(*) FROM citation) - (SELECT count(*) FROM redirected) + (
        SELECT count(*) FROM (SELECT DISTINCT chunk_id, leads_to FROM redirected) AS r
        WHERE NOT EXISTS (SELECT 1 FROM citation AS t WHERE t.name_id = r.leads_to AND t.chunk_id = r.chunk_id)
    )
    """
"""Citations by title, and of those by aliases the distinct entities that a chunk does not cite by title."""
RELATIONSHIPS: Mapping[str, str] = {
    RelationshipType.HAS_SUBCHAPTER: "SELECT count(*) FROM section",
    RelationshipType.IS_SUBCHAPTER_OF: "SELECT (SELECT count(*) FROM section) + (SELECT count(*) FROM ancestor)",
    RelationshipType.HAS_CHUNK: "SELECT count(*) FROM chunk",
    RelationshipType.IS_CHUNK_OF: """
        WITH depth AS MATERIALIZED (SELECT section_id, count(*) AS above FROM ancestor GROUP BY section_id)
        SELECT coalesce(sum(1 + (c.section_id IS NOT NULL) + coalesce(d.above, 0)), 0)
        FROM chunk AS c LEFT JOIN depth AS d ON d.section_id = c.section_id
        """,
    RelationshipType.NEXT: _FOLLOWING,
    RelationshipType.PREVIOUS: _FOLLOWING,
    RelationshipType.CITES: _CITED,
    RelationshipType.CITED_IN: _CITED,
    RelationshipType.SEMANTIC_REL: "SELECT 2 * count(*) FROM stated_relation",  # with its mirror
    RelationshipType.IS_ANSWER_OF: "SELECT count(*) FROM answer",
}


class Counts(TypedDict):
    """Fields of :class:`~trivium.graph.records.StoreInfo`."""

    nodes: dict[str, int]
    relationships: dict[str, int]
    aliases: int
    embedded: int
    to_embed: int


def counts(connection: Connection) -> Counts:
    """Return what a store contains."""
    numbers = {query: number(connection, query) for query in {*NODES.values(), *RELATIONSHIPS.values()}}
    return Counts(
        nodes=without_unrequested({str(label): numbers[query] for label, query in NODES.items()}),
        relationships=without_unrequested(
            {str(kind): numbers[query] for kind, query in RELATIONSHIPS.items()}
        ),
        aliases=number(connection, "SELECT count(*) FROM name WHERE leads_to IS NOT NULL"),
        embedded=number(connection, "SELECT count(*) FROM vector"),
        to_embed=number(connection, "SELECT count(*) FROM waiting"),
    )


def waiting_texts(connection: Connection) -> WaitingTexts:
    """Return how many texts wait for a vector. All texts are only counted if some do."""
    waiting = number(connection, "SELECT count(*) FROM waiting")
    return WaitingTexts(waiting, number(connection, "SELECT count(*) FROM text")) if waiting else NONE_KNOWN


def number(connection: Connection, query: str) -> int:
    """Return the number that a query selects."""
    return int(connection.execute(query).fetchone()[0] or 0)
