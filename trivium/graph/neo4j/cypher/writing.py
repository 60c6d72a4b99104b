"""Queries that change the graph. Each takes a list of rows, and finds nodes by an indexed key or by element id."""

from __future__ import annotations

from typing import LiteralString

# -- the store's own node ----------------------------------------------------------------------------------------

# Setting a property acquires the node's lock, so writers wait here for one another. The other properties must be read
# only afterwards, which is why none of them is set to itself.
LOCK: LiteralString = "MATCH (t:TriviumStore {id: 1}) SET t.id = 1 RETURN t.embedder IS NOT NULL"

# Every write notes what it touched, see trivium.graph.neo4j.change_log.
NEXT_VERSION: LiteralString = """
MATCH (t:TriviumStore {id: 1})
WITH t, t.generation + 1 AS generation, coalesce(t.uuid, '') AS before,
  CASE WHEN $vectors_only THEN t.uuid ELSE randomUUID() END AS after
SET t.generation = generation, t.term_total = t.term_total + $terms, t.uuid = after,
  t.changes = (coalesce(t.changes, [])
    + [toString(generation) + ' ' + before + ' ' + coalesce(after, '') + ' ' + $touched])[-$kept..]
"""

# A null removes a property.
NOTE: LiteralString = "MATCH (t:TriviumStore {id: 1}) SET t += $values"

# -- titles and aliases ------------------------------------------------------------------------------------------

STORED_PAGES: LiteralString = """
UNWIND $uris AS uri MATCH (p:TriviumPage {uri: uri})
RETURN p.uri, p.content_hash, p.revision, coalesce(p.aliases, [])
"""

# The pages of titles or aliases, in the order asked.
FIND_PAGES: LiteralString = """
UNWIND range(0, size($uris) - 1) AS place
OPTIONAL MATCH (a:TriviumAlias {uri: $uris[place]})
MATCH (p:TriviumPage {uri: coalesce(a.leads_to, $uris[place])})
RETURN place, p.uri, coalesce(p.aliases, [])
"""

# Whether a title is a page's own, which pages claim it, and which page it refers to.
TITLE_CLAIMS: LiteralString = """
UNWIND $titles AS title
OPTIONAL MATCH (p:TriviumPage {uri: title})
OPTIONAL MATCH (a:TriviumAlias {uri: title})
RETURN title, p IS NOT NULL, a.leads_to, [(a)-[:alias_of]->(q:TriviumPage) | q.uri]
"""

LEADS: LiteralString = """
UNWIND $titles AS title MATCH (a:TriviumAlias {uri: title}) WHERE a.leads_to IS NOT NULL
RETURN title, a.leads_to
"""

# New claims, and the page each alias refers to. A null removes leads_to.
SET_ALIASES: LiteralString = """
UNWIND $rows AS row
MERGE (a:TriviumAlias {uri: row.uri}) ON CREATE SET a:Alias:TriviumAlias, a.name = row.name, a.short_name = row.short_name
SET a.leads_to = row.leads_to
WITH a, row UNWIND row.pages AS uri
MATCH (p:TriviumPage {uri: uri})
CREATE (a)-[:alias_of]->(p)
"""

NOTE_CLAIMS: LiteralString = """
UNWIND $rows AS row MATCH (p:TriviumPage {uri: row.uri}) SET p.aliases = coalesce(p.aliases, []) + row.aliases
"""

DROP_CLAIMS: LiteralString = """
UNWIND $uris AS uri MATCH (:TriviumPage {uri: uri})<-[r:alias_of]-(:TriviumAlias) DELETE r
"""

DROP_ALIASES: LiteralString = """
UNWIND $uris AS uri MATCH (a:TriviumAlias {uri: uri}) WHERE NOT EXISTS { (a)-[:alias_of]->(:TriviumPage) }
DETACH DELETE a
"""

# -- what a change touches ---------------------------------------------------------------------------------------

# Chunks that cite an entity through a title that now refers to something else.
CITING_THROUGH: LiteralString = """
UNWIND $moved AS row MATCH (e:TriviumEntity {uri: row.old})-[:cited_in]->(c:TriviumChunk) WHERE row.title IN c.citations
WITH DISTINCT c MATCH (c)-[:is_chunk_of]->(p:TriviumPage) WHERE NOT p.uri IN $emptied
RETURN elementId(c), c.citations, c.uri
"""

