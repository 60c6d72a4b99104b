"""Queries that read the graph. Their text is composed from the enums of the schema only; everything else is a
parameter.

They return one row of lists, which the driver reads many times faster than rows (80 us each). Sorting is done in
Python.
"""

from __future__ import annotations

from functools import cache
from typing import LiteralString

from trivium.graph.schema import Hop, Label

# What all cached data depends on; requested with every question.
STORE_STATE: LiteralString = """
MATCH (t:TriviumStore {id: 1})
RETURN t.generation, t.uuid, t.embedder, t.embedder_version, t.embedder_dimension, t.term_total,
  COUNT { (:TriviumChunk) }, t.languages, t.entities
"""

# What the latest writes touched, oldest first; null before the first.
READ_CHANGES: LiteralString = "MATCH (t:TriviumStore {id: 1}) RETURN t.changes"

# The decision on the store's fusion; null if there is none.
READ_FUSION: LiteralString = "MATCH (t:TriviumStore {id: 1}) RETURN t.fusion"

# Whether a load has begun and not ended.
READ_LINKS_PENDING: LiteralString = "MATCH (t:TriviumStore {id: 1}) RETURN coalesce(t.links_pending, false)"

# The chunker, and the number of pages.
READ_CHUNKER: LiteralString = "MATCH (t:TriviumStore {id: 1}) RETURN t.chunker, COUNT { (:TriviumPage) }"

# -- counts ------------------------------------------------------------------------------------------------------

NODE_COUNTS: LiteralString = """
RETURN COUNT { (:TriviumEntity) }, COUNT { (:TriviumPage) }, COUNT { (:TriviumSubChapter) },
  COUNT { (:TriviumChunk) }, COUNT { (:TriviumQuestion) }
"""

RELATIONSHIP_COUNTS: LiteralString = """
RETURN
  COUNT { (:TriviumPage|TriviumSubChapter)-[:has_subchapter]->(:TriviumSubChapter) },
  COUNT { (:TriviumSubChapter)-[:is_subchapter_of]->(:TriviumPage|TriviumSubChapter) },
  COUNT { (:TriviumPage|TriviumSubChapter)-[:has_chunk]->(:TriviumChunk) },
  COUNT { (:TriviumChunk)-[:is_chunk_of]->(:TriviumPage|TriviumSubChapter) },
  COUNT { (:TriviumChunk)-[:next]->(:TriviumChunk) }, COUNT { (:TriviumChunk)-[:previous]->(:TriviumChunk) },
  COUNT { (:TriviumChunk)-[:cites]->(:TriviumEntity) }, COUNT { (:TriviumEntity)-[:cited_in]->(:TriviumChunk) },
  COUNT { (:TriviumEntity)-[:semantic_rel]->(:TriviumEntity) }
"""

# Questions come and go without a new state of the store.
ANSWER_COUNT: LiteralString = "RETURN COUNT { (:TriviumChunk)-[:is_answer_of]->(:TriviumQuestion) }"

ALIAS_COUNT: LiteralString = "MATCH (a:TriviumAlias) WHERE a.leads_to IS NOT NULL RETURN count(a)"

# Distinct texts with a vector, and all distinct texts.
TEXT_COUNTS: LiteralString = """
MATCH (n:TriviumChunk|TriviumSubChapter|TriviumEntity|TriviumRelationType) WHERE n.text_hash IS NOT NULL
WITH n.text_hash AS hash, n.embedding IS NOT NULL AS embedded
RETURN count(DISTINCT CASE WHEN embedded THEN hash END), count(DISTINCT hash)
"""

PENDING_SENTENCE_COUNT: LiteralString = (
    "MATCH (d:TriviumChunkData) WHERE d.sentences IS NULL MATCH (c:TriviumChunk {uri: d.uri})"
    " RETURN count(DISTINCT c.text_hash)"
)

# -- texts and structure -----------------------------------------------------------------------------------------

CHUNKS: LiteralString = """
UNWIND $chunks AS uri MATCH (c:TriviumChunk {uri: uri})
OPTIONAL MATCH (c)-[:is_chunk_of]->(p:TriviumPage)
RETURN collect([
  uri, c.text, c.kind, c.position, c.start, c.end, c.token_count, c.first_page, c.last_page,
  coalesce(p.path, p.source, ''), coalesce(p.format, ''), p.metadata
])
"""

THUMBNAILS: LiteralString = """
UNWIND $chunks AS uri MATCH (d:TriviumChunkData {uri: uri}) WHERE d.thumbnail IS NOT NULL
RETURN collect([uri, d.thumbnail])
"""

