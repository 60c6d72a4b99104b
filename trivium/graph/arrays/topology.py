"""The graph as arrays: where chunks stand, what they cite, the hops between nodes, and the graph the walk runs on, which
every store builds from who cites what with this. Rows are in uri order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import own_chunk_ranges, ranges_by_owner
from trivium.graph.arrays.array_files import (
    Arrays,
    Csr,
    Rows,
    group,
    load_arrays,
    pack_csr,
    save_arrays,
    unpack_csr,
)
from trivium.graph.arrays.row_source import RowSource
from trivium.graph.records import Adjacency
from trivium.graph.schema import Hop, Label
from trivium.graph.string_table import StringPacker, StringRows, StringTable, table_of, unpack_strings


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


def make_adjacency(chunks: Sequence[str], entities: Sequence[str], links: Csr, own_page: Rows) -> Adjacency:
    """The adjacency of sorted uris, which are kept as tables; ``own_page`` is as for :func:`link`. Raises ValueError for
    links that do not fit them.
    """
    nodes = len(chunks) + len(entities)
    if (
        len(links.indptr) != nodes + 1
        or links.indptr[-1] != len(links.indices)
        or len(own_page) != len(chunks)
    ):
        raise ValueError(
            f"expected links of {nodes} nodes, got {len(links.indptr) - 1} rows and {len(links.indices)} links"
        )
    chunk_table, entity_table = table_of(chunks), table_of(entities)
    return Adjacency(
        chunks=chunk_table,
        entities=entity_table,
        indptr=links.indptr.astype(np.int64, copy=False),
        indices=links.indices.astype(np.int32, copy=False),
        own_chunks=own_chunk_ranges(own_page, len(entities)),
        chunk_rows=StringRows(chunk_table),
        entity_rows=StringRows(entity_table),
    )


_FILE = "topology"
_LABELS = (Label.CHUNK, Label.SUBCHAPTER, Label.PAGE, Label.ENTITY)


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes of one label. ``ids`` are their numbers, ``by_id`` sorts rows by them, ``vector`` is the row
    of a node's vector in the matrix, -1 if it has none.
    """

    uris: StringTable
    ids: Rows
    by_id: Rows
    vector: Rows
    rising: Rows
    """``ids`` in ascending order. A binary search in contiguous memory takes a quarter of the time."""

    @property
    def highest(self) -> int:
        """The highest number, 0 if there is none."""
        return int(self.rising[-1]) if len(self.rising) else 0

    def rows_of(self, ids: Rows) -> Rows:
        """Return the rows of numbers, -1 for unknown ones."""
        if len(self.ids) == 0:
            return np.full(len(ids), -1, dtype=np.int64)
        places = np.minimum(np.searchsorted(self.rising, ids), len(self.ids) - 1)
        found: Rows = np.where(self.rising[places] == ids, self.by_id[places], -1)
        return found


@dataclass(frozen=True, slots=True)
class Topology:
    """The graph except for its texts and relations.

    For chunks: ``page`` and ``section`` are rows of these labels (section -1 for the lead), ``position`` the position
    on the page, ``cites`` the cited entities, ``terms`` (n, 2) the lengths of text and headings, ``all_terms`` the
    sum of all. ``page_chunks`` are ordered by position, ``cited_in`` by page and position, ``page_sections``
    by position. ``page_entity`` is the entity row of a page. ``last_name`` is the highest number of a name, including
    aliases. ``links`` and ``own_chunks`` are the adjacency of the walk.
    """

    nodes: dict[Label, Nodes]
    page: NDArray[np.int32]
    section: NDArray[np.int32]
    position: NDArray[np.int64]
    terms: Rows
    all_terms: int
    last_name: int
    page_entity: NDArray[np.int32]
    section_page: NDArray[np.int32]
    page_chunks: Csr
    page_sections: Csr
    cites: Csr
    cited_in: Csr
    links: Csr
    own_chunks: Rows

    @property
    def mean_terms(self) -> float:
        """The mean number of terms of a chunk, with those of its headings."""
        return self.all_terms / max(1, len(self.terms))


