"""The graph of the walk: read from the database once and cached, in memory and in a local file for the next process.
After a change it is brought up to date with what the change touched, if the database says so.

The files may be deleted at any time, and one that cannot be read or written is ignored.
"""

from __future__ import annotations

import logging
import os
import uuid
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np

from trivium.common.arrays import expand_ranges, own_chunk_ranges
from trivium.common.safe_files import replacing
from trivium.graph.arrays.array_files import Csr, Rows, load_arrays
from trivium.graph.arrays.row_moves import Moves
from trivium.graph.arrays.topology import link, make_adjacency
from trivium.graph.neo4j.change_log import KEPT_CHANGES, Touched, read_log, touched_since
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher import scanning as cypher
from trivium.graph.neo4j.store_cache import StoreCache, StoreState
from trivium.graph.records import Adjacency
from trivium.graph.schema import page_of
from trivium.graph.string_table import StringRows, pack_strings, table_of, unpack_strings
from trivium.settings.settings import load_settings


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


FOLDER = "projections"
KEPT_FILES = 4
"""Number of most recently used files to keep."""
WORTH_KEEPING = 5_000
"""Below this number of chunks the database is as fast as a disk."""
NODES_A_READ = 10_000
"""Nodes per response, chunks with their citations: about a megabyte, regardless of the size of the graph."""
_ATTEMPTS = 3
_LINKS = "links"
_NONE: Rows = np.empty(0, dtype=np.int64)

_log = logging.getLogger(__name__)


def project(connection: Connection, cache: StoreCache) -> Adjacency:
    """Return the adjacency of the current graph: from memory, a cache file, or the database. Under continuous
    concurrent writes it may mix two states; it is then not cached.
    """
    cached = _cached(connection, cache)
    if cached is not None:
        return cached
    with cache.projecting:
        cached = _cached(connection, cache)
        return _load(connection, cache) if cached is None else cached


def _cached(connection: Connection, cache: StoreCache) -> Adjacency | None:
    return cache.adjacency.find(cache.state(connection).content_key, [_LINKS]).get(_LINKS)


def _load(connection: Connection, cache: StoreCache) -> Adjacency:
    for _ in range(_ATTEMPTS):
        before = cache.state(connection, now=True)
        kept = load_file(before)
        patched = None if kept is not None else _patched(connection, cache, before)
        adjacency = kept or patched or _read(connection)
        if kept is None:
            if cache.state(connection, now=True).content_key != before.content_key:
                continue
            if patched is None or not _has_recent_file(connection):
                save_file(before, adjacency)
        cache.adjacency.put(before.content_key, {_LINKS: adjacency})
        cache.projected = (before.uuid, adjacency)
        break
    return adjacency


