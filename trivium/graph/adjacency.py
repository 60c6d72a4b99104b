"""The graph the walk runs on, built from who cites what. Every store builds it with this."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trivium.common.arrays import own_chunk_ranges
from trivium.graph.arrays.columns import Csr, Rows, group
from trivium.graph.records import Adjacency
from trivium.graph.schema import SEPARATOR
from trivium.graph.string_table import StringRows, StringTable, table_of


def link(citing: Rows, cited: Rows, own_page: Rows, entities: int) -> Csr:
    """The links of an :class:`~trivium.graph.records.Adjacency`: both directions of each chunk and an
    entity it cites, and of each chunk and its own page, each pair once, neighbours ascending.

    ``citing`` and ``cited`` (n,) are rows of chunks and entities, ``own_page`` (chunks,) the row of the entity that is
    the chunk's page, -1 where there is none.

    >>> links = link(np.array([0, 0]), np.array([1, 1]), np.array([0, -1]), 2)
    >>> links.indptr.tolist(), links.indices.tolist()
    ([0, 2, 2, 3, 4], [2, 3, 0, 0])
    """
    chunks = len(own_page)
    paged = np.flatnonzero(own_page >= 0)
    # A pair as one number: these are sorted many times as fast as pairs.
    pairs = np.concatenate([citing * entities + cited, paged * entities + own_page[paged]])
    pairs.sort()  # np.unique takes ten times as long
    pairs = pairs[np.append(pairs[1:] != pairs[:-1], True)] if len(pairs) else pairs
    chunk, entity = np.divmod(pairs, max(entities, 1))
    entity = entity + chunks
    return group(np.concatenate([chunk, entity]), np.concatenate([entity, chunk]), chunks + entities)


def own_pages(chunks: StringTable, entities: StringTable) -> Rows:
    """The row of the entity that is each chunk's page (chunks,), -1 where there is none."""
    from trivium.graph.loops import rows_before  # loads numba, see trivium.common.compiled

    return rows_before(chunks, SEPARATOR, entities)


def make_adjacency(chunks: Sequence[str], entities: Sequence[str], links: Csr) -> Adjacency:
    """The adjacency of sorted uris, which are kept as tables. Raises ValueError for links that do not fit them."""
    nodes = len(chunks) + len(entities)
    if len(links.indptr) != nodes + 1 or links.indptr[-1] != len(links.indices):
        raise ValueError(
            f"expected links of {nodes} nodes, got {len(links.indptr) - 1} rows and {len(links.indices)} links"
        )
    chunk_table, entity_table = table_of(chunks), table_of(entities)
    return Adjacency(
        chunks=chunk_table,
        entities=entity_table,
        indptr=links.indptr.astype(np.int64, copy=False),
        indices=links.indices.astype(np.int32, copy=False),
        own_chunks=own_chunk_ranges(own_pages(chunk_table, entity_table), len(entities)),
        chunk_rows=StringRows(chunk_table),
        entity_rows=StringRows(entity_table),
    )