PAGE_RECORDS: LiteralString = """
UNWIND $uris AS uri MATCH (p:TriviumPage {uri: uri}) 
RETURN collect([
  p.source, p.revision, p.content_hash, coalesce(p.format, ''), coalesce(p.path, ''), p.modified, p.metadata, p.added,
  uri
])
"""

PAGES_SAYING: LiteralString = """
MATCH (p:TriviumPage) WHERE p.source STARTS WITH $source AND p.content_hash CONTAINS $mark
WITH p, toLower(p.body) AS text WHERE any(word IN $words WHERE text CONTAINS word)
RETURN collect([
  p.source, p.revision, p.content_hash, coalesce(p.format, ''), coalesce(p.path, ''), p.modified, p.metadata, p.added,
  p.uri
])
"""

NAMED_IN: LiteralString = """
MATCH (c:TriviumChunk) WHERE c.names IS NOT NULL
UNWIND range(0, size(c.names) - 1) AS position
WITH c, c.names[position] AS name, c.name_places[position] AS place WHERE name IN $names
RETURN collect([name, c.uri, place])
"""

PAGES_AT: LiteralString = """
MATCH (p:TriviumPage) WHERE p.path IN $paths
RETURN collect([
  p.source, p.revision, p.content_hash, coalesce(p.format, ''), coalesce(p.path, ''), p.modified, p.metadata, p.added,
  p.uri
])
"""

PAGES_OF_FILES: LiteralString = """
MATCH (p:TriviumPage) WHERE [part IN split(p.source, '/') WHERE part <> ''][-1] IN $names
RETURN collect([
  p.source, p.revision, p.content_hash, coalesce(p.format, ''), coalesce(p.path, ''), p.modified, p.metadata, p.added,
  p.uri
])
"""

UNLINKED_PAGES: LiteralString = (
    "MATCH (p:TriviumPage) WHERE p.content_hash ENDS WITH '.' RETURN collect(p.uri)"
)

COUNT_PAGES: LiteralString = "MATCH (p:TriviumPage) RETURN count(p)"

CHUNK_TEXTS: LiteralString = """
UNWIND $keys AS uri MATCH (c:TriviumChunk {uri: uri}) RETURN collect([uri, c.text])
"""

PAGE_TEXT: LiteralString = "MATCH (p:TriviumPage {uri: $page}) RETURN p.body"

OUTLINES: LiteralString = """
UNWIND $pages AS uri MATCH (p:TriviumPage {uri: uri})
RETURN collect([uri, [(p)<-[:is_subchapter_of]-(s:TriviumSubChapter) | [s.position, s.uri]]])
"""

CITED: LiteralString = """
UNWIND $chunks AS uri MATCH (c:TriviumChunk {uri: uri})
RETURN collect([uri, [(c)-[r:cites]->(e:TriviumEntity) | [r.position, e.uri]]])
"""

# Sections that links refer to by an anchor. Their pages are cited too, by a title or alias.
CITED_SECTIONS: LiteralString = """
UNWIND $chunks AS uri MATCH (c:TriviumChunk {uri: uri}) WHERE c.anchors IS NOT NULL
UNWIND range(0, size(c.anchors) - 1) AS position
WITH uri, position, split(c.anchors[position], $separator) AS link
OPTIONAL MATCH (a:TriviumAlias {uri: link[0]})
WITH uri, position, coalesce(a.leads_to, link[0]) AS page, link[1] AS anchor
MATCH (:TriviumPage {uri: page})<-[:is_subchapter_of]-(s:TriviumSubChapter) WHERE anchor IN s.anchors
RETURN collect([uri, position, s.uri])
"""

_STARTS: dict[Hop, LiteralString] = {
    Hop.BELOW: "MATCH (n:TriviumPage {uri: uri})<-[:is_chunk_of]-(c:TriviumChunk) RETURN c",
    Hop.CHILD: """
      MATCH (n:TriviumPage {uri: uri})-[:has_chunk]->(c:TriviumChunk) RETURN c
      UNION ALL
      MATCH (n:TriviumSubChapter {uri: uri})-[:has_chunk]->(c:TriviumChunk) RETURN c
    """,
    Hop.CITED_IN: "MATCH (n:TriviumEntity {uri: uri})-[:cited_in]->(c:TriviumChunk) RETURN c",
}