STATING_ABOUT: LiteralString = """
UNWIND $uris AS uri MATCH (e:TriviumEntity {uri: uri})-[r:semantic_rel]-(:TriviumEntity) WHERE r.stated
UNWIND r.pages AS page RETURN DISTINCT page
"""

STATEMENTS: LiteralString = """
UNWIND $uris AS uri MATCH (p:TriviumPage {uri: uri})
RETURN uri, coalesce(p.relation_sources, []), coalesce(p.relation_types, []), coalesce(p.relation_targets, []),
  coalesce(p.relation_places, [])
"""

HELD_TERMS: LiteralString = """
UNWIND $uris AS uri MATCH (:TriviumPage {uri: uri})<-[:is_chunk_of]-(c:TriviumChunk)
MATCH (d:TriviumChunkData {uri: c.uri}) RETURN d.search_terms
"""

HELD_CITATIONS: LiteralString = """
UNWIND $uris AS uri MATCH (:TriviumPage {uri: uri})<-[:is_chunk_of]-(:TriviumChunk)-[:cites]->(e:TriviumEntity)
RETURN DISTINCT e.uri
"""

ENTITY_IDS: LiteralString = "UNWIND $uris AS uri MATCH (e:TriviumEntity {uri: uri}) RETURN uri, elementId(e)"

KNOWN_TYPES: LiteralString = "UNWIND $types AS type MATCH (t:TriviumRelationType {type: type}) RETURN type"

# -- nodes -------------------------------------------------------------------------------------------------------

CREATE_ENTITIES: LiteralString = """
UNWIND $rows AS row
CREATE (e:Entity:TriviumEntity {
  uri: row.uri, title: row.title, text: row.text, text_hash: row.text_hash, name: row.name, short_name: row.short_name
})
RETURN row.uri, elementId(e)
"""

SET_PAGES: LiteralString = """
UNWIND $rows AS row MATCH (p) WHERE elementId(p) = row.id
SET p:Page:TriviumPage, p.source = row.source, p.revision = row.revision, p.content_hash = row.content_hash,
    p.digest = row.digest, p.body = row.body, p.format = row.format, p.path = row.path, p.modified = row.modified,
    p.metadata = row.metadata, p.added = coalesce(p.added, row.added),
    p.relation_sources = row.relation_sources, p.relation_types = row.relation_types,
    p.relation_targets = row.relation_targets, p.relation_places = row.relation_places
"""

CREATE_SECTIONS: LiteralString = """
UNWIND $rows AS row
MERGE (s:TriviumSubChapter {uri: row.uri})
SET s:SubChapter:TriviumSubChapter, s += row, s.text = row.uri, s.embedding = null
RETURN row.uri, elementId(s)
"""

LINK_SECTIONS: LiteralString = """
UNWIND $rows AS row
MATCH (s) WHERE elementId(s) = row.id
MATCH (parent) WHERE elementId(parent) = row.above[0]
CREATE (parent)-[:has_subchapter]->(s)
WITH s, row UNWIND row.above AS above
MATCH (a) WHERE elementId(a) = above
CREATE (s)-[:is_subchapter_of]->(a)
"""

# Rows are sections and pages with the chunks directly under them.
CREATE_CHUNKS: LiteralString = """
UNWIND $rows AS row
MATCH (parent) WHERE elementId(parent) = row.id
UNWIND row.chunks AS chunk
MERGE (c:TriviumChunk {uri: chunk.shown.uri})
SET c:Chunk:TriviumChunk, c += chunk.shown, c.embedding = null
MERGE (d:TriviumChunkData {uri: chunk.shown.uri})
SET d:ChunkData:TriviumChunkData, d = chunk.data
CREATE (parent)-[:has_chunk]->(c)-[:is_chunk_of]->(parent)
RETURN c.uri, elementId(c)
"""

