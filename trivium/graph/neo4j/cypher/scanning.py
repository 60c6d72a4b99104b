"""Queries that iterate over the whole store in batches, so that results do not grow with it.

:meth:`trivium.graph.neo4j.connection.Connection.batches` runs them for the nodes from the key ``$after`` on, at most
``$limit`` of them, in index order. The key is the last value of a row. The rows are returned as one list, which the
driver reads many times faster than rows.
"""

from __future__ import annotations

from typing import LiteralString

# -- texts without a vector --------------------------------------------------------------------------------------

# Uris of chunks and sections. Their texts, which are most of a store, are read later.
PENDING_CHUNKS: LiteralString = """
MATCH (c:TriviumChunk) WHERE c.uri >= $after AND c.embedding IS NULL
WITH c ORDER BY c.uri LIMIT $limit RETURN collect([c.text_hash, c.position, c.uri])
"""

# Chunks whose sentences have not been processed. Those known to have none have the empty string.
PENDING_SENTENCES: LiteralString = """
MATCH (c:TriviumChunk) WHERE c.uri >= $after
  AND EXISTS { MATCH (d:TriviumChunkData {uri: c.uri}) WHERE d.sentences IS NULL }
WITH c ORDER BY c.uri LIMIT $limit RETURN collect([c.text_hash, c.position, c.uri])
"""

PENDING_SECTIONS: LiteralString = """
MATCH (s:TriviumSubChapter) WHERE s.uri >= $after AND s.embedding IS NULL
WITH s ORDER BY s.uri LIMIT $limit RETURN collect([s.text_hash, s.position, s.uri])
"""

PENDING_PAGES: LiteralString = """
MATCH (p:TriviumPage) WHERE p.uri >= $after AND p.embedding IS NULL
WITH p ORDER BY p.uri LIMIT $limit RETURN collect([p.text_hash, p.text, p.uri])
"""

PENDING_ENTITIES: LiteralString = """
MATCH (e:TriviumEntity) WHERE e.uri >= $after AND e.embedding IS NULL
WITH e ORDER BY e.uri LIMIT $limit RETURN collect([e.text_hash, e.text, e.uri])
"""

PENDING_TYPES: LiteralString = """
MATCH (t:TriviumRelationType) WHERE t.type >= $after AND t.embedding IS NULL
WITH t ORDER BY t.type LIMIT $limit RETURN collect([t.text_hash, t.type])
"""

# -- pages as they were written ----------------------------------------------------------------------------------

PAGES: LiteralString = """
MATCH (p:TriviumPage) WHERE p.uri >= $after
WITH p ORDER BY p.uri LIMIT $limit RETURN collect([
  p.source, p.revision, p.content_hash, coalesce(p.format, ''), coalesce(p.path, ''), p.modified, p.metadata, p.added,
  p.uri
])
"""

# The only query of this module for given pages.
PAGE_GRAPHS: LiteralString = """
UNWIND $uris AS uri MATCH (p:TriviumPage {uri: uri})
RETURN uri, p.body, p.source, p.revision, p.content_hash, coalesce(p.aliases, []),
  coalesce(p.relation_sources, []), coalesce(p.relation_types, []), coalesce(p.relation_targets, []),
  coalesce(p.relation_places, []),
  coalesce(p.format, ''), coalesce(p.path, ''), p.modified, p.metadata,
  COLLECT {
    MATCH (p)<-[:is_subchapter_of]-(s:TriviumSubChapter)<-[:has_subchapter]-(parent:TriviumPage|TriviumSubChapter)
    RETURN [s.uri, parent.uri, s.level, s.position, coalesce(s.anchors, [])]
  },
  COLLECT {
    MATCH (p)<-[:is_chunk_of]-(c:TriviumChunk)<-[:has_chunk]-(parent:TriviumPage|TriviumSubChapter)
    OPTIONAL MATCH (d:TriviumChunkData {uri: c.uri})
    RETURN [c.uri, parent.uri, c.text, c.kind, c.position, c.start, c.end, c.token_count,
            coalesce(c.citations, []), coalesce(c.anchors, []), coalesce(c.names, []), coalesce(c.name_places, []),
            coalesce(d.search_terms, ''), coalesce(d.heading_count, 0), c.first_page, c.last_page, d.thumbnail]
  },
  COLLECT {
    MATCH (p)<-[:is_chunk_of]-(c:TriviumChunk)-[:is_answer_of]->(q:TriviumQuestion)
    WITH q, c ORDER BY c.position
    WITH q, collect(c.uri) AS chunks
    RETURN [q.uri, q.text, coalesce(q.answers, []), chunks]
  }
"""

