"""Reads a store into memory in batches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, LiteralString

import numpy as np
from numpy.typing import NDArray

from trivium.graph.arrays import Csr, Rows, group
from trivium.graph.model import RelationEdge
from trivium.graph.neo4j.cache import StoreCache
from trivium.graph.neo4j.connection import Connection, Row
from trivium.graph.neo4j.cypher import reading
from trivium.graph.neo4j.cypher import scanning as cypher
from trivium.graph.neo4j.projection import project
from trivium.graph.neo4j.replica.node_vectors import NodeVectors
from trivium.graph.neo4j.replica.replica import ChunkFacts, PageFacts, Replica, Topology, rows_in
from trivium.graph.neo4j.replica.words import Vocabulary, Words
from trivium.graph.property_graph import decode_sentences
from trivium.graph.records import Adjacency, Vectors
from trivium.graph.schema import Label, page_of, section_of
from trivium.graph.vectors import join_codes

NODES_A_READ = 1_000
"""Nodes with their vectors per response: a few megabytes."""
_A_VECTOR = 5
"""Bytes per vector component in memory: four for the number, one for its quantised copy."""
_A_TERM = 16
"""Bytes per term of a chunk: its place in the chunk, and in the list of chunks that contain it."""
_OF_OBJECTS = 400
"""Bytes for a node's Python objects, such as its uri, besides vector, texts and terms."""


class TooLargeError(Exception):
    """The store exceeds the memory limit."""


class Budget:
    """Counts bytes. Raises TooLargeError above ``limit``."""

    def __init__(self, limit: int) -> None:
        self._left = limit

    def take(self, count: int) -> None:
        """Add ``count`` bytes."""
        self._left -= count
        if self._left < 0:
            raise TooLargeError


def load(connection: Connection, cache: StoreCache, limit: int, going: Callable[[], bool]) -> Replica | None:
    """Read the current store if it takes at most ``limit`` bytes. Returns None if it was written to meanwhile, has no
    vectors, or ``going`` returns false. Raises TooLargeError.
    """
    state = cache.state(connection, now=True)
    if not state.dimension:
        return None
    _check_size(connection, state.dimension, limit)
    reader = _Reader(connection, Budget(limit), state.dimension, going)
    adjacency = project(connection, cache)
    entities = reader.entities()
    sections = reader.sections()
    chunks = reader.chunks()
    aliases = reader.rows(cypher.REPLICA_ALIASES, 20_000)
    types = reader.rows(cypher.REPLICA_TYPES, NODES_A_READ)
    if not going() or cache.state(connection, now=True).key != state.key:
        return None
    if len(chunks.facts) != len(adjacency.chunks) or len(entities.names) != len(adjacency.entities):
        return None
    topology = _topology(adjacency, chunks, entities, sections)
    vectors = {
        Label.CHUNK: NodeVectors.of(chunks.vectors),
        Label.SUBCHAPTER: NodeVectors.of(sections.vectors),
        Label.ENTITY: NodeVectors.of(entities.vectors),
        Label.PAGE: NodeVectors.of(entities.vectors, topology.pages),
    }
    return Replica(
        state=state,
        topology=topology,
        vectors=vectors,
        relation_types={name: np.array(values, dtype=np.float32) for values, name in types if values},
        sentences=join_codes(chunks.sentences, state.dimension),
        words=Words.of(chunks.vocabulary, chunks.terms),
        relations=_by_end(entities.relations),
        names=_names(entities, topology, aliases),
        facts=chunks.facts,
        page_facts=entities.pages,
    )


def _check_size(connection: Connection, dimension: int, limit: int) -> None:
    """Raise TooLargeError if the vectors and objects of all nodes alone exceed the limit. The server knows the numbers
    of nodes, so nothing of a store that is too large is read, whenever it changes.
    """
    ((entities, _, sections, chunks, _),) = connection.read(reading.NODE_COUNTS)
    Budget(limit).take((entities + sections + chunks) * (_A_VECTOR * dimension + _OF_OBJECTS))


# -- reading -----------------------------------------------------------------------------------------------------