@cache
def expand(hop: Hop) -> LiteralString:
    """Query for the chunks along a hop from each node, [[uri, [[uri, position]]]]."""
    return f"""
    UNWIND $uris AS uri
    CALL (uri) {{ CALL (uri) {{ {_STARTS[hop]} }} RETURN collect([c.uri, c.position]) AS chunks }}
    RETURN collect([uri, chunks])
    """


# Stated relations at either end of the entities.
RELATIONS: LiteralString = """
UNWIND $entities AS uri MATCH (e:TriviumEntity {uri: uri})-[r:semantic_rel]-(:TriviumEntity) WHERE r.stated
WITH DISTINCT r
RETURN collect([startNode(r).uri, r.type, endNode(r).uri,
  coalesce(r.chunk, ''), coalesce(r.start, 0), coalesce(r.end, 0)])
"""

TYPES_OF: LiteralString = """
UNWIND $entities AS uri MATCH (e:TriviumEntity {uri: uri}) RETURN collect([e.uri, e.type])
"""

# -- titles and names --------------------------------------------------------------------------------------------

RESOLVE: LiteralString = """
UNWIND $titles AS title
OPTIONAL MATCH (a:TriviumAlias {uri: title})
MATCH (e:TriviumEntity {uri: coalesce(a.leads_to, title)})
RETURN collect([title, e.uri])
"""

# Possible meanings of names: 0 by title, 1 by alias, 2 by a shortened one; whether it is not a page; number of
# citations. In a small graph the planner would prefer to scan all names, and might keep that plan as the graph grows.
NAMED: LiteralString = """
CALL () {
  MATCH (e:TriviumEntity) USING INDEX SEEK e:TriviumEntity(name) WHERE e.name IN $names
  RETURN e.name AS name, 0 AS kind, e
  UNION ALL
  MATCH (a:TriviumAlias) USING INDEX SEEK a:TriviumAlias(name) WHERE a.name IN $names
  MATCH (e:TriviumEntity {uri: a.leads_to}) RETURN a.name AS name, 1 AS kind, e
  UNION ALL
  MATCH (e:TriviumEntity) USING INDEX SEEK e:TriviumEntity(short_name) WHERE e.short_name IN $names
  RETURN e.short_name AS name, 2 AS kind, e
  UNION ALL
  MATCH (a:TriviumAlias) USING INDEX SEEK a:TriviumAlias(short_name) WHERE a.short_name IN $names
  MATCH (e:TriviumEntity {uri: a.leads_to}) RETURN a.short_name AS name, 2 AS kind, e
}
RETURN collect([name, kind, NOT e:TriviumPage, COUNT { (e)-[:cited_in]->(:TriviumChunk) }, e.uri])
"""

# -- vectors -----------------------------------------------------------------------------------------------------


@cache
def vectors(label: Label) -> LiteralString:
    """Query for [[uri, embedding]] of nodes that have one."""
    return f"""
    UNWIND $keys AS uri MATCH (n:Trivium{label} {{uri: uri}}) WHERE n.embedding IS NOT NULL
    RETURN collect([uri, n.embedding])
    """


RELATION_VECTORS: LiteralString = """
UNWIND $keys AS type MATCH (n:TriviumRelationType {type: type}) WHERE n.embedding IS NOT NULL
RETURN collect([type, n.embedding])
"""

# Types whose vectors were added or changed after their relations were stated.
TYPES_TO_FOLLOW: LiteralString = """
MATCH (t:TriviumRelationType) WHERE t.embedding IS NOT NULL AND t.relations_embedded IS NULL RETURN t.type ORDER BY t.type
"""

# How typed relationships are written, and those of each type.
READ_STYLE: LiteralString = "MATCH (t:TriviumStore {id: 1}) RETURN t.relations"

NAMED_TYPES: LiteralString = "MATCH (t:TriviumRelationType) RETURN t.type, t.typed ORDER BY t.type"

# Positions in $relations with their embeddings. A stated relation precedes a mirrored one of the same name.
RELATION_EMBEDDINGS: LiteralString = """
UNWIND $relations AS row
MATCH (:TriviumEntity {uri: row.source})-[r:semantic_rel]->(:TriviumEntity)
WHERE r.type = row.type AND endNode(r).uri = row.target AND r.embedding IS NOT NULL
WITH row.place AS place, r ORDER BY r.stated DESC
WITH place, head(collect(r.embedding)) AS embedding
RETURN collect([place, embedding])
"""

# Sentence vectors of the chunks that have some.
SENTENCES: LiteralString = """
UNWIND $keys AS uri MATCH (d:TriviumChunkData {uri: uri}) WHERE d.sentences <> ''
RETURN collect([uri, d.sentences])
"""