LINK_CHUNKS: LiteralString = """
UNWIND $rows AS row
MATCH (above) WHERE elementId(above) = row.id
UNWIND row.chunks AS chunk
MATCH (c) WHERE elementId(c) = chunk
CREATE (c)-[:is_chunk_of]->(above)
"""

LINK_NEIGHBOURS: LiteralString = """
UNWIND $rows AS row
MATCH (a) WHERE elementId(a) = row[0]
MATCH (b) WHERE elementId(b) = row[1]
CREATE (a)-[:next]->(b), (b)-[:previous]->(a)
"""

# The nodes of parts that their page will have again are kept, since other programs may have connected theirs with them.
DROP_CHUNKS: LiteralString = """
UNWIND $uris AS uri MATCH (:TriviumPage {uri: uri})<-[:is_chunk_of]-(c:TriviumChunk)
WHERE NOT c.uri IN $kept
OPTIONAL MATCH (d:TriviumChunkData {uri: c.uri}) DETACH DELETE c, d
"""

DROP_SECTIONS: LiteralString = """
UNWIND $uris AS uri MATCH (:TriviumPage {uri: uri})<-[:is_subchapter_of]-(s:TriviumSubChapter)
WHERE NOT s.uri IN $kept DETACH DELETE s
"""

UNLINK_KEPT: LiteralString = """
UNWIND $uris AS uri
MATCH (:TriviumPage {uri: uri})<-[:is_chunk_of|is_subchapter_of]-(n:TriviumChunk|TriviumSubChapter)
MATCH (n)-[r:has_subchapter|is_subchapter_of|has_chunk|is_chunk_of|next|previous|cites|cited_in|is_answer_of]-
  (:TriviumEntity|TriviumSubChapter|TriviumChunk|TriviumQuestion)
WITH DISTINCT r DELETE r
"""

UNSET_PAGES: LiteralString = """
UNWIND $uris AS uri MATCH (p:TriviumPage {uri: uri})
REMOVE p:Page:TriviumPage, p.source, p.revision, p.content_hash, p.digest, p.body, p.aliases,
       p.format, p.path, p.modified, p.metadata, p.added,
       p.relation_sources, p.relation_types, p.relation_targets, p.relation_places
"""

# -- citations ---------------------------------------------------------------------------------------------------

WITHDRAW_CITES: LiteralString = """
UNWIND $ids AS id MATCH (c) WHERE elementId(c) = id
MATCH (c)-[r:cites|cited_in]-(:TriviumEntity) DELETE r
"""

CITE: LiteralString = """
UNWIND $rows AS row
MATCH (c) WHERE elementId(c) = row.id
UNWIND range(0, size(row.cites) - 1) AS position
MATCH (e) WHERE elementId(e) = row.cites[position]
CREATE (c)-[:cites {position: position}]->(e), (e)-[:cited_in]->(c)
"""

# -- relations ---------------------------------------------------------------------------------------------------

WITHDRAW: LiteralString = """
UNWIND $rows AS row
MATCH (a:TriviumEntity {uri: row.source})
MATCH (b:TriviumEntity {uri: row.target})
MATCH (a)-[r:semantic_rel]->(b) WHERE r.stated AND r.type = row.type
SET r.pages = [page IN r.pages WHERE NOT page IN row.pages]
WITH a, b, r, row WHERE size(r.pages) = 0
MATCH (b)-[m:semantic_rel]->(a) WHERE NOT m.stated AND m.type = row.mirror
DELETE r, m
"""

STATE: LiteralString = """
UNWIND $rows AS row
MATCH (a) WHERE elementId(a) = row.source
MATCH (b) WHERE elementId(b) = row.target
MERGE (a)-[r:semantic_rel {type: row.type, stated: true}]->(b)
ON CREATE SET r.pages = row.pages
ON MATCH SET r.pages = r.pages + row.pages
MERGE (b)-[:semantic_rel {type: row.mirror, stated: false}]->(a)
"""

STATED_BY: LiteralString = """
UNWIND $triples AS row
MATCH (:TriviumEntity {uri: row[0]})-[r:semantic_rel {type: row[1], stated: true}]->(:TriviumEntity {uri: row[2]})
UNWIND r.pages AS page RETURN DISTINCT page
"""