def _has_recent_file(connection: Connection) -> bool:
    """Whether the next process finds a file from which it can go on, for some changes more."""
    return any(has_file(write.before) for write in read_log(connection)[-KEPT_CHANGES // 2 :])


def _patched(connection: Connection, cache: StoreCache, state: StoreState) -> Adjacency | None:
    """Return the adjacency of a state from an earlier one, in memory or in a file, and what was touched since. None if
    there is none, or that is not known.
    """
    log = read_log(connection)
    known, old = cache.projected
    if known is None:
        # The file of the latest of the states before.
        known = next((each.before for each in reversed(log) if has_file(each.before)), None)
    touched = None if known is None else touched_since(log, known, state.version)
    if touched is None:
        return None
    if old is None:
        old = load_file(replace(state, uuid=known))
    return None if old is None else patch(connection, old, touched)


def _read(connection: Connection) -> Adjacency:
    """Read it from the database in batches."""
    numbers: list[int] = []
    entities: list[str] = []
    for part in connection.batches(cypher.NUMBERED_ENTITIES, NODES_A_READ):
        numbers += [number for number, _ in part]
        entities += [uri for _, uri in part]
    counts: list[int] = []
    cited: list[Rows] = []
    chunks: list[str] = []
    for part in connection.batches(cypher.CITATIONS, NODES_A_READ):
        counts += [len(ids) for ids, _ in part]
        cited.append(np.fromiter(chain.from_iterable(ids for ids, _ in part), dtype=np.int64))
        chunks += [uri for _, uri in part]
    entity_order, entities = _in_uri_order(entities)
    chunk_order, chunks = _in_uri_order(chunks)
    places = {uri: place for place, uri in enumerate(entities)}
    own_page = np.array([places.get(page_of(uri), -1) for uri in chunks], dtype=np.int64)
    rank = np.empty_like(chunk_order)
    rank[chunk_order] = np.arange(len(chunk_order))
    citing = np.repeat(rank, counts)
    rows = _rows_of(np.array(numbers, dtype=np.int64)[entity_order], np.concatenate([_NONE, *cited]))
    present = rows >= 0  # an entity may have been created after the entities were read
    links = link(citing[present], rows[present], own_page, len(entities))
    return make_adjacency(chunks, entities, links, own_page)


def _in_uri_order(uris: Sequence[str]) -> tuple[Rows, list[str]]:
    """Return the sort order of uris by code points, and the sorted uris."""
    order = sorted(range(len(uris)), key=uris.__getitem__)
    return np.array(order, dtype=np.int64), [uris[place] for place in order]


def _rows_of(numbers: Rows, wanted: Rows) -> Rows:
    """Return the positions of the wanted numbers in ``numbers``, -1 for missing ones."""
    if len(numbers) == 0:
        return np.full(len(wanted), -1, dtype=np.int64)
    by_number = np.argsort(numbers)
    rows = by_number[np.minimum(np.searchsorted(numbers, wanted, sorter=by_number), len(numbers) - 1)]
    found: Rows = np.where(numbers[rows] == wanted, rows, -1)
    return found


# -- the file ----------------------------------------------------------------------------------------------------


def has_file(uuid: str) -> bool:
    """Whether the projection of the state with this uuid is kept."""
    path = _path(uuid)
    return path is not None and path.exists()


def load_file(state: StoreState) -> Adjacency | None:
    """Load the projection of a store in this state from its file, if there is one."""
    path = _path(state.uuid)
    if path is None or not path.exists():
        return None
    try:
        arrays = load_arrays(path.parent, path.stem)
        os.utime(path)
        return make_adjacency(
            unpack_strings("chunks", arrays),
            unpack_strings("entities", arrays),
            Csr(arrays["indptr"], arrays["indices"]),
            arrays["own_page"],
        )
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        _log.warning("the projection kept in %s is not used: %s", path, error)
        return None


def save_file(state: StoreState, adjacency: Adjacency) -> None:
    """Save a projection, and delete the least recently used files."""
    path = _path(state.uuid)
    if path is None or len(adjacency.chunks) < WORTH_KEEPING:
        return
    arrays = {
        **pack_strings("chunks", adjacency.chunks),
        **pack_strings("entities", adjacency.entities),
        "indptr": adjacency.indptr,
        "indices": adjacency.indices,
        "own_page": pages_of_chunks(adjacency),
    }
    try:
        with replacing(path) as file:
            # numpy's stub mistakes the arrays for its own flag
            np.savez(file, **arrays)  # type: ignore[arg-type]
        by_use = sorted(path.parent.glob("*.npz"), key=lambda file: file.stat().st_mtime, reverse=True)
        for old in by_use[KEPT_FILES:]:
            old.unlink(missing_ok=True)
    except OSError as error:
        _log.warning("the projection is not kept in %s: %s", path, error)


def _path(known: str | None) -> Path | None:
    """Return the file for a store in the state with this uuid; None if nothing distinguishes it from other stores."""
    try:
        identity = uuid.UUID(known)
    except (TypeError, ValueError, AttributeError):
        return None
    return load_settings().home / FOLDER / f"{identity}.npz"