def build_topology(source: RowSource, folder: Path, matrix_ids: Rows) -> None:
    """Write the arrays of a state. ``matrix_ids`` are the vector numbers of the matrix rows."""
    arrays: Arrays = {}
    for label in _LABELS:
        arrays.update(_pack_nodes(source, label, matrix_ids))
    nodes = {label: _unpack_nodes(label, arrays) for label in _LABELS}
    chunks, sections, pages = nodes[Label.CHUNK], nodes[Label.SUBCHAPTER], nodes[Label.PAGE]
    entities = nodes[Label.ENTITY]

    facts = source.chunks()
    facts = facts[np.argsort(chunks.rows_of(facts[:, 0]))]
    page, section, position = pages.rows_of(facts[:, 1]), sections.rows_of(facts[:, 2]), facts[:, 3]
    reading_order = np.lexsort((np.arange(len(page)), position, page))

    of_section = source.sections()
    of_section = of_section[np.argsort(sections.rows_of(of_section[:, 0]))]
    section_page = pages.rows_of(of_section[:, 1])
    outline_order = np.lexsort((np.arange(len(section_page)), of_section[:, 2], section_page))

    chunk_of_pair, entity_of_pair = _citations(source, chunks, entities)
    rank = np.empty(len(page), dtype=np.int64)
    rank[reading_order] = np.arange(len(page))
    by_reading = np.argsort(rank[chunk_of_pair], kind="stable")
    page_entity = entities.rows_of(pages.ids)

    cites = group(chunk_of_pair, entity_of_pair, len(chunks.ids))
    cited_in = group(entity_of_pair[by_reading], chunk_of_pair[by_reading], len(entities.ids))
    links = link(chunk_of_pair, entity_of_pair, page_entity[page], len(entities.ids))
    save_arrays(
        folder,
        _FILE,
        {
            **arrays,
            "page": page.astype(np.int32),
            "section": section.astype(np.int32),
            "position": position,
            "terms": facts[:, 4:],
            "last_name": np.array(source.last_name(), dtype=np.int64),
            "page_entity": page_entity.astype(np.int32),
            "section_page": section_page.astype(np.int32),
            **pack_csr("page_chunks", group(page[reading_order], reading_order, len(pages.ids))),
            **pack_csr("page_sections", group(section_page[outline_order], outline_order, len(pages.ids))),
            **pack_csr("cites", cites),
            **pack_csr("cited_in", cited_in),
            **pack_csr("links", links),
        },
    )


def load_topology(folder: Path) -> Topology:
    """Read the arrays written by :func:`build_topology`."""
    arrays = load_arrays(folder, _FILE)
    nodes = {label: _unpack_nodes(label, arrays) for label in _LABELS}
    return Topology(
        nodes=nodes,
        page=arrays["page"],
        section=arrays["section"],
        position=arrays["position"],
        terms=arrays["terms"],
        all_terms=int(arrays["terms"].sum()),
        last_name=int(arrays["last_name"]),
        page_entity=arrays["page_entity"],
        section_page=arrays["section_page"],
        page_chunks=unpack_csr("page_chunks", arrays),
        page_sections=unpack_csr("page_sections", arrays),
        cites=unpack_csr("cites", arrays),
        cited_in=unpack_csr("cited_in", arrays),
        links=unpack_csr("links", arrays),
        own_chunks=own_ranges(arrays["page"], arrays["page_entity"], len(nodes[Label.ENTITY].ids)),
    )


def own_ranges(page: NDArray[np.int32], page_entity: NDArray[np.int32], entities: int) -> Rows:
    """Return ``own_chunks`` (chunks + entities, 2), which are :func:`~trivium.common.arrays.own_chunk_ranges`, from the
    pages of chunks, the entities of pages, and the number of entities. Chunks of a page are in consecutive rows.
    """
    ranges = np.zeros(
        (len(page) + entities, 2), dtype=np.int64
    )  # memory that is not written to costs nothing
    of_pages = ranges_by_owner(page, len(page_entity))
    stand = page_entity >= 0
    ranges[len(page) + page_entity[stand].astype(np.int64)] = of_pages[stand]
    return ranges


def load_ids(folder: Path, label: Label) -> Rows:
    """Return only the node numbers of a label, without loading the whole snapshot."""
    with np.load(folder / f"{_FILE}.npz", allow_pickle=False) as archive:
        ids: Rows = archive[f"{label}.ids"]
    return ids


def _pack_nodes(source: RowSource, label: Label, matrix_ids: Rows) -> Arrays:
    uris = StringPacker()
    blocks: list[Rows] = [np.empty((0, 2), dtype=np.int64)]
    for rows in source.nodes(label):
        uris.add([row[0] for row in rows])
        blocks.append(np.array([row[1:] for row in rows], dtype=np.int64).reshape(-1, 2))
    table = np.concatenate(blocks)
    ids, vectors = table[:, 0].copy(), table[:, 1]
    return {
        **uris.pack(label),
        f"{label}.ids": ids,
        f"{label}.by_id": np.argsort(ids),
        f"{label}.vector": np.where(vectors < 0, -1, np.searchsorted(matrix_ids, vectors)),
    }


def _unpack_nodes(label: Label, arrays: Arrays) -> Nodes:
    ids, by_id = arrays[f"{label}.ids"], arrays[f"{label}.by_id"]
    return Nodes(unpack_strings(label, arrays), ids, by_id, arrays[f"{label}.vector"], ids[by_id])