TYPES: LiteralString = """
MATCH (e:TriviumEntity) WHERE e.uri >= $after AND e.type IS NOT NULL
WITH e ORDER BY e.uri LIMIT $limit RETURN collect([e.type, e.uri])
"""

# -- names and places --------------------------------------------------------------------------------------------

# Pages with their aliases.
NAMES: LiteralString = """
MATCH (p:TriviumPage) WHERE p.uri >= $after
WITH p ORDER BY p.uri LIMIT $limit
RETURN collect([[(p)<-[:alias_of]-(a:TriviumAlias) WHERE a.leads_to = p.uri | a.uri], p.uri])
"""

CHUNK_POSITIONS: LiteralString = """
MATCH (c:TriviumChunk) WHERE c.uri >= $after
WITH c ORDER BY c.uri LIMIT $limit RETURN collect([c.position, c.uri])
"""

# Properties of chunks that conditions test.
CHUNK_FACTS: LiteralString = """
MATCH (c:TriviumChunk) WHERE c.uri >= $after
WITH c ORDER BY c.uri LIMIT $limit RETURN collect([c.kind, coalesce(c.first_page, 0), coalesce(c.last_page, 0), c.uri])
"""

# -- the graph of the walk ---------------------------------------------------------------------------------------

# Element numbers are valid for the lifetime of a node. id() has no numeric successor, hence the explicit Cypher
# version.
NUMBERED_ENTITIES: LiteralString = """
CYPHER 5
MATCH (e:TriviumEntity) WHERE e.uri >= $after
WITH e ORDER BY e.uri LIMIT $limit
RETURN collect([id(e), e.uri])
"""

CITATIONS: LiteralString = """
CYPHER 5
MATCH (c:TriviumChunk) WHERE c.uri >= $after
WITH c ORDER BY c.uri LIMIT $limit
RETURN collect([[(c)-[:cites]->(e:TriviumEntity) | id(e)], c.uri])
"""

# The same by uris, for what changes touched: the chunks of pages and further chunks, with what they cite, and which of
# some entities exist.
TOUCHED_CITATIONS: LiteralString = """
CALL () {
  UNWIND $pages AS uri MATCH (:TriviumPage {uri: uri})<-[:is_chunk_of]-(c:TriviumChunk) RETURN c
  UNION
  UNWIND $chunks AS uri MATCH (c:TriviumChunk {uri: uri}) RETURN c
}
RETURN collect([c.uri, [(c)-[:cites]->(e:TriviumEntity) | e.uri]])
"""

TOUCHED_ENTITIES: LiteralString = """
UNWIND $entities AS uri MATCH (e:TriviumEntity {uri: uri}) RETURN collect(uri)
"""

# -- a store that is held in memory --------------------------------------------------------------------------------

_CHUNK: LiteralString = """[
  c.embedding, c.position, d.sentences, coalesce(d.search_terms, ''), coalesce(d.heading_count, 0),
  [(c)-[:cites]->(e:TriviumEntity) | e.uri],
  c.text, c.kind, c.start, c.end, c.token_count, c.first_page, c.last_page, c.uri
]"""

