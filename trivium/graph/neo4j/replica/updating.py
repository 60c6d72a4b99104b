"""Brings a replica of an earlier state up to date with what writes touched: only that is read, the rest is taken over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from trivium.graph.arrays.columns import Rows
from trivium.graph.moves import Moves
from trivium.graph.neo4j.cache import StoreState
from trivium.graph.neo4j.change_log import Touched
from trivium.graph.neo4j.cypher import scanning as cypher
from trivium.graph.neo4j.replica.assembly import assemble
from trivium.graph.neo4j.replica.carried_lists import carry_list
from trivium.graph.neo4j.replica.node_vectors import Earlier
from trivium.graph.neo4j.replica.parts import (
    Aliases,
    Chunks,
    Entities,
    PartReader,
    Sections,
    Types,
    aliases_of,
    types_of,
)
from trivium.graph.neo4j.replica.replica import Replica, rows_in
from trivium.graph.neo4j.replica.words import Vocabulary
from trivium.graph.records import Adjacency, SentenceVectors
from trivium.graph.schema import Label
from trivium.graph.string_table import StringRows, table_of

T = TypeVar("T", bound=np.generic)

MOST_PAGES = 200
"""Of a change to more pages than this, the whole store is read again: in batches."""


def update(
    old: Replica, touched: Touched, state: StoreState, adjacency: Adjacency, reader: PartReader
) -> Replica | None:
    """Return the replica of the current ``state`` with this adjacency, from an earlier one and everything touched since.
    None if it does not fit the adjacency, because something was written meanwhile.
    """
    vocabulary = Vocabulary(old.words.vocabulary)  # the old one still answers questions
    pages, texts = sorted(touched.pages), sorted(touched.texts)
    asked = {"pages": pages, "chunks": sorted(touched.chunks), "texts": texts}
    new, cites = reader.chunks(reader.some(cypher.TOUCHED_CHUNKS, asked), vocabulary)
    changed = sorted(touched.entities | touched.pages)
    some = reader.entities(reader.some(cypher.TOUCHED_NODES, {"entities": changed, "texts": texts}))
    sections = reader.sections(reader.some(cypher.TOUCHED_SECTIONS, {"pages": pages, "texts": texts}))

    topology = old.topology
    gone = _rows(topology.adjacency.chunk_rows, touched.chunks, new.uris)
    gone = np.union1d(gone, _of_pages(old, touched.pages))
    chunks, of_chunks = _chunks(old, gone, new)
    entities, of_entities, placed = _entities(old, touched.entities | touched.pages, some)
    if not _fit(chunks.uris, adjacency.chunks) or not _fit(entities.uris, adjacency.entities):
        return None
    replaced = {
        row: rows_in(adjacency.entity_rows, cited)
        for row, cited in zip(of_chunks.added.tolist(), cites, strict=True)
    }
    every_section, of_sections = _sections(old, touched.pages, sections)
    moves = {
        Label.CHUNK: (of_chunks, of_chunks.added),
        Label.SUBCHAPTER: (of_sections, of_sections.added),
        Label.ENTITY: (of_entities, placed),
        Label.PAGE: (of_entities, placed),
    }
    return assemble(
        state,
        adjacency,
        chunks,
        vocabulary,
        topology.cites.patched(of_chunks, of_entities, replaced),
        every_section,
        entities,
        _aliases(old, touched, reader),
        _types(old, touched, reader),
        {label: Earlier(old.vectors[label], *moved) for label, moved in moves.items()},
    )


def _rows(rows: Mapping[str, int], *uris: Iterable[str]) -> Rows:
    """Return the rows of known uris, ascending."""
    found = {rows[uri] for some in uris for uri in some if uri in rows}
    return np.array(sorted(found), dtype=np.int64)


def _fit(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether uris are those of the graph of the walk."""
    from trivium.graph.string_loops import are_equal  # loads numba, see trivium.common.compiled

    return are_equal(table_of(ours), table_of(theirs))


def _of_pages(old: Replica, pages: Iterable[str]) -> Rows:
    """Return the rows of the chunks of pages."""
    rows = _rows(old.topology.adjacency.entity_rows, pages)
    return old.topology.page_chunks.rows(rows)[0].astype(np.int64)


