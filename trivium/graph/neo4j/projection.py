"""The graph the walk runs on: read from the database once, and kept until the graph changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.common.ragged import own_chunk_ranges
from trivium.graph.arrays import Rows as RowNumbers
from trivium.graph.arrays import group
from trivium.graph.neo4j import projection_file
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher import reading as cypher
from trivium.graph.neo4j.memory import Memory
from trivium.graph.schema import page_of
from trivium.graph.store import Adjacency

_ATTEMPTS = 3
_LINKS = "links"


def project(connection: Connection, memory: Memory) -> Adjacency:
    """The adjacency of the graph as it stands: from memory, from the file an earlier process left, or else from the
    database. While others write without a pause it may be of no moment in particular."""
    known = _remembered(connection, memory)
    if known is not None:
        return known
    with memory.projecting:
        known = _remembered(connection, memory)
        return _load(connection, memory, _ATTEMPTS) if known is None else known


def _load(connection: Connection, memory: Memory, attempts: int) -> Adjacency:
    before = memory.standing(connection, now=True)
    adjacency = projection_file.load(before)
    if adjacency is None:
        adjacency = _read(connection)
        if memory.standing(connection, now=True).content != before.content:
            return adjacency if attempts == 1 else _load(connection, memory, attempts - 1)
        projection_file.save(before, adjacency)
    memory.adjacency.keep(before.content, {_LINKS: adjacency})
    return adjacency


def _remembered(connection: Connection, memory: Memory) -> Adjacency | None:
    return memory.adjacency.find(memory.standing(connection).content, [_LINKS]).get(_LINKS)


def _read(connection: Connection) -> Adjacency:
    """Three queries at once, each answered by one row of long lists."""
    (chunks,), (entities,), ((citing, cited),) = connection.read_at_once(
        [cypher.NUMBERED_CHUNKS, cypher.NUMBERED_ENTITIES, cypher.CITATIONS], whole=True
    )
    chunk_numbers, chunk_uris = _in_uri_order(*chunks)
    entity_numbers, entity_uris = _in_uri_order(*entities)
    entity_rows = {uri: row for row, uri in enumerate(entity_uris)}
    own_page = np.array([entity_rows.get(page_of(uri), -1) for uri in chunk_uris], dtype=np.int64)
    pairs = np.stack(
        [
            np.concatenate([_rows_of(chunk_numbers, citing), np.arange(len(chunk_uris))]),
            np.concatenate([_rows_of(entity_numbers, cited), own_page]),
        ]
    )
    pairs = pairs[:, (pairs >= 0).all(axis=0)]  # without ends that came or went between the queries
    # As single numbers they are sorted many times as fast as as pairs.
    chunk, entity = np.divmod(np.unique(pairs[0] * len(entity_uris) + pairs[1]), max(len(entity_uris), 1))
    entity = entity + len(chunk_uris)
    links = group(
        np.concatenate([chunk, entity]),
        np.concatenate([entity, chunk]),
        len(chunk_uris) + len(entity_uris),
    )
    return Adjacency(
        chunks=chunk_uris,
        entities=entity_uris,
        indptr=links.indptr,
        indices=links.indices,
        own_chunks=own_chunk_ranges(own_page, len(entity_uris)),
        chunk_rows={uri: row for row, uri in enumerate(chunk_uris)},
        entity_rows=entity_rows,
    )


def _in_uri_order(numbers: Sequence[int], uris: Sequence[str]) -> tuple[RowNumbers, list[str]]:
    """The database's numbers of nodes and their uris, by uri in the order of code points."""
    order = sorted(range(len(uris)), key=uris.__getitem__)
    return np.array(numbers, dtype=np.int64)[order], [uris[place] for place in order]


def _rows_of(numbers: NDArray[np.int64], wanted: Sequence[int]) -> RowNumbers:
    """Where the wanted numbers stand among ``numbers``, -1 where they do not."""
    asked = np.array(wanted, dtype=np.int64)
    if len(numbers) == 0:
        return np.full(len(asked), -1, dtype=np.int64)
    by_number = np.argsort(numbers)
    rows = by_number[np.minimum(np.searchsorted(numbers, asked, sorter=by_number), len(numbers) - 1)]
    found: RowNumbers = np.where(numbers[rows] == asked, rows, -1)
    return found