HELD_CHUNKS: LiteralString = f"""
MATCH (c:TriviumChunk) WHERE c.uri >= $after
WITH c ORDER BY c.uri LIMIT $limit
OPTIONAL MATCH (d:TriviumChunkData {{uri: c.uri}})
WITH c, d ORDER BY c.uri
RETURN collect({_CHUNK})
"""

# Stated relations, at their source; the page if the entity is one.
_ENTITY: LiteralString = """[
  e.embedding, e.name, e.short_name, [(e)-[r:semantic_rel]->(o:TriviumEntity) WHERE r.stated |
    [r.type, o.uri, coalesce(r.chunk, ''), coalesce(r.start, 0), coalesce(r.end, 0)]],
  CASE WHEN e:TriviumPage THEN [
    e.source, e.revision, e.content_hash, coalesce(e.format, ''), coalesce(e.path, ''), e.modified, e.metadata, e.added
  ] END, e.uri
]"""

HELD_ENTITIES: LiteralString = f"""
MATCH (e:TriviumEntity) WHERE e.uri >= $after
WITH e ORDER BY e.uri LIMIT $limit
RETURN collect({_ENTITY})
"""

HELD_SECTIONS: LiteralString = """
MATCH (s:TriviumSubChapter) WHERE s.uri >= $after
WITH s ORDER BY s.uri LIMIT $limit RETURN collect([s.embedding, s.position, s.uri])
"""

HELD_ALIASES: LiteralString = """
MATCH (a:TriviumAlias) WHERE a.uri >= $after
WITH a ORDER BY a.uri LIMIT $limit
RETURN collect([a.name, a.short_name, a.leads_to, a.uri])
"""

HELD_TYPES: LiteralString = """
MATCH (t:TriviumRelationType) WHERE t.type >= $after
WITH t ORDER BY t.type LIMIT $limit RETURN collect([t.embedding, t.type])
"""

# The same rows of what changes touched.
TOUCHED_CHUNKS: LiteralString = f"""
CALL () {{
  UNWIND $pages AS uri MATCH (:TriviumPage {{uri: uri}})<-[:is_chunk_of]-(c:TriviumChunk) RETURN c
  UNION
  UNWIND $chunks AS uri MATCH (c:TriviumChunk {{uri: uri}}) RETURN c
  UNION
  UNWIND $texts AS hash MATCH (c:TriviumChunk {{text_hash: hash}}) RETURN c
}}
OPTIONAL MATCH (d:TriviumChunkData {{uri: c.uri}})
RETURN collect({_CHUNK})
"""

TOUCHED_NODES: LiteralString = f"""
CALL () {{
  UNWIND $entities AS uri MATCH (e:TriviumEntity {{uri: uri}}) RETURN e
  UNION
  UNWIND $texts AS hash MATCH (e:TriviumEntity {{text_hash: hash}}) RETURN e
}}
RETURN collect({_ENTITY})
"""

TOUCHED_SECTIONS: LiteralString = """
CALL () {
  UNWIND $pages AS uri MATCH (:TriviumPage {uri: uri})<-[:is_subchapter_of]-(s:TriviumSubChapter) RETURN s
  UNION
  UNWIND $texts AS hash MATCH (s:TriviumSubChapter {text_hash: hash}) RETURN s
}
RETURN collect([s.embedding, s.position, s.uri])
"""

TOUCHED_ALIASES: LiteralString = """
UNWIND $aliases AS uri MATCH (a:TriviumAlias {uri: uri}) RETURN collect([a.name, a.short_name, a.leads_to, a.uri])
"""

TOUCHED_TYPES: LiteralString = """
CALL () {
  UNWIND $types AS type MATCH (t:TriviumRelationType {type: type}) RETURN t
  UNION
  UNWIND $texts AS hash MATCH (t:TriviumRelationType {text_hash: hash}) RETURN t
}
RETURN collect([t.embedding, t.type])
"""
