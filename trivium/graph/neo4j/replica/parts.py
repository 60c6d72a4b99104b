"""What a replica is made of, as the database returns it: in batches of all nodes, or of some."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import LiteralString

import numpy as np
from numpy.typing import NDArray

from trivium.graph.arrays.columns import Rows
from trivium.graph.model import RelationEdge
from trivium.graph.neo4j.connection import Connection, Row
from trivium.graph.neo4j.replica.replica import AliasFacts, ChunkFacts, EntityNames, PageFacts
from trivium.graph.neo4j.replica.words import Vocabulary
from trivium.graph.property_graph import decode_sentences
from trivium.graph.records import SentenceVectors, Vectors
from trivium.graph.vectors import join_codes

A_VECTOR = 5
"""Bytes per vector component in memory: four for the number, one for its quantised copy."""
_A_TERM = 16
"""Bytes per term of a chunk: its place in the chunk, and in the list of chunks that contain it."""
OF_OBJECTS = 400
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


@dataclass(frozen=True, slots=True)
class Chunks:
    """Chunks sorted by uri. ``numbers`` are the terms of one after the other, ``sizes`` (n, 2) how many belong to text
    and headings.
    """

    uris: Sequence[str]
    facts: list[ChunkFacts]
    position: Rows
    sentences: SentenceVectors
    numbers: NDArray[np.int32]
    sizes: Rows
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class Sections:
    """Sections sorted by uri."""

    uris: Sequence[str]
    position: Rows
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class Entities:
    """Entities sorted by uri; ``relations`` start at them, ``pages`` are the facts of those that are pages."""

    uris: Sequence[str]
    names: list[EntityNames]
    pages: dict[str, PageFacts]
    relations: list[RelationEdge]
    vectors: Vectors


Types = dict[str, Vectors]
"""Embeddings of relation types."""
Aliases = dict[str, AliasFacts]
"""Aliases by uri."""


class PartReader:
    """Reads rows of nodes. Counts what they take in memory, and stops when ``going`` returns false."""

    def __init__(
        self, connection: Connection, budget: Budget, dimension: int, going: Callable[[], bool]
    ) -> None:
        self._connection = connection
        self._budget = budget
        self._dimension = dimension
        self._going = going

    def all(self, query: LiteralString, size: int) -> Iterator[list[Row]]:
        """Iterate over the rows of all nodes in batches."""
        for part in self._connection.batches(query, size):
            if not self._going():
                return
            self._budget.take(OF_OBJECTS * len(part))
            yield part

    def some(self, query: LiteralString, asked: dict[str, list[str]]) -> list[list[Row]]:
        """Return the rows of the nodes asked for as one batch."""
        part: list[Row] = self._connection.read(query, asked, whole=True)[0][0]
        self._budget.take(OF_OBJECTS * len(part))
        return [part]

    def _vectors(self, part: Sequence[Row]) -> Vectors:
        """Return the first values of rows (n, d), NaN for null and for vectors of another dimension."""
        found = np.full((len(part), self._dimension), np.nan, dtype=np.float32)
        self._budget.take(A_VECTOR * found.size)
        for row, (values, *_) in enumerate(part):
            if values is not None and len(values) == self._dimension:
                found[row] = values
        return found

    def _in_order(self, uris: Sequence[str], parts: Sequence[Vectors]) -> tuple[list[int], Vectors]:
        """Return the sort order of uris by code points, and the vectors in this order."""
        order = sorted(range(len(uris)), key=uris.__getitem__)
        vectors = np.concatenate([np.empty((0, self._dimension), dtype=np.float32), *parts])
        # The server's order is nearly always that of code points: avoid the copy then.
        return order, vectors if order == list(range(len(order))) else vectors[order]

    def chunks(self, parts: Iterable[list[Row]], vocabulary: Vocabulary) -> tuple[Chunks, list[list[str]]]:
        """Return chunks, and the entities that each cites. New terms are added to the vocabulary."""
        uris: list[str] = []
        vectors, facts, position, sentences, cites = [], [], [], [], []
        numbers, sizes = [], []
        for part in parts:
            vectors.append(self._vectors(part))
            for _, place, encoded, terms, headings, cited, *rest, uri in part:
                codes = decode_sentences(encoded) if encoded else b""
                words = vocabulary.number(terms or "")
                self._budget.take(len(codes) + sys.getsizeof(rest[0]) + _A_TERM * len(words))
                uris.append(uri)
                position.append(place)
                sentences.append(codes if len(codes) % self._dimension == 0 else b"")
                numbers.append(words)
                sizes.append((len(words) - (headings or 0), headings or 0))
                cites.append(cited)
                facts.append((*rest,))
        order, matrix = self._in_order(uris, vectors)
        none = np.empty(0, dtype=np.int32)
        chunks = Chunks(
            uris=[uris[place] for place in order],
            facts=[facts[place] for place in order],
            position=np.array(position, dtype=np.int64)[order],
            sentences=join_codes([sentences[place] for place in order], self._dimension),
            numbers=np.concatenate([none, *(numbers[place] for place in order)]),
            sizes=np.array(sizes, dtype=np.int64).reshape(-1, 2)[order],
            vectors=matrix,
        )
        return chunks, [cites[place] for place in order]

    def entities(self, parts: Iterable[list[Row]]) -> Entities:
        """Return entities."""
        uris: list[str] = []
        names: list[EntityNames] = []
        pages: dict[str, PageFacts] = {}
        relations: list[RelationEdge] = []
        vectors = []
        for part in parts:
            vectors.append(self._vectors(part))
            for _, name, short, stated, facts, uri in part:
                uris.append(uri)
                names.append((name, short))
                relations += [RelationEdge(uri, kind, target) for kind, target in stated]
                if facts is not None:
                    pages[uri] = (*facts,)
        order, matrix = self._in_order(uris, vectors)
        return Entities(
            [uris[place] for place in order], [names[place] for place in order], pages, relations, matrix
        )

    def sections(self, parts: Iterable[list[Row]]) -> Sections:
        """Return sections."""
        rows, vectors = [], []
        for part in parts:
            vectors.append(self._vectors(part))
            rows += [(position, uri) for _, position, uri in part]
        uris = [uri for _, uri in rows]
        order, matrix = self._in_order(uris, vectors)
        positions = np.array([position for position, _ in rows], dtype=np.int64)
        return Sections([uris[place] for place in order], positions[order], matrix)


def aliases_of(parts: Iterable[list[Row]]) -> Aliases:
    """Return aliases by uri."""
    return {uri: (name, short, leads_to) for part in parts for name, short, leads_to, uri in part}


def types_of(parts: Iterable[list[Row]]) -> Types:
    """Return the embeddings of the types that have one."""
    return {name: np.array(values, dtype=np.float32) for part in parts for values, name in part if values}
