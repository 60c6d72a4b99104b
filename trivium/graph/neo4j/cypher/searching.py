"""Queries of a search. Their text is composed from the enums of the schema only; everything else is a parameter.

Scores of indexes and of ``vector.similarity.cosine`` are (1 + cosine) / 2. Queries return one row of lists, which the
driver reads several times faster than many rows.
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import LiteralString

from trivium.graph.neo4j.cypher import schema
from trivium.graph.schema import Hop, Label


class Dialect(Enum):
    """How vector indexes are queried on a server."""

    PROCEDURE = "procedure"
    SEARCH = "search"


_HOPS: dict[Hop, LiteralString] = {
    Hop.BELOW: "(node:TriviumPage)<-[:is_chunk_of]-(chunk:TriviumChunk)",
    Hop.CHILD: "(node)-[:has_chunk]->(chunk:TriviumChunk)",
    Hop.CITED_IN: "(node)-[:cited_in]->(chunk:TriviumChunk)",
}

# Rounded to 6 significant digits, like trivium.graph.records.round_score.
_ROUNDED: LiteralString = "round(score, toInteger(5 - floor(log10(abs(score) + 1e-12))))"


@cache
def nearest(labels: tuple[Label, ...], dialect: Dialect) -> LiteralString:
    """Query for [[index of the label, uri, cosine]] of the best ``$kept`` of the ``$count`` neighbours from each
    index.
    """
    return f"{_near(labels, dialect)} RETURN collect([place, node.uri, 2 * score - 1])"


@cache
def expand_nearest(labels: tuple[Label, ...], hop: Hop, dialect: Dialect) -> LiteralString:
    """Query for the result of :func:`nearest`, and that of :func:`_reached` for the ``$nodes`` nearest of all labels."""
    return f"""
    {_near(labels, dialect)}
    WITH collect({{place: place, node: node, uri: node.uri, score: 2 * score - 1}}) AS found
    CALL (found) {{
      UNWIND found AS candidate
      WITH candidate.node AS node, candidate.uri AS uri, candidate.score AS score
      WITH node, score, {_ROUNDED} AS rounded ORDER BY rounded DESC, uri LIMIT $nodes
      {_reached(hop, embeddings=False)}
    }}
    RETURN [each IN found | [each.place, each.uri, each.score]], starts, reached
    """


@cache
def reach_from(hop: Hop, *, embeddings: bool) -> LiteralString:
    """Query for the result of :func:`_reached` for the nodes ``$near``, [[uri, cosine]]."""
    return f"""
    UNWIND $near AS near
    CALL (near) {{
      MATCH (node:TriviumEntity {{uri: near[0]}}) RETURN node
      UNION ALL
      MATCH (node:TriviumSubChapter {{uri: near[0]}}) RETURN node
    }}
    WITH node, near[1] AS score
    WITH node, score, {_ROUNDED} AS rounded
    {_reached(hop, embeddings=embeddings)}
    """


@cache
def nearest_of_all(label: Label) -> LiteralString:
    """Query for [[uri, embedding]] of the ``$count`` nearest nodes of a label, by exhaustive comparison."""
    return f"""
    MATCH (node:Trivium{label}) WHERE node.embedding IS NOT NULL
    WITH node, vector.similarity.cosine(node.embedding, $vector) AS score ORDER BY score DESC LIMIT $count
    RETURN collect([node.uri, node.embedding])
    """


@cache
def nearest_among(label: Label) -> LiteralString:
    """Query for [[uri, embedding]] of the ``$count`` nearest of the nodes ``$uris`` of a label, by exhaustive
    comparison.
    """
    return f"""
    UNWIND $uris AS uri MATCH (node:Trivium{label} {{uri: uri}}) WHERE node.embedding IS NOT NULL
    WITH node, vector.similarity.cosine(node.embedding, $vector) AS score ORDER BY score DESC LIMIT $count
    RETURN collect([node.uri, node.embedding])
    """


# Positions and similarities of chunks, [[uri, position, similarity]].
PLACES: LiteralString = """
UNWIND $chunks AS uri MATCH (chunk:TriviumChunk {uri: uri})
RETURN collect([uri, chunk.position, vector.similarity.cosine(chunk.embedding, $vector)])
"""

# Hits of a full-text query, [[uri, score]].
KEYWORD_HITS: LiteralString = f"""
CALL db.index.fulltext.queryNodes('{schema.WORD_INDEX}', $query, {{limit: $count}}) YIELD node, score
RETURN collect([node.uri, score])
"""


def _near(labels: tuple[Label, ...], dialect: Dialect) -> LiteralString:
    """Rows of (index of the label, node, score) for the best ``$kept`` of the ``$count`` neighbours from each index."""
    if dialect is Dialect.PROCEDURE:
        names = ", ".join(f"'{schema.VECTOR_INDEXES[label]}'" for label in labels)
        return f"""
        UNWIND range(0, {len(labels) - 1}) AS place
        CALL (place) {{
          CALL db.index.vector.queryNodes([{names}][place], $count, $vector) YIELD node, score
          RETURN node, score ORDER BY score DESC LIMIT $kept
        }}
        """
    parts = [
        f"MATCH (node:Trivium{label}) SEARCH node IN (VECTOR INDEX {schema.VECTOR_INDEXES[label]} FOR $vector"
        f" LIMIT $count) SCORE AS score RETURN {place} AS place, node, score ORDER BY score DESC LIMIT $kept"
        for place, label in enumerate(labels)
    ]
    return f"CYPHER 25 CALL () {{ {' UNION ALL '.join(parts)} }}"


def _reached(hop: Hop, *, embeddings: bool) -> LiteralString:
    """From rows of (node, score, rounded), return the nodes, ``starts`` [[uri, cosine]], and at most ``$rows`` chunks
    along a hop, ``reached`` [[uri, position, similarity, indices of the nodes that lead there, embedding]], the
    embedding only when requested.

    Nodes are skipped once better ones fill the list.
    """
    embedding = ", chunk.embedding" if embeddings else ""
    return f"""
    WITH collect({{node: node, uri: node.uri, score: score, rounded: rounded, 
        chunks: COUNT {{ MATCH {_HOPS[hop]} RETURN chunk LIMIT $rows }}
    }}) AS near
    CALL (near) {{
      UNWIND range(0, size(near) - 1) AS place
      WITH near, place, near[place] AS start
      WHERE none(better IN near WHERE better.rounded > start.rounded AND better.chunks >= $rows)
      WITH place, start.node AS node, start.rounded AS rounded
      MATCH {_HOPS[hop]}
      WITH chunk, max(rounded) AS rounded, collect(place) AS places
      WITH chunk, places, rounded, vector.similarity.cosine(chunk.embedding, $vector) AS similarity
      ORDER BY rounded DESC, coalesce(similarity, -1.0) DESC, chunk.position LIMIT $rows
      RETURN collect([chunk.uri, chunk.position, similarity, places{embedding}]) AS reached
    }}
    RETURN [start IN near | [start.uri, start.score]] AS starts, reached
    """


# For the chunks $chunks, by index: their own similarities, and those of the sections or pages directly above, of
# their pages and of the cited entities. Each node is compared once, [[similarity, indices]]. Reading its embedding
# dominates the time, so its existence is not checked first: without one the similarity is null.
SIMILARITIES: LiteralString = """
UNWIND range(0, size($chunks) - 1) AS place
MATCH (chunk:TriviumChunk {uri: $chunks[place]})
WITH collect({place: place, chunk: chunk}) AS asked
CALL (asked) {
  UNWIND asked AS one WITH one.place AS place, one.chunk AS chunk
  MATCH (chunk)<-[:has_chunk]-(node:TriviumPage|TriviumSubChapter)
  WITH node, collect(place) AS places
  RETURN collect([vector.similarity.cosine(node.embedding, $vector), places]) AS sections
}
CALL (asked) {
  UNWIND asked AS one WITH one.place AS place, one.chunk AS chunk
  MATCH (chunk)-[:is_chunk_of]->(node:TriviumPage)
  WITH node, collect(place) AS places
  RETURN collect([vector.similarity.cosine(node.embedding, $vector), places]) AS pages
}
CALL (asked) {
  UNWIND asked AS one WITH one.place AS place, one.chunk AS chunk
  MATCH (chunk)-[:cites]->(node:TriviumEntity)
  WITH node, collect(place) AS places
  RETURN collect([vector.similarity.cosine(node.embedding, $vector), places]) AS entities
}
RETURN [one IN asked | [vector.similarity.cosine(one.chunk.embedding, $vector), [one.place]]],
  sections, pages, entities
"""

# Hits of a full-text query with the data for counting terms, [[uri, score, search_terms, heading_count]], and the
# document frequency of each term, [[term, df]].
KEYWORD_SEARCH: LiteralString = f"""
CALL () {{
  CALL db.index.fulltext.queryNodes('{schema.WORD_INDEX}', $query, {{limit: $count}}) YIELD node, score
  RETURN collect([node.uri, score, node.search_terms, node.heading_count]) AS hits
}}
RETURN hits, COLLECT {{ UNWIND $terms AS term MATCH (t:TriviumTerm {{term: term}}) RETURN [term, t.df] }}
"""

SEARCH_TERMS: LiteralString = """
UNWIND $chunks AS uri MATCH (data:TriviumChunkData {uri: uri})
RETURN collect([uri, data.search_terms, data.heading_count])
"""

DOCUMENT_FREQUENCIES: LiteralString = """
UNWIND $terms AS term MATCH (t:TriviumTerm {term: term}) RETURN collect([term, t.df])
"""