def _citations(source: RowSource, chunks: Nodes, entities: Nodes) -> tuple[Rows, Rows]:
    """Return distinct (chunk row, entity row), by chunk and first appearance."""
    cited = source.citations()
    chunk, entity = chunks.rows_of(cited[:, 0]), entities.rows_of(cited[:, 1])
    _, first = np.unique(chunk * np.int64(len(entities.ids)) + entity, return_index=True)
    first.sort()
    by_chunk = first[np.argsort(chunk[first], kind="stable")]
    return chunk[by_chunk], entity[by_chunk]


_STARTS = {
    Hop.BELOW: (Label.PAGE,),
    Hop.CHILD: (Label.PAGE, Label.SUBCHAPTER),
    Hop.CITED_IN: (Label.ENTITY,),
}
"""Labels at which a hop can start."""


def chunks_along(topology: Topology, label: Label, row: int, hop: Hop) -> Rows:
    """Return the rows of the chunks along a hop from a node, by page and position."""
    if hop is Hop.CITED_IN:
        if label is Label.PAGE:
            label, row = Label.ENTITY, int(topology.page_entity[row])
        if label is Label.ENTITY:
            citing: Rows = topology.cited_in.row(row).astype(np.int64)
            return citing
    elif label is Label.SUBCHAPTER:
        if hop is Hop.CHILD:
            chunks: Rows = topology.page_chunks.row(int(topology.section_page[row])).astype(np.int64)
            children: Rows = chunks[topology.section[chunks] == row]
            return children
    elif label in (Label.PAGE, Label.ENTITY):
        if label is Label.ENTITY:
            row = page_of_entity(topology.page_entity, row)
        if row >= 0:
            chunks = topology.page_chunks.row(row).astype(np.int64)
            return chunks[topology.section[chunks] < 0] if hop is Hop.CHILD else chunks
    return np.empty(0, dtype=np.int64)


def page_of_entity(entities: NDArray[np.integer[Any]], entity: int) -> int:
    """Return the page row of an entity row, -1 if it has no page. ``entities`` (pages,) are the entity rows of pages,
    ascending.
    """
    row = int(np.searchsorted(entities, entity))
    return row if row < len(entities) and entities[row] == entity else -1


def expand(
    topology: Topology, uris: Sequence[str], hop: Hop, allowed: NDArray[np.bool_] | None = None
) -> dict[str, list[str]]:
    """Return the chunks along a hop from each node, by page and position; empty for unknown nodes. With ``allowed``
    (chunks,) only those it is true of.
    """
    nodes = topology.nodes
    found: dict[str, list[str]] = {}
    for uri in uris:
        chunks: Rows = np.empty(0, dtype=np.int64)
        for label in _STARTS[hop]:
            row = nodes[label].uris.find(uri)
            if row >= 0:
                chunks = chunks_along(topology, label, row, hop)
        found[uri] = _uris(topology, Label.CHUNK, chunks if allowed is None else chunks[allowed[chunks]])
    return found


def outline(
    topology: Topology, pages: Sequence[str], allowed: NDArray[np.bool_] | None = None
) -> dict[str, list[str]]:
    """Return the sections of each page in document order; empty for unknown pages. With ``allowed`` (sections,) only
    those it is true of.
    """
    return _along(topology, Label.PAGE, pages, topology.page_sections, Label.SUBCHAPTER, allowed)


def cited(topology: Topology, chunks: Sequence[str]) -> dict[str, list[str]]:
    """Return the entities that each chunk cites, in order of appearance; empty for unknown chunks."""
    return _along(topology, Label.CHUNK, chunks, topology.cites, Label.ENTITY)


def _along(
    topology: Topology,
    label: Label,
    uris: Sequence[str],
    lists: Csr,
    target: Label,
    allowed: NDArray[np.bool_] | None = None,
) -> dict[str, list[str]]:
    """Return the nodes listed in the row of each node of a label, in that order; empty for unknown nodes."""
    rows = topology.nodes[label].uris.find_all(uris).tolist()
    found = {
        uri: lists.indices[:0] if row < 0 else lists.row(row) for uri, row in zip(uris, rows, strict=True)
    }
    return {
        uri: _uris(topology, target, own if allowed is None else own[allowed[own]])
        for uri, own in found.items()
    }


def adjacency(topology: Topology, names: bool) -> Adjacency:
    """Return the graph of the walk. It shares the topology's arrays. ``names``: names in texts are entities."""
    chunks, entities = topology.nodes[Label.CHUNK].uris, topology.nodes[Label.ENTITY].uris
    return Adjacency(
        chunks=chunks,
        entities=entities,
        indptr=topology.links.indptr,
        indices=topology.links.indices,
        own_chunks=topology.own_chunks,
        chunk_rows=StringRows(chunks),
        entity_rows=StringRows(entities),
        names=names,
    )


def _uris(
    topology: Topology, label: Label, rows: Rows | np.ndarray[tuple[int], np.dtype[np.int32]]
) -> list[str]:
    return topology.nodes[label].uris.take(rows.tolist())
