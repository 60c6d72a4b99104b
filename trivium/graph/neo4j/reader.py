"""Reads answered by one or two queries: counts, texts, structure, relations, names."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.errors import StoreChangedError, StoreError
from trivium.graph.model import RelationEdge
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher import reading as cypher
from trivium.graph.neo4j.cypher.schema import READ_VERSION
from trivium.graph.neo4j.memory import Memory
from trivium.graph.schema import Hop, Label, RelationshipType, page_of, section_of, unescape
from trivium.graph.store import ChunkRecord, StoreInfo


def info(connection: Connection, memory: Memory) -> StoreInfo:
    """What the store is and holds. Nodes and relationships are counts the server keeps."""
    standing = memory.standing(connection, now=True)
    (nodes,), (relationships,), ((aliases,),), ((embedded, texts),), ((version,),) = connection.read_at_once(
        [
            cypher.NODE_COUNTS,
            cypher.RELATIONSHIP_COUNTS,
            cypher.ALIAS_COUNT,
            cypher.TEXT_COUNTS,
            READ_VERSION,
        ],
        whole=True,
    )
    return StoreInfo(
        location=str(connection.address),
        schema_version=version,
        embedder=standing.embedder,
        nodes={str(label): count for label, count in zip(Label, nodes, strict=True)},
        relationships={str(kind): n for kind, n in zip(RelationshipType, relationships, strict=True)},
        aliases=aliases,
        embedded=embedded,
        to_embed=texts - embedded,
    )


def fetch(connection: Connection, chunks: Sequence[str]) -> list[ChunkRecord]:
    """Records in the order asked. Raises StoreChangedError for an unknown chunk."""
    found = connection.read(cypher.CHUNKS, {"chunks": list(dict.fromkeys(chunks))})[0][0]
    records = {uri: ChunkRecord(uri, page_of(uri), section_of(uri), *rest) for uri, *rest in found}
    for uri in chunks:
        if uri not in records:
            raise StoreChangedError(
                f"there is no chunk {uri!r} in the store; it may have been replaced since it was found"
            )
    return [records[uri] for uri in chunks]


def page_text(connection: Connection, page: str) -> str:
    """A page's plain text. Raises StoreError for an unknown page."""
    found = connection.read(cypher.PAGE_TEXT, {"page": page})
    if not found:
        raise StoreError(f"there is no page {page!r} in the store; resolve() leads from an alias to its page")
    return str(found[0][0])


def outline(connection: Connection, pages: Sequence[str]) -> dict[str, list[str]]:
    """For each page its sections in document order; none for an unknown page."""
    found = dict(connection.read(cypher.OUTLINES, {"pages": list(dict.fromkeys(pages))})[0][0])
    return {page: [uri for _, uri in sorted(found.get(page, []))] for page in pages}


def cited(connection: Connection, chunks: Sequence[str]) -> dict[str, list[str]]:
    """For each chunk the entities it cites, in order of appearance; none for an unknown chunk."""
    found = dict(connection.read(cypher.CITED, {"chunks": list(dict.fromkeys(chunks))})[0][0])
    return {chunk: [uri for _, uri in sorted(found.get(chunk, []))] for chunk in chunks}


def expand(connection: Connection, uris: Sequence[str], hop: Hop) -> dict[str, list[str]]:
    """For each node the chunks along a hop, by page and position; none for an unknown node."""
    found = dict(connection.read(cypher.expand(hop), {"uris": list(dict.fromkeys(uris))})[0][0])
    return {uri: _in_reading_order(found.get(uri, [])) for uri in uris}


def chunk_uris(connection: Connection) -> list[str]:
    """Every chunk, by page uri and position."""
    return _in_reading_order(connection.read(cypher.CHUNK_URIS, whole=True)[0][0])


def _in_reading_order(chunks: Sequence[tuple[str, int]]) -> list[str]:
    """Of (uri, position) the uris, by page and position."""
    return [uri for uri, _ in sorted(chunks, key=lambda chunk: (page_of(chunk[0]), chunk[1]))]


def relations(connection: Connection, entities: Sequence[str]) -> list[RelationEdge]:
    """Relations as stated that leave or enter one of the entities, by source, type and target."""
    found = connection.read(cypher.RELATIONS, {"entities": list(dict.fromkeys(entities))})[0][0]
    return [RelationEdge(*relation) for relation in sorted(found)]


def resolve(connection: Connection, titles: Sequence[str]) -> dict[str, str]:
    """Title or alias -> entity; unknown ones are left out."""
    found = dict(connection.read(cypher.RESOLVE, {"titles": list(dict.fromkeys(titles))})[0][0])
    return {title: found[title] for title in titles if title in found}


def lookup_names(connection: Connection, names: Sequence[str]) -> dict[str, str]:
    """Normalised name -> the entity it most likely means: by exact title, then by alias, then shortened; a page
    before a bare entity; the most cited; uri."""
    best: dict[str, tuple[int, bool, int, str]] = {}
    for name, kind, bare, cited, uri in connection.read(cypher.NAMED, {"names": list(dict.fromkeys(names))})[
        0
    ][0]:
        meaning = (kind, bare, -cited, uri)
        best[name] = min(best.get(name, meaning), meaning)
    return {name: best[name][-1] for name in names if name in best}


def names(connection: Connection) -> list[tuple[str, str]]:
    """(title or alias, page uri): by page, its title first, then its aliases by uri."""
    return [
        (unescape(uri), page)
        for page, aliases in sorted(connection.read(cypher.NAMES, whole=True)[0][0])
        for uri in (page, *sorted(aliases))
    ]
