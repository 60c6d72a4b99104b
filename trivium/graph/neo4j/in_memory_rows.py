"""The rows that a store in memory is made of, as the database returns them: in batches of all nodes, or of some."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import LiteralString

import numpy as np

from trivium.graph.arrays.in_memory_store import Facts
from trivium.graph.arrays.rows_by_uri import KeyedChunk, KeyedEntity, KeyedNodes, KeyedSection, Nodes
from trivium.graph.neo4j.change_log import Touched
from trivium.graph.neo4j.connection import Connection, Row
from trivium.graph.neo4j.cypher import scanning as cypher
from trivium.graph.node_properties import decode_sentences
from trivium.graph.page_facts import page_record
from trivium.graph.page_graph import RelationEdge
from trivium.graph.records import Vectors
from trivium.graph.schema import page_of, section_of

A_VECTOR = 5
"""Bytes per vector component in memory: four for the number, one for its quantised copy."""
_A_TERM = 16
"""Bytes per term of a chunk: its place in the chunk, and in the list of chunks that contain it."""
OF_OBJECTS = 400
"""Bytes for a node's Python objects, such as its uri, besides vector, texts and terms."""
_NODES_A_READ = 1_000
"""Nodes with their vectors per response: a few megabytes."""
_ALIASES_A_READ = 20_000


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


class RowReader:
    """Reads rows of nodes. Counts what they take in memory, and stops when ``going`` returns false."""

    def __init__(
        self, connection: Connection, budget: Budget, dimension: int, going: Callable[[], bool]
    ) -> None:
        self._connection = connection
        self._budget = budget
        self._dimension = dimension
        self._going = going

    def all(self) -> tuple[KeyedNodes, Facts]:
        """Read all nodes."""
        return self._read(
            entities=self._batches(cypher.HELD_ENTITIES),
            sections=self._batches(cypher.HELD_SECTIONS),
            chunks=self._batches(cypher.HELD_CHUNKS),
            aliases=self._batches(cypher.HELD_ALIASES, _ALIASES_A_READ),
            types=self._batches(cypher.HELD_TYPES),
        )

    def touched(self, touched: Touched) -> tuple[KeyedNodes, Facts]:
        """Read the nodes that were touched, as far as there are some."""
        pages, texts = sorted(touched.pages), sorted(touched.texts)
        entities = sorted(touched.entities | touched.pages)
        chunks = sorted(touched.chunks)
        return self._read(
            entities=self._some(cypher.TOUCHED_NODES, entities=entities, texts=texts),
            sections=self._some(cypher.TOUCHED_SECTIONS, pages=pages, texts=texts),
            chunks=self._some(cypher.TOUCHED_CHUNKS, pages=pages, chunks=chunks, texts=texts),
            aliases=self._some(cypher.TOUCHED_ALIASES, aliases=sorted(touched.aliases)),
            types=self._some(cypher.TOUCHED_TYPES, types=sorted(touched.types), texts=texts),
        )

    def _batches(self, query: LiteralString, size: int = _NODES_A_READ) -> Iterator[list[Row]]:
        for part in self._connection.batches(query, size):
            if not self._going():
                return
            self._budget.take(OF_OBJECTS * len(part))
            yield part

    def _some(self, query: LiteralString, **asked: list[str]) -> Iterator[list[Row]]:
        part: list[Row] = self._connection.read(query, asked, whole=True)[0][0]
        self._budget.take(OF_OBJECTS * len(part))
        yield part

    def _read(
        self,
        entities: Iterable[list[Row]],
        sections: Iterable[list[Row]],
        chunks: Iterable[list[Row]],
        aliases: Iterable[list[Row]],
        types: Iterable[list[Row]],
    ) -> tuple[KeyedNodes, Facts]:
        facts = Facts({}, {}, {}, {}, {}, {})
        nodes = KeyedNodes(
            entities=self._entities(entities, facts),
            sections=self._sections(sections),
            chunks=self._chunks(chunks, facts),
        )
        for part in aliases:
            facts.aliases.update((uri, (name, short, leads_to)) for name, short, leads_to, uri in part)
        for part in types:
            facts.types.update((name, np.array(values, dtype=np.float32)) for values, name in part if values)
        return nodes, facts

    def _entities(self, parts: Iterable[list[Row]], facts: Facts) -> Nodes[KeyedEntity]:
        rows, vectors = [], []
        for part in parts:
            vectors.append(self._vectors(part))
            for _, name, short, stated, page, uri in part:
                rows.append(KeyedEntity(uri, page is not None))
                facts.names[uri] = (name, short)
                if stated:
                    facts.relations[uri] = [RelationEdge(uri, *relation) for relation in stated]
                if page is not None:
                    facts.pages[uri] = page_record(*(*page, uri))
        return Nodes.of(rows, vectors, self._dimension)

    def _sections(self, parts: Iterable[list[Row]]) -> Nodes[KeyedSection]:
        rows, vectors = [], []
        for part in parts:
            vectors.append(self._vectors(part))
            rows += [KeyedSection(uri, page_of(uri), position) for _, position, uri in part]
        return Nodes.of(rows, vectors, self._dimension)

    def _chunks(self, parts: Iterable[list[Row]], facts: Facts) -> Nodes[KeyedChunk]:
        rows, vectors = [], []
        for part in parts:
            vectors.append(self._vectors(part))
            for _, position, encoded, terms, headings, cited, *text, uri in part:
                codes = decode_sentences(encoded) if encoded else b""
                words = (terms or "").split()
                self._budget.take(len(codes) + sys.getsizeof(text[0]) + _A_TERM * len(words))
                count = headings or 0
                rows.append(
                    KeyedChunk(
                        uri,
                        page_of(uri),
                        section_of(uri),
                        position,
                        " ".join(words[:count]),
                        " ".join(words[count:]),
                        cited,
                        text[1],
                        (text[-2] or 0, text[-1] or 0),
                        codes if len(codes) % self._dimension == 0 else b"",
                    )
                )
                facts.chunks[uri] = (*text,)
        return Nodes.of(rows, vectors, self._dimension)

    def _vectors(self, part: list[Row]) -> Vectors:
        """Return the first values of rows (n, d), NaN for null and for vectors of another dimension."""
        found = np.full((len(part), self._dimension), np.nan, dtype=np.float32)
        self._budget.take(A_VECTOR * found.size)
        for row, (values, *_) in enumerate(part):
            if values is not None and len(values) == self._dimension:
                found[row] = values
        return found