class _Nodes:
    """Nodes of one label as received: uris, and a row of ``vectors`` each, NaN without one."""

    def __init__(self) -> None:
        self.uris: list[str] = []
        self._parts: list[Vectors] = []

    def add(self, uris: Sequence[str], part: Vectors) -> None:
        self.uris += uris
        self._parts.append(part)

    def in_order(self, dimension: int) -> tuple[list[int], Vectors]:
        """Return the sort order of the uris by code points, and the vectors in this order."""
        order = sorted(range(len(self.uris)), key=self.uris.__getitem__)
        vectors = np.concatenate([np.empty((0, dimension), dtype=np.float32), *self._parts])
        self._parts = []
        # The server's order is nearly always that of code points: avoid the copy then.
        return order, vectors if order == list(range(len(order))) else vectors[order]


class _Chunks:
    def __init__(self) -> None:
        self.facts: list[ChunkFacts] = []
        self.position: list[int] = []
        self.sentences: list[bytes] = []
        self.vocabulary = Vocabulary()
        self.terms: list[tuple[NDArray[np.int32], int]] = []
        self.cites: list[list[str]] = []
        self.vectors: Vectors = np.empty((0, 0), dtype=np.float32)


class _Entities:
    def __init__(self) -> None:
        self.names: list[tuple[str | None, str | None]] = []
        self.pages: dict[str, PageFacts] = {}
        self.relations: list[RelationEdge] = []
        self.vectors: Vectors = np.empty((0, 0), dtype=np.float32)


class _Sections:
    def __init__(self) -> None:
        self.uris: list[str] = []
        self.position: list[int] = []
        self.vectors: Vectors = np.empty((0, 0), dtype=np.float32)


class _Reader:
    def __init__(
        self, connection: Connection, budget: Budget, dimension: int, going: Callable[[], bool]
    ) -> None:
        self._connection = connection
        self._budget = budget
        self._dimension = dimension
        self._going = going

    def rows(self, query: LiteralString, size: int) -> list[Row]:
        return [row for part in self._parts(query, size) for row in part]

    def _parts(self, query: LiteralString, size: int = NODES_A_READ) -> Iterator[list[Row]]:
        for part in self._connection.batches(query, size):
            if not self._going():
                return
            self._budget.take(_OF_OBJECTS * len(part))
            yield part

    def _vectors(self, part: Sequence[Row]) -> Vectors:
        """Return the first values of rows (n, d), NaN for null and for vectors of another dimension."""
        found = np.full((len(part), self._dimension), np.nan, dtype=np.float32)
        self._budget.take(_A_VECTOR * found.size)
        for row, (values, *_) in enumerate(part):
            if values is not None and len(values) == self._dimension:
                found[row] = values
        return found

    def chunks(self) -> _Chunks:
        read, nodes = _Chunks(), _Nodes()
        for part in self._parts(cypher.REPLICA_CHUNKS):
            nodes.add([row[-1] for row in part], self._vectors(part))
            for _, position, sentences, terms, headings, cites, *facts, _ in part:
                codes = decode_sentences(sentences) if sentences else b""
                words = read.vocabulary.number(terms or "")
                self._budget.take(len(codes) + sys.getsizeof(facts[0]) + _A_TERM * len(words))
                read.position.append(position)
                read.sentences.append(codes if len(codes) % self._dimension == 0 else b"")
                read.terms.append((words, headings or 0))
                read.cites.append(cites)
                read.facts.append((*facts,))
        order, read.vectors = nodes.in_order(self._dimension)
        for name in ("position", "sentences", "terms", "cites", "facts"):
            setattr(read, name, [getattr(read, name)[place] for place in order])
        return read

    def entities(self) -> _Entities:
        read, nodes = _Entities(), _Nodes()
        for part in self._parts(cypher.REPLICA_ENTITIES):
            nodes.add([row[-1] for row in part], self._vectors(part))
            for _, name, short, relations, facts, uri in part:
                read.names.append((name, short))
                read.relations += [RelationEdge(uri, kind, target) for kind, target in relations]
                if facts is not None:
                    read.pages[uri] = (*facts,)
        order, read.vectors = nodes.in_order(self._dimension)
        read.names = [read.names[place] for place in order]
        return read

    def sections(self) -> _Sections:
        read, nodes = _Sections(), _Nodes()
        for part in self._parts(cypher.REPLICA_SECTIONS):
            nodes.add([row[-1] for row in part], self._vectors(part))
            read.position += [row[1] for row in part]
        order, read.vectors = nodes.in_order(self._dimension)
        read.uris = [nodes.uris[place] for place in order]
        read.position = [read.position[place] for place in order]
        return read


