"""Walking the structure of the graph on one generation: hops, outlines, citations, the adjacency."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trivium.graph.arrays import Csr, Rows
from trivium.graph.embedded.generation import Generation
from trivium.graph.embedded.search import chunks_along
from trivium.graph.records import Adjacency
from trivium.graph.schema import Hop, Label
from trivium.graph.string_table import StringRows

_STARTS = {
    Hop.BELOW: (Label.PAGE,),
    Hop.CHILD: (Label.PAGE, Label.SUBCHAPTER),
    Hop.CITED_IN: (Label.ENTITY,),
}
"""Labels a hop begins at."""


def expand(generation: Generation, uris: Sequence[str], hop: Hop) -> dict[str, list[str]]:
    """For each node the chunks along a hop, by page and position; none for an unknown node."""
    nodes = generation.topology.nodes
    found: dict[str, list[str]] = {}
    for uri in uris:
        chunks: Rows = np.empty(0, dtype=np.int64)
        for label in _STARTS[hop]:
            row = nodes[label].uris.find(uri)
            if row >= 0:
                chunks = chunks_along(generation, label, row, hop)
        found[uri] = _uris(generation, Label.CHUNK, chunks)
    return found


def outline(generation: Generation, pages: Sequence[str]) -> dict[str, list[str]]:
    """For each page its sections in document order; none for an unknown page."""
    return _along(generation, Label.PAGE, pages, generation.topology.page_sections, Label.SUBCHAPTER)


def cited(generation: Generation, chunks: Sequence[str]) -> dict[str, list[str]]:
    """For each chunk the entities it cites, in order of appearance; none for an unknown chunk."""
    return _along(generation, Label.CHUNK, chunks, generation.topology.cites, Label.ENTITY)


def _along(
    generation: Generation, label: Label, uris: Sequence[str], lists: Csr, target: Label
) -> dict[str, list[str]]:
    """For each node of a label the nodes its row lists, in that order; none for an unknown node."""
    rows = generation.topology.nodes[label].uris.find_all(uris).tolist()
    return {
        uri: [] if row < 0 else _uris(generation, target, lists.row(row))
        for uri, row in zip(uris, rows, strict=True)
    }


def adjacency(generation: Generation) -> Adjacency:
    """The graph the walk runs on; its arrays are the generation's own."""
    topology = generation.topology
    chunks, entities = topology.nodes[Label.CHUNK].uris, topology.nodes[Label.ENTITY].uris
    return Adjacency(
        chunks=chunks,
        entities=entities,
        indptr=topology.links.indptr,
        indices=topology.links.indices,
        own_chunks=topology.own_chunks,
        chunk_rows=StringRows(chunks),
        entity_rows=StringRows(entities),
    )


def _uris(
    generation: Generation, label: Label, rows: Rows | np.ndarray[tuple[int], np.dtype[np.int32]]
) -> list[str]:
    table = generation.topology.nodes[label].uris
    return [table[row] for row in rows.tolist()]