# Where relations and their mirrors are said. A null removes a property.
SET_EVIDENCE: LiteralString = """
UNWIND $rows AS row
MATCH (a:TriviumEntity {uri: row.source})-[r:semantic_rel {type: row.type, stated: true}]->
  (b:TriviumEntity {uri: row.target})
MATCH (b)-[m:semantic_rel {type: row.mirror, stated: false}]->(a)
SET r += row.said, m += row.said
"""

# Relations and their mirrors have the embedding of their type. If the type has none yet, they get it later.
EMBED_STATED: LiteralString = """
UNWIND $rows AS row
MATCH (t:TriviumRelationType {type: row.type}) WHERE t.embedding IS NOT NULL
MATCH (a) WHERE elementId(a) = row.source
MATCH (b) WHERE elementId(b) = row.target
MATCH (a)-[r:semantic_rel {type: row.type, stated: true}]->(b)
MATCH (b)-[m:semantic_rel {type: row.mirror, stated: false}]->(a)
CALL db.create.setRelationshipVectorProperty(r, 'embedding', t.embedding)
CALL db.create.setRelationshipVectorProperty(m, 'embedding', t.embedding)
"""

NOTE_STATEMENTS: LiteralString = """
UNWIND $rows AS row MATCH (p:TriviumPage {uri: row.uri})
SET p.relation_places = CASE WHEN coalesce(p.relation_places, row.places) IS NOT NULL THEN
      coalesce(p.relation_places, [source IN coalesce(p.relation_sources, []) | '0 0 '])
      + coalesce(row.places, [source IN row.sources | '0 0 ']) END
SET p.relation_sources = coalesce(p.relation_sources, []) + row.sources,
    p.relation_types = coalesce(p.relation_types, []) + row.types,
    p.relation_targets = coalesce(p.relation_targets, []) + row.targets
"""

CREATE_TYPES: LiteralString = """
UNWIND $rows AS row CREATE (:RelationType:TriviumRelationType {type: row.type, text_hash: row.text_hash})
"""

# -- typed relationships: their property is the relation's type as it is written, their own type is a parameter ---

WITHDRAW_TYPED: LiteralString = """
UNWIND $rows AS row
MATCH (t:TriviumRelationType {type: row.type}) WHERE t.typed IS NOT NULL
MATCH (a:TriviumEntity {uri: row.source})
MATCH (b:TriviumEntity {uri: row.target})
WHERE NOT EXISTS { (a)-[:semantic_rel {type: row.type, stated: true}]->(b) }
MATCH (a)-[x]->(b) WHERE x.semantic_rel = row.type
DELETE x
"""

STATE_TYPED: LiteralString = """
UNWIND $rows AS row
MATCH (t:TriviumRelationType {type: row.type}) WHERE t.typed IS NOT NULL
MATCH (a) WHERE elementId(a) = row.source
MATCH (b) WHERE elementId(b) = row.target
MERGE (a)-[:$(t.typed) {semantic_rel: row.type}]->(b)
"""

# Some typed relationships of relations of a type that have another name than wanted.
DROP_OTHER_TYPED: LiteralString = """
MATCH (a:TriviumEntity)-[r:semantic_rel {type: $type}]->(b:TriviumEntity) WHERE r.stated
MATCH (a)-[x]->(b) WHERE x.semantic_rel = $type AND type(x) <> $typed
WITH x LIMIT $limit DELETE x RETURN count(*)
"""

# For some relations of a type that have none.
MAKE_TYPED: LiteralString = """
MATCH (a:TriviumEntity)-[r:semantic_rel {type: $type}]->(b:TriviumEntity)
WHERE r.stated AND NOT EXISTS { MATCH (a)-[x]->(b) WHERE x.semantic_rel = $type AND type(x) = $typed }
WITH a, b LIMIT $limit CREATE (a)-[:$($typed) {semantic_rel: $type}]->(b) RETURN count(*)
"""

NAME_TYPE: LiteralString = "MATCH (t:TriviumRelationType {type: $type}) SET t.typed = $typed"

# -- questions that chunks answer --------------------------------------------------------------------------------

