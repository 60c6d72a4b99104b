"""Brings the graph of the walk up to date with what writes touched, at the speed of memory: only that is read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trivium.common.ragged import expand_ranges
from trivium.graph.adjacency import link, make_adjacency
from trivium.graph.arrays import Rows
from trivium.graph.neo4j.change_log import Touched
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher import scanning as cypher
from trivium.graph.neo4j.sorted_uris import settle
from trivium.graph.records import Adjacency
from trivium.graph.schema import page_of


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
    lost = [uri for uri in touched.entities | touched.pages if uri not in there]
    chunks, of_chunks = settle(old.chunks, _touched_chunks(old, touched), sorted(cites))
    entity_rows = np.array([old.entity_rows[uri] for uri in lost if uri in old.entity_rows], dtype=np.int64)
    new = sorted(uri for uri in there if uri not in old.entity_rows)
    names, of_entities = settle(old.entities, np.sort(entity_rows), new)

    count = len(old.chunks)
    citing = of_chunks.follow(np.repeat(np.arange(count), np.diff(old.indptr[: count + 1])))
    cited = of_entities.follow(old.indices[: old.indptr[count]].astype(np.int64) - count)
    kept = (citing >= 0) & (cited >= 0)  # citations of earlier chunks, and their own pages
    rows = {uri: row for row, uri in enumerate(names)}
    own = np.full(len(chunks), -1, dtype=np.int64)
    pairs = []
    for row in of_chunks.added.tolist():
        own[row] = rows.get(page_of(chunks[row]), -1)
        pairs += [(row, rows[uri]) for uri in cites[chunks[row]]]
    more = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    links = link(
        np.concatenate([citing[kept], more[:, 0]]), np.concatenate([cited[kept], more[:, 1]]), own, len(names)
    )
    return make_adjacency(chunks, names, links)


def _touched_chunks(old: Adjacency, touched: Touched) -> Rows:
    """Return the rows of the touched chunks that there were, ascending."""
    pages = [old.entity_rows[uri] for uri in touched.pages if uri in old.entity_rows]
    ranges = old.own_chunks[np.array(pages, dtype=np.int64) + len(old.chunks)]
    own = expand_ranges(ranges[:, 0], ranges[:, 1] - ranges[:, 0])[1]
    further = [old.chunk_rows[uri] for uri in touched.chunks if uri in old.chunk_rows]
    return np.union1d(own, np.array(further, dtype=np.int64))
