"""Rows of a source that knows its nodes by uri alone and holds those it gives in memory: they are numbered here.

A source gives all its nodes once (:class:`KeyedRows`), and after a change those that it touched (:func:`changes_of`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from trivium.common.iteration import batched
from trivium.graph.arrays.array_files import Rows
from trivium.graph.arrays.row_source import Changes, DetailRow, NodeRow
from trivium.graph.arrays.topology import Topology
from trivium.graph.arrays.vector_matrix import Matrix
from trivium.graph.records import Vectors
from trivium.graph.schema import Label

_BLOCK = 5_000


class KeyedChunk(NamedTuple):
    """A chunk of a page. ``above`` is the section or page directly above it; terms are separated by single spaces;
    ``cites`` are the entities, in order of appearance; ``pages`` the first and last page of a document that it stands
    on, 0 for none; ``sentences`` its sentence vectors as bytes.
    """

    uri: str
    page: str
    above: str
    position: int
    heading_terms: str
    terms: str
    cites: Sequence[str]
    kind: str = ""
    pages: tuple[int, int] = (0, 0)
    sentences: bytes = b""


class KeyedSection(NamedTuple):
    """A section of a page."""

    uri: str
    page: str
    position: int


class KeyedEntity(NamedTuple):
    """An entity."""

    uri: str
    is_page: bool


class _Keyed(Protocol):
    @property
    def uri(self) -> str: ...


T = TypeVar("T", bound=_Keyed)


@dataclass(frozen=True)
class Nodes(Generic[T]):
    """Nodes of a kind, sorted by uri, and their vectors (n, d), NaN without one."""

    rows: Sequence[T]
    vectors: Vectors

    @classmethod
    def of(cls, rows: Sequence[T], blocks: Sequence[Vectors], dimension: int) -> Nodes[T]:
        """Sort nodes, which come with their vectors in blocks."""
        order = sorted(range(len(rows)), key=lambda place: rows[place].uri)
        vectors = np.concatenate([np.empty((0, dimension), dtype=np.float32), *blocks])
        if order == list(range(len(order))):  # as they nearly always come: avoid the copy
            return cls(rows, vectors)
        return cls([rows[place] for place in order], vectors[order])

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The place of each node."""
        return {row.uri: place for place, row in enumerate(self.rows)}

    @cached_property
    def present(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which have a vector (n,)."""
        return (
            ~np.isnan(self.vectors[:, 0]) if self.vectors.shape[1] else np.zeros(len(self.rows), dtype=bool)
        )


@dataclass(frozen=True)
class KeyedNodes:
    """Nodes that a source gives."""

    chunks: Nodes[KeyedChunk]
    sections: Nodes[KeyedSection]
    entities: Nodes[KeyedEntity]


class KeyedRows:
    """All nodes of a source as a :class:`~trivium.graph.arrays.row_source.RowSource`. Chunks, sections and entities are
    numbered one after the other from 1, in uri order, and so are their vectors.
    """

    def __init__(self, given: KeyedNodes, dimension: int) -> None:
        self._given = given
        self.dimension = dimension
        self._sections_after = len(given.chunks.rows)
        self._entities_after = self._sections_after + len(given.sections.rows)

    def nodes(self, label: Label) -> Iterator[Sequence[NodeRow]]:
        given = self._given
        kinds: Sequence[Nodes[Any]] = (given.chunks, given.sections, given.entities)
        kind = {Label.CHUNK: 0, Label.SUBCHAPTER: 1}.get(label, 2)
        first = (0, self._sections_after, self._entities_after)[kind] + 1
        vectors_before = sum(int(nodes.present.sum()) for nodes in kinds[:kind])
        present = kinds[kind].present
        vectors = np.where(present, vectors_before + np.cumsum(present), -1).tolist()
        rows = (
            (row.uri, first + place, vectors[place])
            for place, row in enumerate(kinds[kind].rows)
            if label is not Label.PAGE or given.entities.rows[place].is_page
        )
        yield from batched(rows, _BLOCK)

    def chunks(self) -> Rows:
        sections, entities = self._given.sections.places, self._given.entities.places
        found = np.empty((len(self._given.chunks.rows), 6), dtype=np.int64)
        for place, chunk in enumerate(self._given.chunks.rows):
            section = sections.get(chunk.above)
            found[place] = (
                place + 1,
                self._entities_after + entities[chunk.page] + 1,
                -1 if section is None else self._sections_after + section + 1,
                chunk.position,
                *_sizes(chunk),
            )
        return found

    def sections(self) -> Rows:
        entities = self._given.entities.places
        rows = [
            (
                self._sections_after + place,
                self._entities_after + entities[section.page] + 1,
                section.position,
            )
            for place, section in enumerate(self._given.sections.rows, 1)
        ]
        return _integers(rows, 3)

    def citations(self) -> Rows:
        entities = self._given.entities.places
        pairs = (
            (place, self._entities_after + entities[uri] + 1)
            for place, chunk in enumerate(self._given.chunks.rows, 1)
            for uri in chunk.cites
            if uri in entities
        )
        return np.array(list(pairs), dtype=np.int64).reshape(-1, 2)

    def last_name(self) -> int:
        return self._entities_after + len(self._given.entities.rows)

    def vector_numbers(self) -> Rows:
        given = self._given
        count = sum(int(nodes.present.sum()) for nodes in (given.chunks, given.sections, given.entities))
        return np.arange(1, count + 1)

    def vectors(self, after: int) -> Iterator[Vectors]:
        _need_all(after)
        for nodes in (self._given.chunks, self._given.sections, self._given.entities):
            places = np.flatnonzero(nodes.present)
            for begin in range(0, len(places), _BLOCK):
                yield nodes.vectors[places[begin : begin + _BLOCK]]

    def terms(self, after: int) -> Iterator[Sequence[tuple[int, str, str]]]:
        _need_all(after)
        rows = (
            (number, chunk.heading_terms, chunk.terms)
            for number, chunk in enumerate(self._given.chunks.rows, 1)
        )
        yield from batched(rows, _BLOCK)

    def details(self) -> Iterator[Sequence[DetailRow]]:
        rows = ((number, chunk.kind, *chunk.pages) for number, chunk in enumerate(self._given.chunks.rows, 1))
        yield from batched(rows, _BLOCK)

    def sentence_sums(self) -> Rows:
        sizes = [
            (number, len(chunk.sentences), -1)
            for number, chunk in enumerate(self._given.chunks.rows, 1)
            if chunk.sentences
        ]
        return _integers(sizes, 3)

    def chunk_texts(self) -> Rows:
        numbers = np.arange(1, len(self._given.chunks.rows) + 1)
        return np.stack([numbers, numbers], axis=1)

    def sentences(self, texts: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        for number in texts:
            yield number, self._given.chunks.rows[number - 1].sentences


@dataclass(frozen=True)
class Touched:
    """What a change touched: ``pages`` with all of their chunks and sections, other ``chunks``, and ``entities``, by uri.
    Those of them that there are now are ``nodes``, and so are others that may have other vectors.
    """

    pages: Iterable[str]
    chunks: Iterable[str]
    entities: Iterable[str]
    nodes: KeyedNodes


def changes_of(touched: Touched, old: Topology, matrix: Matrix) -> Changes:
    """Return what is different from the state of ``old`` and ``matrix``, which were made from :class:`KeyedRows`.
    Raises LookupError if a node belongs to a page that is not there, because the source changed while it was read.
    """
    return _Comparison(touched, old, matrix).changes()


class _Comparison:
    """Compares touched nodes with those of an earlier state, and numbers the new ones."""

    def __init__(self, touched: Touched, old: Topology, matrix: Matrix) -> None:
        self._touched, self._old, self._matrix = touched, old, matrix
        self._last = old.last_name
        self._numbers: dict[Label, dict[str, int]] = {label: {} for label in old.nodes}
        self._vectors: list[Vectors] = []
        self._gone: dict[Label, list[int]] = {label: [] for label in old.nodes}
        self._new: dict[Label, list[NodeRow]] = {label: [] for label in old.nodes}
        self._given: dict[Label, list[tuple[int, int]]] = {label: [] for label in old.nodes}

    def changes(self) -> Changes:
        """Return the changes."""
        touched, old = self._touched, self._old
        pages = old.nodes[Label.PAGE].uris.find_all(list(touched.pages))
        pages = pages[pages >= 0]
        nodes = touched.nodes
        self._entities(nodes.entities)
        self._sort_out(
            Label.SUBCHAPTER, nodes.sections, old.page_sections.rows(pages)[0].astype(np.int64), ()
        )
        new_chunks = self._sort_out(
            Label.CHUNK, nodes.chunks, old.page_chunks.rows(pages)[0].astype(np.int64), touched.chunks
        )
        sections = [
            nodes.sections.rows[nodes.sections.places[uri]] for uri, _, _ in self._new[Label.SUBCHAPTER]
        ]
        outlines = [
            (self._number(Label.ENTITY, each.page), self._number(Label.SUBCHAPTER, each.uri))
            for each in sorted(sections, key=lambda each: (each.page, each.position, each.uri))
        ]
        numbers = [self._number(Label.CHUNK, chunk.uri) for chunk in nodes.chunks.rows]
        return Changes(
            gone=self._gone,
            new=self._new,
            given={label: _integers(rows, 2) for label, rows in self._given.items()},
            vector_numbers=self._matrix.highest + np.arange(1, len(self._vectors) + 1),
            vectors=np.array(self._vectors, dtype=np.float32).reshape(-1, self._matrix.dimension),
            chunks=_integers([self._facts(chunk) for chunk in new_chunks], 5),
            terms=[f"{chunk.heading_terms} {chunk.terms}" for chunk in new_chunks],
            details=[
                (self._number(Label.CHUNK, chunk.uri), chunk.kind, *chunk.pages) for chunk in new_chunks
            ],
            section_pages=np.array(
                [self._number(Label.ENTITY, each.page) for each in sections], dtype=np.int64
            ),
            outlines=_integers(outlines, 2),
            citing=np.array(sorted(numbers), dtype=np.int64),
            citations=self._citations(),
            texts=[(number, number) for number in numbers],
            sentences={
                number: chunk.sentences
                for number, chunk in zip(numbers, nodes.chunks.rows, strict=True)
                if chunk.sentences
            },
            last_name=self._last,
        )

    def _entities(self, nodes: Nodes[KeyedEntity]) -> None:
        self._sort_out(Label.ENTITY, nodes, _none(), (*self._touched.entities, *self._touched.pages))
        table = self._old.nodes[Label.PAGE]
        given = dict(self._given[Label.ENTITY])
        vectors = {uri: vector for uri, _, vector in self._new[Label.ENTITY]}
        there = {row.uri for row in nodes.rows if row.is_page}
        asked = list(dict.fromkeys([*self._touched.pages, *self._touched.entities, *sorted(there)]))
        for uri, row in zip(asked, table.uris.find_all(asked).tolist(), strict=True):
            if row >= 0 and uri not in there:
                self._gone[Label.PAGE].append(int(table.ids[row]))
            elif uri in there:
                number = self._number(Label.ENTITY, uri)
                vector = given[number] if number in given else vectors[uri]
                if row >= 0 and table.ids[row] == number:
                    self._given[Label.PAGE].append((number, vector))
                else:
                    self._new[Label.PAGE].append((uri, number, vector))
        self._new[Label.PAGE].sort()

    def _sort_out(self, label: Label, nodes: Nodes[T], replaced: Rows, others: Iterable[str]) -> list[T]:
        """Tell apart which nodes of a label are new, which have been there and may have another vector, and which are
        gone: those in the rows ``replaced``, for which others may have come, and of ``others`` those that are not there
        any more. Returns the new ones.
        """
        table = self._old.nodes[label]
        removed = set(replaced.tolist())
        missing = table.uris.find_all([uri for uri in others if uri not in nodes.places])
        self._gone[label] += table.ids[np.union1d(replaced, missing[missing >= 0])].tolist()
        new = []
        known = table.uris.find_all([row.uri for row in nodes.rows]).tolist()
        for place, (row, there) in enumerate(zip(nodes.rows, known, strict=True)):
            vector = nodes.vectors[place] if nodes.present[place] else None
            if there >= 0 and there not in removed:
                number = int(table.ids[there])
                self._given[label].append((number, self._vector(vector, int(table.vector[there]))))
            else:
                self._last += 1
                number = self._last
                self._new[label].append((row.uri, number, self._vector(vector, -1)))
                new.append(row)
            self._numbers[label][row.uri] = number
        return new

    def _vector(self, vector: Vectors | None, row: int) -> int:
        """Return the number of a vector: that of a row of the matrix, if it is the same, or a new one."""
        if vector is None:
            return -1
        if row >= 0 and np.array_equal(self._matrix.gather(np.array([row]))[0], vector):
            return int(self._matrix.ids[row])
        self._vectors.append(vector)
        return self._matrix.highest + len(self._vectors)

    def _number(self, label: Label, uri: str) -> int:
        """Return the number of a node that is there now. Raises LookupError."""
        number = self._numbers[label].get(uri)
        if number is None:
            table = self._old.nodes[label]
            row = table.uris.find(uri)
            if row < 0:
                raise LookupError(uri)
            number = self._numbers[label][uri] = int(table.ids[row])
        return number

    def _facts(self, chunk: KeyedChunk) -> tuple[int, int, int, int, int]:
        section = -1 if chunk.above == chunk.page else self._number(Label.SUBCHAPTER, chunk.above)
        return (self._number(Label.ENTITY, chunk.page), section, chunk.position, *_sizes(chunk))

    def _citations(self) -> Rows:
        pairs: dict[tuple[int, int], None] = {}
        for chunk in self._touched.nodes.chunks.rows:
            for uri in chunk.cites:
                with suppress(LookupError):
                    pair = (self._number(Label.CHUNK, chunk.uri), self._number(Label.ENTITY, uri))
                    pairs[pair] = None
        return _integers(list(pairs), 2)


def _sizes(chunk: KeyedChunk) -> tuple[int, int]:
    """Return how many terms text and headings have."""
    return len(chunk.terms.split()), len(chunk.heading_terms.split())


def _need_all(after: int) -> None:
    if after:
        raise ValueError(f"expected to be asked for everything, got rows after {after}")


def _none() -> Rows:
    return np.empty(0, dtype=np.int64)


def _integers(rows: Sequence[Sequence[int]], columns: int) -> Rows:
    return np.array(rows, dtype=np.int64).reshape(-1, columns)