def _chunks(old: Replica, gone: Rows, new: Chunks) -> tuple[Chunks, Moves]:
    uris, moves = old.topology.chunks.patched(gone, new.uris)
    words, sentences = old.words, old.sentences
    counts = moves.carry(np.diff(sentences.starts), np.diff(new.sentences.starts))
    chunks = Chunks(
        uris=uris,
        facts=carry_list(old.facts, moves, new.facts),
        position=moves.carry(old.topology.position, new.position),
        sentences=SentenceVectors(
            _joined(sentences.codes, sentences.starts, moves, new.sentences.codes, new.sentences.starts),
            np.concatenate([[0], np.cumsum(counts)]),
        ),
        numbers=_joined(
            words.numbers,
            np.append(words.starts, len(words.numbers)),
            moves,
            new.numbers,
            np.concatenate([[0], np.cumsum(new.sizes.sum(axis=1))]),
        ),
        sizes=moves.carry(words.lengths, new.sizes),
        vectors=moves.carry(old.vectors[Label.CHUNK].matrix, new.vectors),
    )
    return chunks, moves


def _joined(old: NDArray[T], starts: Rows, moves: Moves, new: NDArray[T], new_starts: Rows) -> NDArray[T]:
    """Return the entries of all rows one after the other; those of row i begin at ``starts[i]``."""
    pieces = [old[:0]]
    following = iter(range(len(new_starts)))
    for _, begin, end in moves.pieces():
        if begin < 0:
            row = next(following)
            pieces.append(new[new_starts[row] : new_starts[row + 1]])
        else:
            pieces.append(old[starts[begin] : starts[end]])
    return np.concatenate(pieces)


def _entities(old: Replica, touched: frozenset[str], new: Entities) -> tuple[Entities, Moves, Rows]:
    """Return all entities, where the old ones are now, and the rows of the new ones. Those that are still there keep
    their place, since other chunks cite them.
    """
    rows, there = old.topology.adjacency.entity_rows, set(new.uris)
    lost = _rows(rows, (uri for uri in touched if uri not in there))
    added = [uri for uri in new.uris if uri not in rows]
    uris, moves = old.topology.entities.patched(lost, added)
    names = carry_list(old.entity_names, moves, [(None, None)] * len(added))
    vectors = moves.carry(old.vectors[Label.ENTITY].matrix, np.nan)
    if moves.unchanged:
        vectors = vectors.copy()
    places = uris.find_all(new.uris)
    vectors[places] = new.vectors
    for place, both in zip(places.tolist(), new.names, strict=True):
        names[place] = both
    other = {*touched, *new.uris}
    kept = [
        edge
        for uri, edges in old.relations.items()
        if uri not in other
        for edge in edges
        if edge.source == uri
    ]
    pages = {uri: facts for uri, facts in old.page_facts.items() if uri not in other}
    entities = Entities(
        uris,
        names,
        pages | new.pages,
        kept + new.relations,
        vectors,
    )
    return entities, moves, places


def _sections(old: Replica, pages: frozenset[str], new: Sections) -> tuple[Sections, Moves]:
    topology = old.topology
    own = topology.page_sections.rows(_rows(topology.adjacency.entity_rows, pages))[0].astype(np.int64)
    gone = np.union1d(own, _rows(StringRows(topology.sections), new.uris))
    uris, moves = topology.sections.patched(gone, new.uris)
    sections = Sections(
        uris,
        moves.carry(topology.section_position, new.position),
        moves.carry(old.vectors[Label.SUBCHAPTER].matrix, new.vectors),
    )
    return sections, moves


def _aliases(old: Replica, touched: Touched, reader: PartReader) -> Aliases:
    found = aliases_of(reader.some(cypher.TOUCHED_ALIASES, {"aliases": sorted(touched.aliases)}))
    return {uri: facts for uri, facts in old.aliases.items() if uri not in touched.aliases} | found


def _types(old: Replica, touched: Touched, reader: PartReader) -> Types:
    asked = {"types": sorted(touched.types), "texts": sorted(touched.texts)}
    found = types_of(reader.some(cypher.TOUCHED_TYPES, asked))
    return {name: vector for name, vector in old.relation_types.items() if name not in touched.types} | found
