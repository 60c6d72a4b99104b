"""A database as the tests see it: every node and relationship, and what they should be by the obvious store."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import pytest

from tests.fakes.memory_store import MemoryStore
from tests.neo4j_servers import Server
from tests.neo4j_wipe import wipe
from trivium.graph.neo4j.address import Address
from trivium.graph.neo4j.connection import Connection, rows
from trivium.graph.neo4j.cypher import schema as cypher
from trivium.graph.neo4j.prepare_database import recognise
from trivium.graph.neo4j.vectors import embed_relations
from trivium.graph.node_properties import STORE_VERSION, InternalLabel, with_marks
from trivium.graph.page_facts import encode_metadata, page_digest
from trivium.graph.page_graph import ChunkNode
from trivium.graph.schema import headings_of, unescape
from trivium.graph.source_store.derived_graph import Graph, chunk_text
from trivium.text.normalise import normalise_name, without_parenthesis

Nodes = dict[tuple[str, ...], dict[str, Any]]
Edges = Counter[tuple[Any, ...]]

_PREPARED: set[Address] = set()
_EMPTY = "MATCH (n) DETACH DELETE n"
_NODES = "MATCH (n) RETURN labels(n), properties(n)"
_EDGES = (
    "MATCH (a)-[r]->(b) RETURN labels(a), properties(a), type(r), properties(r), labels(b), properties(b)"
)


@contextmanager
def connected(server: Server) -> Iterator[Connection]:
    """A connection to a server whose database has the schema of a store."""
    connection = Connection(Address(server.bolt, None, server.user, server.password), timeout=60)
    try:
        if connection.address not in _PREPARED:
            wipe(server)
            empty(connection)
            recognise(connection)
            _PREPARED.add(connection.address)
        yield connection
    finally:
        connection.close()


def sent_queries(monkeypatch: pytest.MonkeyPatch, only: Collection[str] | None = None) -> list[str]:
    """A list that grows by each query that is sent: by any, or by those of ``only``."""
    sent: list[str] = []
    fetch = Connection.fetch

    async def noted(self: Connection, query: str, *given: Any, **options: Any) -> object:
        if only is None or query in only:
            sent.append(query)
        return await fetch(self, query, *given, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Connection, "fetch", noted)
    return sent


def empty(connection: Connection) -> None:
    """An empty store again, whatever was there. Indexes stay."""

    async def work(transaction: Any) -> None:
        await rows(transaction, _EMPTY)
        await rows(transaction, cypher.CREATE_STORE, {"version": STORE_VERSION})

    connection.write(work)


def found(connection: Connection) -> tuple[Nodes, Edges]:
    """Every node by label and key, with its properties; every relationship with its ends' keys, how many times. Relations
    are given the vectors of their types before, as a refresh of the store does."""
    embed_relations(connection)
    nodes: Nodes = {}
    for labels, properties in connection.read(_NODES):
        nodes[_key(labels, properties)] = _comparable(properties)
    edges: Edges = Counter()
    for one, of_one, kind, properties, other, of_other in connection.read(_EDGES):
        edges[(_key(one, of_one), kind, _frozen(properties), _key(other, of_other))] += 1
    for key in nodes:
        if key[-1] == InternalLabel.STORE:
            for property_of_this_database in ("generation", "uuid", "changes"):
                nodes[key].pop(property_of_this_database, None)
    return nodes, edges


def generation(connection: Connection) -> int:
    """How many changes there were."""
    return int(connection.read("MATCH (t:TriviumStore) RETURN t.generation")[0][0])


def expected(oracle: MemoryStore) -> tuple[Nodes, Edges]:
    """What the database should hold when the obvious store holds this."""
    return _nodes(oracle), _edges(oracle)


def _key(labels: list[str], properties: dict[str, Any]) -> tuple[str, ...]:
    name = next(str(properties[each]) for each in ("uri", "term", "type", "id") if each in properties)
    own = [label for label in labels if not label.startswith("Trivium")] or [InternalLabel.STORE]
    assert sorted(labels) == sorted(with_marks(own))
    return (name, *sorted(own))


def _comparable(properties: dict[str, Any]) -> dict[str, Any]:
    # When a page was first stored is another moment in another store.
    known = {name: value for name, value in properties.items() if value != [] and name != "added"}
    if "embedding" in known:
        known["embedding"] = [f"{value:.6g}" for value in known["embedding"]]
    if "aliases" in known:
        known["aliases"] = sorted(known["aliases"])
    if "relation_sources" in known:
        names = ("relation_sources", "relation_types", "relation_targets")
        triples = list(zip(*(known.pop(name) for name in names), strict=True))
        places = (place.split(" ", 2) for place in known.pop("relation_places", ["0 0 "] * len(triples)))
        known["relations"] = sorted(
            (*triple, chunk, int(start), int(end))
            for triple, (start, end, chunk) in zip(triples, places, strict=True)
        )
    return known


def _frozen(properties: dict[str, Any]) -> tuple[Any, ...]:
    def comparable(name: str, value: Any) -> Any:
        if name == "embedding":
            return tuple(f"{number:.6g}" for number in value)
        return tuple(sorted(value)) if isinstance(value, list) else value

    return tuple((name, comparable(name, value)) for name, value in sorted(properties.items()))


def _with_vector(oracle: MemoryStore, text: str, properties: dict[str, Any]) -> dict[str, Any]:
    known = {name: value for name, value in properties.items() if value not in (None, "", [])}
    known["text_hash"] = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    if text in oracle._now().searchable.texts:
        (vector,) = oracle.rows([text])
        known["embedding"] = [f"{value:.6g}" for value in vector.tolist()]
    return known


def _names(uri: str) -> dict[str, str]:
    title = unescape(uri)
    name, short = normalise_name(title), normalise_name(without_parenthesis(title))
    both = {"name": name, "short_name": "" if short == name else short}
    return {key: value for key, value in both.items() if value}


def _nodes(oracle: MemoryStore) -> Nodes:
    graph = oracle._graph
    nodes: Nodes = {}
    for uri, text in graph.entities.items():
        entity = {
            "uri": uri,
            "title": unescape(uri),
            "text": text,
            "type": graph.types.get(uri),
            **_names(uri),
        }
        if uri in graph.pages:
            page = graph.pages[uri]
            entity |= {
                "source": page.source,
                "revision": page.revision,
                "content_hash": page.content_hash,
                "digest": page_digest(page),
                "format": page.format,
                "path": page.path,
                "modified": page.modified,
                "metadata": encode_metadata(page.metadata) if page.metadata else None,
                "body": page.text,
                "aliases": sorted(page.aliases),
                "relations": sorted(map(tuple, page.relations)),
            }
        labels = ("Entity", "Page") if uri in graph.pages else ("Entity",)
        nodes[(uri, *labels)] = _with_vector(oracle, text, entity)
        if uri in graph.pages:
            nodes[(uri, *labels)]["body"] = graph.pages[uri].text
    for _, section in graph.sections.values():
        own = {"uri": section.uri, "text": section.uri, "level": section.level, "position": section.position}
        own["title"] = headings_of(section.uri)[-1]
        nodes[(section.uri, "SubChapter")] = _with_vector(oracle, section.uri, own)
    for _, chunk in graph.chunks.values():
        nodes[(chunk.uri, "Chunk")] = _chunk(oracle, chunk)
        nodes[(chunk.uri, "ChunkData")] = _data(oracle, chunk)
    for kind in {relation.type for relation in graph.relations}:
        nodes[(kind, "RelationType")] = _with_vector(oracle, kind, {"type": kind})
        if kind in oracle._now().searchable.texts:
            nodes[(kind, "RelationType")]["relations_embedded"] = True
    for alias in {alias for page in graph.pages.values() for alias in page.aliases}:
        leads = {"leads_to": graph.aliases[alias]} if alias in graph.aliases else {}
        nodes[(alias, "Alias")] = {"uri": alias, **_names(alias), **leads}
    for page in graph.pages.values():
        for question in page.questions:
            own = {"uri": question.uri, "text": question.text, "answers": list(question.answers)}
            nodes[(question.uri, "Question")] = {name: value for name, value in own.items() if value}
    terms = [f"{chunk.heading_terms} {chunk.terms}".split() for _, chunk in graph.chunks.values()]
    for term, df in Counter(term for each in terms for term in set(each)).items():
        nodes[(term, "Term")] = {"term": term, "df": df}
    own_node = {"id": 1, "schema_version": STORE_VERSION, "term_total": sum(map(len, terms))}
    if oracle.embedder is not None:
        own_node |= {
            "embedder": oracle.embedder.name,
            "embedder_version": oracle.embedder.version,
            "embedder_dimension": oracle.embedder.dimension,
        }
    nodes[("1", InternalLabel.STORE)] = own_node
    return nodes


def _chunk(oracle: MemoryStore, chunk: ChunkNode) -> dict[str, Any]:
    own = {
        "uri": chunk.uri,
        "title": " > ".join(headings_of(chunk.parent)),
        "kind": chunk.kind,
        "position": chunk.position,
        "start": chunk.start,
        "end": chunk.end,
        "token_count": chunk.token_count,
        "citations": list(chunk.cites),
        "anchors": list(chunk.anchors) or None,
        "names": [name.uri for name in chunk.names] or None,
        "name_places": [f"{name.start} {name.end} {name.kind}" for name in chunk.names] or None,
        "first_page": None if chunk.pages is None else chunk.pages[0],
        "last_page": None if chunk.pages is None else chunk.pages[1],
    }
    return _with_vector(oracle, chunk_text(chunk), own) | {"text": chunk.text}


def _data(oracle: MemoryStore, chunk: ChunkNode) -> dict[str, Any]:
    own: dict[str, Any] = {
        "uri": chunk.uri,
        "search_terms": f"{chunk.heading_terms} {chunk.terms}".strip(),
        "heading_count": len(chunk.heading_terms.split()),
    }
    if chunk.thumbnail:
        own["thumbnail"] = base64.b64encode(chunk.thumbnail).decode()
    sentences = oracle._now().searchable.sentences
    if chunk_text(chunk) in sentences:
        own["sentences"] = base64.b64encode(sentences[chunk_text(chunk)]).decode()
    return own


def _edges(oracle: MemoryStore) -> Edges:
    return Counter(
        (one, kind, _frozen(properties), other) for one, kind, properties, other in _each_edge(oracle)
    )


def _ancestors(graph: Graph, uri: str) -> list[str]:
    """The section or page and everything above it."""
    found = [uri]
    while found[-1] in graph.sections:
        found.append(graph.sections[found[-1]][1].parent)
    return found


def _each_edge(oracle: MemoryStore) -> Iterator[tuple[Any, str, dict[str, Any], Any]]:
    graph = oracle._graph

    def entity(uri: str) -> tuple[str, ...]:
        return (uri, "Entity", "Page") if uri in graph.pages else (uri, "Entity")

    def above(uri: str) -> tuple[str, ...]:
        return entity(uri) if uri in graph.pages else (uri, "SubChapter")

    for _, section in graph.sections.values():
        own = (section.uri, "SubChapter")
        yield above(section.parent), "has_subchapter", {}, own
        for uri in _ancestors(graph, section.parent):
            yield own, "is_subchapter_of", {}, above(uri)
    under: dict[str, list[str]] = {}
    for _, chunk in graph.chunks.values():
        own = (chunk.uri, "Chunk")
        under.setdefault(chunk.parent, []).append(chunk.uri)
        yield above(chunk.parent), "has_chunk", {}, own
        for uri in _ancestors(graph, chunk.parent):
            yield own, "is_chunk_of", {}, above(uri)
        for position, uri in enumerate(graph.cited[chunk.uri]):
            yield own, "cites", {"position": position}, entity(uri)
            yield entity(uri), "cited_in", {}, own
    for chunks in under.values():
        for one, other in pairwise(chunks):
            yield (one, "Chunk"), "next", {}, (other, "Chunk")
            yield (other, "Chunk"), "previous", {}, (one, "Chunk")
    for page in graph.pages.values():
        for question in page.questions:
            for chunk in question.chunks:
                yield (chunk, "Chunk"), "is_answer_of", {}, (question.uri, "Question")
    for page in graph.pages.values():
        for alias in page.aliases:
            yield (alias, "Alias"), "alias_of", {}, entity(page.uri)
    stated: dict[tuple[str, str, str], list[str]] = {}
    for uri, page in graph.pages.items():
        for each in {(graph.resolve(r.source), r.type, graph.resolve(r.target)) for r in page.relations}:
            stated.setdefault(each, []).append(uri)
    places = {relation.triple: relation for relation in graph.relations}
    for (source, kind, target), pages in stated.items():
        known = kind in oracle._now().searchable.texts
        vector = {"embedding": oracle.rows([kind])[0].tolist()} if known else {}
        place = places[source, kind, target]
        if place.chunk:
            vector |= {"chunk": place.chunk, "start": place.start, "end": place.end}
        there = {"type": kind, "stated": True, "pages": pages, **vector}
        yield entity(source), "semantic_rel", there, entity(target)
        back = {"type": f"is_{kind}_of", "stated": False, **vector}
        yield entity(target), "semantic_rel", back, entity(source)