# -- derived data --------------------------------------------------------------------------------------------------


def _topology(adjacency: Adjacency, chunks: _Chunks, entities: _Entities, sections: _Sections) -> Topology:
    section_rows = {uri: row for row, uri in enumerate(sections.uris)}
    entity_rows = adjacency.entity_rows
    position = np.array(chunks.position, dtype=np.int64)
    page = rows_in(entity_rows, [page_of(uri) for uri in adjacency.chunks])
    section = rows_in(section_rows, [section_of(uri) for uri in adjacency.chunks])
    counts = [len(cited) for cited in chunks.cites]
    cited = rows_in(entity_rows, [uri for each in chunks.cites for uri in each])
    citing = np.repeat(np.arange(len(counts)), counts)
    cites = group(citing[cited >= 0], cited[cited >= 0], len(counts))
    by_page = np.lexsort((position, page))
    # Chunks by page and position, so that the citing chunks of an entity come in this order.
    places, per_chunk = cites.rows(by_page)
    cited_in = group(places.astype(np.int64), np.repeat(by_page, per_chunk), len(adjacency.entities))
    section_page = rows_in(entity_rows, [page_of(uri) for uri in sections.uris])
    by_position = np.argsort(np.array(sections.position, dtype=np.int64), kind="stable")
    return Topology(
        adjacency=adjacency,
        sections=sections.uris,
        section_rows=section_rows,
        position=position,
        page=page,
        section=section,
        pages=rows_in(entity_rows, sorted(entities.pages)),
        cites=cites,
        cited_in=cited_in,
        page_chunks=_owned(page, by_page, len(adjacency.entities)),
        page_sections=_owned(section_page, by_position, len(adjacency.entities)),
        section_chunks=_owned(section, by_page, len(sections.uris)),
    )


def _owned(owners: Rows, order: Rows, count: int) -> Csr:
    """Group rows by their owner, in the given order; rows with owner -1 are dropped."""
    kept = order[owners[order] >= 0]
    return group(owners[kept], kept, count)


def _by_end(relations: Sequence[RelationEdge]) -> dict[str, list[RelationEdge]]:
    found: dict[str, list[RelationEdge]] = {}
    for edge in relations:
        for end in dict.fromkeys((edge.source, edge.target)):
            found.setdefault(end, []).append(edge)
    return found


def _names(entities: _Entities, topology: Topology, aliases: Sequence[Any]) -> dict[str, str]:
    """Map normalised names to the entities they most likely refer to: by exact title, alias, shortened title; page
    before bare entity; most cited; lowest uri.
    """
    uris, rows = topology.adjacency.entities, topology.adjacency.entity_rows
    bare = np.ones(len(uris), dtype=bool)
    bare[topology.pages] = False
    rank = list(zip(bare.tolist(), (-np.diff(topology.cited_in.indptr)).tolist(), uris, strict=True))
    best: dict[str, tuple[int, tuple[bool, int, str]]] = {}

    def means(name: str | None, kind: int, row: int) -> None:
        if name:
            meaning = (kind, rank[row])
            if name not in best or meaning < best[name]:
                best[name] = meaning

    for row, (name, short) in enumerate(entities.names):
        means(name, 0, row)
        means(short, 2, row)
    for name, short, leads_to, _ in aliases:
        if leads_to in rows:
            means(name, 1, rows[leads_to])
            means(short, 2, rows[leads_to])
    return {name: meaning[1][-1] for name, meaning in best.items()}