QUESTIONS_OF: LiteralString = """
UNWIND $uris AS uri
MATCH (:TriviumPage {uri: uri})<-[:is_chunk_of]-(c:TriviumChunk)-[:is_answer_of]->(q:TriviumQuestion)
WITH uri, q, c ORDER BY c.position
RETURN uri, q.uri, q.text, coalesce(q.answers, []), collect(c.uri)
"""

CHUNKS_OF: LiteralString = """
UNWIND $uris AS uri MATCH (p:TriviumPage {uri: uri})
RETURN uri, COLLECT { MATCH (p)<-[:is_chunk_of]-(c:TriviumChunk) RETURN c.uri ORDER BY c.position }
"""

WITHDRAW_ANSWERS: LiteralString = """
UNWIND $rows AS row
MATCH (q:TriviumQuestion {uri: row.uri})<-[r:is_answer_of]-(c:TriviumChunk)
WHERE EXISTS { (c)-[:is_chunk_of]->(:TriviumPage {uri: row.page}) }
DELETE r
"""

# Every row has at least one chunk.
ANSWER: LiteralString = """
UNWIND $rows AS row
MERGE (q:TriviumQuestion {uri: row.uri}) SET q:Question:TriviumQuestion, q.text = row.text, q.answers = row.answers
WITH q, row UNWIND row.chunks AS chunk
MATCH (c:TriviumChunk {uri: chunk})
CREATE (c)-[:is_answer_of]->(q)
"""

DROP_QUESTIONS: LiteralString = """
UNWIND $uris AS uri MATCH (q:TriviumQuestion {uri: uri}) WHERE NOT EXISTS { (q)<-[:is_answer_of]-(:TriviumChunk) }
DETACH DELETE q
"""

# -- removing unused nodes -----------------------------------------------------------------------------------------

DROP_ENTITIES: LiteralString = """
UNWIND $uris AS uri MATCH (e:TriviumEntity {uri: uri}) WHERE NOT e:TriviumPage AND NOT EXISTS { (e)--() } DELETE e
RETURN uri
"""

DROP_TYPES: LiteralString = """
UNWIND $types AS type MATCH (t:TriviumRelationType {type: type})
WHERE NOT EXISTS { (:TriviumEntity)-[r:semantic_rel {type: type}]->(:TriviumEntity) WHERE r.stated }
DETACH DELETE t
"""

# -- search terms ------------------------------------------------------------------------------------------------

COUNT_TERMS: LiteralString = """
UNWIND $rows AS row
MERGE (t:TriviumTerm {term: row[0]}) ON CREATE SET t:Term:TriviumTerm, t.df = row[1] ON MATCH SET t.df = t.df + row[1]
"""

DROP_TERMS: LiteralString = (
    "UNWIND $terms AS term MATCH (t:TriviumTerm {term: term}) WHERE t.df <= 0 DETACH DELETE t"
)

# -- types of entities -------------------------------------------------------------------------------------------

# The entities of titles, with their types, in the order asked.
FIND_ENTITIES: LiteralString = """
UNWIND range(0, size($titles) - 1) AS place
OPTIONAL MATCH (a:TriviumAlias {uri: $titles[place]})
MATCH (e:TriviumEntity {uri: coalesce(a.leads_to, $titles[place])})
RETURN place, e.uri, coalesce(e.type, ''), e.text_hash
"""

SET_TYPES: LiteralString = """
UNWIND $rows AS row MATCH (e:TriviumEntity {uri: row.uri})
SET e.type = row.type, e.text = row.text, e.text_hash = row.text_hash
REMOVE e:TriviumPerson:TriviumOrganisation:TriviumPlace:TriviumWork:TriviumEvent:TriviumProduct:TriviumLaw
SET e:$([label IN [{person: 'TriviumPerson', organisation: 'TriviumOrganisation', place: 'TriviumPlace',
  work: 'TriviumWork', event: 'TriviumEvent', product: 'TriviumProduct', law: 'TriviumLaw'}[row.type]]
  WHERE label IS NOT NULL])
"""

# Of entities whose text has changed.
DROP_VECTORS: LiteralString = "UNWIND $uris AS uri MATCH (e:TriviumEntity {uri: uri}) REMOVE e.embedding"
