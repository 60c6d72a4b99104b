"""Brings the graph of the walk up to date with what writes touched, at the speed of memory: only that is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from trivium.common.arrays import expand_ranges, own_chunk_ranges
from trivium.graph.arrays.columns import Csr, Rows
from trivium.graph.neo4j.change_log import Touched
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher import scanning as cypher
from trivium.graph.records import Adjacency
from trivium.graph.row_moves import Moves
from trivium.graph.schema import page_of
from trivium.graph.string_table import StringRows, table_of


def patch(connection: Connection, old: Adjacency, touched: Touched) -> Adjacency:
    """Return the adjacency of the current graph, given an earlier one and everything touched since."""
    asked = {"pages": sorted(touched.pages), "chunks": sorted(touched.chunks)}
    cites: dict[str, list[str]] = dict(connection.read(cypher.TOUCHED_CITATIONS, asked, whole=True)[0][0])
    changed = sorted(touched.entities | touched.pages)
    found = connection.read(cypher.TOUCHED_ENTITIES, {"entities": changed}, whole=True)[0][0]
    return update(old, touched, cites, found)


def update(
    old: Adjacency, touched: Touched, cites: dict[str, list[str]], entities: Sequence[str]
) -> Adjacency:
    """Return the adjacency with the touched chunks that exist, mapped to the entities they cite, and with those of the
    touched ``entities`` that exist.
    """
    there = {*entities, *(uri for cited in cites.values() for uri in cited)}
    gone = {uri for uri in touched.entities | touched.pages if uri not in there}
    chunks, of_chunks = table_of(old.chunks).patched(_touched_chunks(old, touched), sorted(cites))
    lost = np.array(sorted(old.entity_rows[uri] for uri in gone if uri in old.entity_rows), dtype=np.int64)
    names, of_entities = table_of(old.entities).patched(
        lost, sorted(uri for uri in there if uri not in old.entity_rows)
    )
    rows = StringRows(names)

    pages = [rows.get(page_of(chunks[row]), -1) for row in of_chunks.added.tolist()]
    page = of_chunks.carry(pages_of_chunks(old), np.array(pages, dtype=np.int64), of_entities)
    lists = _new_links(old, cites, chunks, rows, of_chunks, of_entities)
    moves = of_chunks.beside(of_entities)
    links = Csr(old.indptr, old.indices).patched(moves, moves, lists)
    return Adjacency(
        chunks=chunks,
        entities=names,
        indptr=links.indptr,
        indices=links.indices,
        own_chunks=own_chunk_ranges(page, len(names)),
        chunk_rows=StringRows(chunks),
        entity_rows=rows,
    )


def _new_links(
    old: Adjacency,
    cites: Mapping[str, Sequence[str]],
    chunks: Sequence[str],
    rows: Mapping[str, int],
    of_chunks: Moves,
    of_entities: Moves,
) -> dict[int, Rows]:
    """Return the neighbours of new chunks, and of what they are linked with."""
    moves, links = of_chunks.beside(of_entities), Csr(old.indptr, old.indices)
    lists: dict[int, Rows] = {}
    linked: dict[int, list[int]] = {}
    for row in of_chunks.added.tolist():
        ends = {rows[uri] for uri in (*cites[chunks[row]], page_of(chunks[row])) if uri in rows}
        lists[row] = len(chunks) + np.array(sorted(ends), dtype=np.int64)
        for entity in ends:
            linked.setdefault(entity, []).append(row)
    for entity, new in linked.items():
        (before,) = of_entities.back(np.array([entity])).tolist()
        kept = links.row(len(old.chunks) + before) if before >= 0 else links.indices[:0]
        followed = moves.follow(kept)
        lists[len(chunks) + entity] = np.union1d(followed[followed >= 0], new).astype(np.int64)
    return lists


def pages_of_chunks(old: Adjacency) -> Rows:
    """Return the entity that is each chunk's page (chunks,), -1 where there is none."""
    ranges = old.own_chunks[len(old.chunks) :]
    owning, places = expand_ranges(ranges[:, 0], ranges[:, 1] - ranges[:, 0])
    pages = np.full(len(old.chunks), -1, dtype=np.int64)
    pages[places] = owning
    return pages


def _touched_chunks(old: Adjacency, touched: Touched) -> Rows:
    """Return the rows of the touched chunks that there were, ascending."""
    pages = [old.entity_rows[uri] for uri in touched.pages if uri in old.entity_rows]
    ranges = old.own_chunks[np.array(pages, dtype=np.int64) + len(old.chunks)]
    own = expand_ranges(ranges[:, 0], ranges[:, 1] - ranges[:, 0])[1]
    further = [old.chunk_rows[uri] for uri in touched.chunks if uri in old.chunk_rows]
    return np.union1d(own, np.array(further, dtype=np.int64))
