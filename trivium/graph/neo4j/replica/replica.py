"""The replica, and the reads of a search. Results equal those of the embedded store: every vector is compared, in
double precision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from trivium.common.cache import SingleFlight
from trivium.common.ragged import expand_ranges
from trivium.errors import StoreChangedError
from trivium.graph.arrays.columns import Csr, Rows
from trivium.graph.facts import decode_metadata
from trivium.graph.model import RelationEdge
from trivium.graph.nearness import Found, best, reach
from trivium.graph.neo4j.cache import StoreState
from trivium.graph.neo4j.replica.node_vectors import NodeVectors
from trivium.graph.neo4j.replica.words import Words
from trivium.graph.records import (
    Adjacency,
    ChunkRecord,
    Codes,
    Floats,
    Reached,
    SentenceVectors,
    Similarities,
    TermCounts,
    TermStatistics,
    Vectors,
    rank_key,
)
from trivium.graph.schema import Hop, Label, page_of, section_of
from trivium.graph.string_table import StringTable
from trivium.graph.vectors import check_query

PREFETCHED = 100
"""Minimum number of neighbours searched for, since several retrievers of a question share them."""
_REMEMBERED = 64

ChunkFacts = tuple[str, str, int, int, int, int | None, int | None]
"""Text, kind, start, end, number of tokens, first and last page."""
PageFacts = tuple[str, str, str | None]
"""Document, format and metadata as stored."""

EntityNames = tuple[str | None, str | None]
"""Normalised name and shortened name."""
AliasFacts = tuple[str | None, str | None, str | None]
"""Name, shortened name, and the entity it leads to."""


@dataclass(frozen=True, slots=True)
class Topology:
    """Chunks, entities and sections by row, each sorted by uri, and their hierarchy.

    ``section_position`` are the positions of sections on their pages. ``page`` and ``section`` (chunks,) are the entity
    row of a chunk's page, and the section directly above it, -1 directly under the page. ``cites``: chunk -> entities.
    ``cited_in``: entity -> chunks, by page and position. ``page_chunks``, ``page_sections``: page entity -> its chunks
    and sections by position. ``section_chunks``: section -> the chunks directly under it, by position. Pages are
    identified by their entity rows.
    """

    adjacency: Adjacency
    chunks: StringTable
    entities: StringTable
    sections: StringTable
    section_position: Rows
    position: Rows
    page: Rows
    section: Rows
    pages: Rows
    cites: Csr
    cited_in: Csr
    page_chunks: Csr
    page_sections: Csr
    section_chunks: Csr

    def chunk_rows(self, uris: Sequence[str]) -> Rows:
        """Return the rows of chunks (n,), -1 for unknown ones."""
        return self.chunks.find_all(uris)

    def chunks_along(self, label: Label, row: int, hop: Hop) -> Rows:
        """Return the rows of the chunks along a hop from a node, by page and position."""
        if label is Label.SUBCHAPTER:
            found = self.section_chunks.row(row) if hop is Hop.CHILD else _NONE
        elif label is Label.CHUNK:
            found = _NONE
        elif hop is Hop.CITED_IN:
            found = self.cited_in.row(row)
        else:
            found = self.page_chunks.row(row)
            if hop is Hop.CHILD:
                found = found[self.section[found] < 0]
        return found.astype(np.int64)


@dataclass(frozen=True, slots=True)
class Replica:
    """What a search reads of a store in one ``state``. ``sentences``: sentence vectors of all chunks. ``relations``:
    entity -> the relations that start or end at it. ``names``: normalised name -> the entity it most likely refers
    to, made of ``entity_names`` (the names of each entity by row) and ``aliases`` (by uri). Read-only and thread-safe.
    """

    state: StoreState
    topology: Topology
    vectors: Mapping[Label, NodeVectors]
    relation_types: Mapping[str, Vectors]
    sentences: SentenceVectors
    words: Words
    relations: Mapping[str, Sequence[RelationEdge]]
    names: Mapping[str, str]
    entity_names: Sequence[EntityNames]
    aliases: Mapping[str, AliasFacts]
    facts: Sequence[ChunkFacts]
    page_facts: Mapping[str, PageFacts]
    _searches: SingleFlight[tuple[Label, int, bytes], tuple[Rows, Floats]] = field(
        default_factory=lambda: SingleFlight(_REMEMBERED)
    )

    # -- vectors -------------------------------------------------------------------------------------------------

    def nearest(self, labels: Sequence[Label], vector: Vectors, k: int) -> list[Found]:
        """Return the k nearest nodes of any of the labels, ordered by :func:`rank_key`."""
        check_query(vector, self.state.dimension)
        wanted = dict.fromkeys(labels)
        if Label.ENTITY in wanted:
            wanted.pop(Label.PAGE, None)  # pages are entities too: return each node once
        found: list[Found] = []
        for label in wanted:
            rows, scores = (each[: max(k, 0)].tolist() for each in self._nearest(label, vector, k))
            found.extend(map(Found, repeat(label), rows, self._uris(label).take(rows), scores))
        if len(wanted) > 1:
            found.sort(key=lambda node: rank_key(node.score, node.uri))
        return found[: max(k, 0)]

    def _nearest(self, label: Label, vector: Vectors, k: int) -> tuple[Rows, Floats]:
        """Return the rows of at least the k nearest nodes of a label, in order, and their cosines. Cached, since several
        retrievers ask for them, some concurrently.
        """
        nodes, asked = self.vectors[label], max(k, PREFETCHED)

        def search() -> tuple[Rows, Floats]:
            rows = nodes.candidates(vector, asked)
            return best(rows, nodes.cosines(rows, vector), asked)

        return self._searches.get((label, asked, vector.tobytes()), search)

    def expand_nearest(
        self, labels: Sequence[Label], vector: Vectors, count: int, hop: Hop, limit: int | None
    ) -> list[Reached]:
        """Return chunks along a hop from the nearest nodes; see
        :meth:`trivium.graph.protocols.GraphStore.expand_nearest`.
        """
        topology = self.topology
        return reach(
            self.nearest(labels, vector, count),
            lambda node: topology.chunks_along(node.label, node.row, hop),
            lambda rows: self.vectors[Label.CHUNK].cosines(rows, vector),
            topology.position,
            topology.chunks.take,
            np.zeros(len(topology.position), dtype=bool),
            limit,
        )

    def similarities(self, vector: Vectors, uris: Sequence[str]) -> Similarities:
        """Return the cosines of chunks and of their sections, pages and entities, NaN where undefined."""
        check_query(vector, self.state.dimension)
        rows = self.topology.chunk_rows(uris)
        present = np.flatnonzero(rows >= 0)
        row = rows[present]
        views = np.full((4, len(uris)), np.nan)
        if len(row):
            section = self.topology.section[row]
            of_page = self._shared(Label.ENTITY, self.topology.page[row], vector)
            views[0, present] = self.vectors[Label.CHUNK].cosines(row, vector)
            of_section = self._shared(Label.SUBCHAPTER, section, vector)
            views[1, present] = np.where(section < 0, of_page, of_section)
            views[2, present] = of_page
            views[3, present] = self._best_cited(row, vector)
        return Similarities(*views)

    def _best_cited(self, chunks: Rows, vector: Vectors) -> Floats:
        """Return the highest cosine among the entities that each chunk cites."""
        entities, counts = self.topology.cites.rows(chunks)
        scores = self._shared(Label.ENTITY, entities.astype(np.int64), vector)
        highest = np.full(len(chunks), np.nan)
        citing = np.flatnonzero(counts)
        if len(citing):
            highest[citing] = np.fmax.reduceat(scores, (np.cumsum(counts) - counts)[citing])
        return highest

    def _shared(self, label: Label, rows: Rows, vector: Vectors) -> Floats:
        """Return the cosines of rows (n,), NaN for -1, computing each distinct row once."""
        distinct, back = np.unique(rows, return_inverse=True)
        return self.vectors[label].cosines(distinct, vector)[back]

    def gather(self, label: Label, uris: Sequence[str]) -> Vectors:
        """Return embeddings (n, d) of nodes, NaN for unknown nodes and nodes without one."""
        if label is Label.CHUNK:
            rows = self.topology.chunk_rows(uris)
        elif label is Label.SUBCHAPTER:
            rows = self.topology.sections.find_all(uris)
        else:
            rows = self.topology.entities.find_all(uris)
            if label is Label.PAGE:
                rows = np.where(np.isin(rows, self.topology.pages), rows, -1)
        return self.vectors[label].gather(rows)

    def gather_types(self, types: Sequence[str]) -> Vectors:
        """Return embeddings (n, d) of relation types, NaN for unknown types and types without one."""
        gathered = np.full((len(types), self.state.dimension), np.nan, dtype=np.float32)
        for row, name in enumerate(types):
            if name in self.relation_types:
                gathered[row] = self.relation_types[name]
        return gathered

    def sentences_of(self, uris: Sequence[str]) -> SentenceVectors:
        """Return the sentence vectors of chunks, in the order asked; none for unknown chunks and chunks without them."""
        rows = self.topology.chunk_rows(uris)
        known, starts = rows >= 0, self.sentences.starts
        begin = np.where(known, starts[rows], 0)
        counts = np.where(known, starts[rows + 1] - begin, 0)
        _, places = expand_ranges(begin, counts)
        codes: Codes = self.sentences.codes[places]
        return SentenceVectors(codes, np.concatenate([[0], np.cumsum(counts)]))

    # -- words ---------------------------------------------------------------------------------------------------

    def keyword_search(self, terms: Sequence[str], k: int) -> list[str]:
        """Return about the k best chunks by keywords, best first."""
        return self.topology.chunks.take(self.words.search(terms, k).tolist())

    def term_counts(self, uris: Sequence[str], terms: Sequence[str]) -> TermCounts:
        """Return how often and where terms occur in chunks; counts of unknown chunks are 0."""
        return self.words.counts(self.topology.chunk_rows(uris), terms)

    def term_statistics(self, terms: Sequence[str]) -> TermStatistics:
        """Return the number of chunks, their mean length, and the document frequencies of terms."""
        state = self.state
        mean = state.term_total / state.chunks if state.chunks else 0.0
        return TermStatistics(state.chunks, mean, self.words.frequencies(terms).astype(np.float64))

    # -- structure -----------------------------------------------------------------------------------------------

    def outline(self, pages: Sequence[str]) -> dict[str, list[str]]:
        """Return the sections of each page in document order; empty for unknown pages."""
        topology = self.topology
        rows = topology.entities.find_all(pages).tolist()
        return {
            page: [] if row < 0 else topology.sections.take(topology.page_sections.row(row).tolist())
            for page, row in zip(pages, rows, strict=True)
        }

    def expand(self, uris: Sequence[str], hop: Hop) -> dict[str, list[str]]:
        """Return the chunks along a hop from each node, by page and position; empty for unknown nodes."""
        topology = self.topology
        found: dict[str, list[str]] = {}
        for uri in uris:
            label, row = Label.ENTITY, topology.entities.find(uri)
            if row < 0:
                label, row = Label.SUBCHAPTER, topology.sections.find(uri)
            rows = _NONE if row < 0 else topology.chunks_along(label, row, hop)
            found[uri] = topology.chunks.take(rows.tolist())
        return found

    def relations_of(self, entities: Sequence[str]) -> list[RelationEdge]:
        """Return stated relations that start or end at one of the entities, sorted by source, type and target."""
        found = {edge for uri in dict.fromkeys(entities) for edge in self.relations.get(uri, ())}
        return sorted(found, key=lambda edge: (edge.source, edge.type, edge.target))

    def fetch(self, uris: Sequence[str]) -> list[ChunkRecord]:
        """Return records in the order asked. Raises StoreChangedError for an unknown chunk."""
        records = []
        for uri, row in zip(uris, self.topology.chunk_rows(uris).tolist(), strict=True):
            if row < 0:
                raise StoreChangedError(
                    f"there is no chunk {uri!r} in the store; it may have been replaced since it was found"
                )
            text, kind, start, end, tokens, first, last = self.facts[row]
            page = page_of(uri)
            document, format_, metadata = self.page_facts.get(page, ("", "", None))
            records.append(
                ChunkRecord(
                    uri,
                    page,
                    section_of(uri),
                    text,
                    kind,
                    int(self.topology.position[row]),
                    start,
                    end,
                    tokens,
                    None if first is None or last is None else (first, last),
                    document,
                    format_,
                    decode_metadata(metadata),
                )
            )
        return records

    def _uris(self, label: Label) -> StringTable:
        if label is Label.CHUNK:
            return self.topology.chunks
        return self.topology.sections if label is Label.SUBCHAPTER else self.topology.entities


_NONE: NDArray[np.int32] = np.empty(0, dtype=np.int32)


def rows_in(rows: Mapping[str, int], uris: Sequence[str]) -> Rows:
    """Return the rows of uris (n,), -1 for unknown ones."""
    return np.array([rows.get(uri, -1) for uri in uris], dtype=np.int64)
