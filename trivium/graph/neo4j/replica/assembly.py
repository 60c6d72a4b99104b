"""Makes a replica of its parts: rows, hierarchy, searchable vectors and words, and the meanings of names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from trivium.graph.adjacency import own_pages
from trivium.graph.arrays.columns import Csr, Rows, group
from trivium.graph.model import RelationEdge
from trivium.graph.neo4j.cache import StoreState
from trivium.graph.neo4j.replica.node_vectors import Earlier, NodeVectors
from trivium.graph.neo4j.replica.parts import Aliases, Chunks, Entities, Sections, Types
from trivium.graph.neo4j.replica.replica import EntityNames, Replica, Topology, rows_in
from trivium.graph.neo4j.replica.words import Vocabulary, Words
from trivium.graph.records import Adjacency
from trivium.graph.schema import CHUNK_MARK, Label
from trivium.graph.string_table import StringTable, table_of


def assemble(
    state: StoreState,
    adjacency: Adjacency,
    chunks: Chunks,
    vocabulary: Vocabulary,
    cites: Csr,
    sections: Sections,
    entities: Entities,
    aliases: Aliases,
    types: Types,
    earlier: Mapping[Label, Earlier] = MappingProxyType({}),
) -> Replica:
    """Return the replica. ``cites``: row of a chunk -> rows of the entities it cites. ``earlier`` are the vectors of the
    state before, if there was one.
    """
    topology = _topology(adjacency, chunks, cites, sections, entities)
    matrices = {
        Label.CHUNK: (chunks.vectors, None),
        Label.SUBCHAPTER: (sections.vectors, None),
        Label.ENTITY: (entities.vectors, None),
        Label.PAGE: (entities.vectors, topology.pages),
    }
    return Replica(
        state=state,
        topology=topology,
        vectors={
            label: NodeVectors.of(matrix, among, earlier.get(label))
            for label, (matrix, among) in matrices.items()
        },
        relation_types=types,
        sentences=chunks.sentences,
        words=Words.of_numbers(vocabulary, chunks.numbers, chunks.sizes),
        relations=_by_end(entities.relations),
        names=_names(entities.names, topology, aliases),
        entity_names=entities.names,
        aliases=aliases,
        facts=chunks.facts,
        page_facts=entities.pages,
    )


def citations(cites: Sequence[Sequence[str]], entity_rows: Mapping[str, int]) -> Csr:
    """Return the rows of the entities that each chunk cites, given by their uris. Unknown ones are skipped."""
    cited = rows_in(entity_rows, [uri for each in cites for uri in each])
    citing = np.repeat(np.arange(len(cites)), [len(each) for each in cites])
    return group(citing[cited >= 0], cited[cited >= 0], len(cites))


def _topology(
    adjacency: Adjacency, chunks: Chunks, cites: Csr, sections: Sections, entities: Entities
) -> Topology:
    from trivium.graph.string_loops import rows_before  # loads numba, see trivium.common.compiled

    every_chunk, every_entity = table_of(adjacency.chunks), table_of(adjacency.entities)
    every_section = table_of(sections.uris)
    page = own_pages(every_chunk, every_entity)
    section = rows_before(every_chunk, CHUNK_MARK, every_section, last=True)
    by_page = np.lexsort((chunks.position, page))
    # Chunks by page and position, so that the citing chunks of an entity come in this order.
    places, per_chunk = cites.rows(by_page)
    cited_in = group(places.astype(np.int64), np.repeat(by_page, per_chunk), len(adjacency.entities))
    section_page = own_pages(every_section, every_entity)
    by_position = np.argsort(sections.position, kind="stable")
    return Topology(
        adjacency=adjacency,
        chunks=every_chunk,
        entities=every_entity,
        sections=every_section,
        section_position=sections.position,
        position=chunks.position,
        page=page,
        section=section,
        pages=own_pages(StringTable.of(sorted(entities.pages)), every_entity),
        cites=cites,
        cited_in=cited_in,
        page_chunks=_owned(page, by_page, len(adjacency.entities)),
        page_sections=_owned(section_page, by_position, len(adjacency.entities)),
        section_chunks=_owned(section, by_page, len(sections.uris)),
    )


def _owned(owners: Rows, order: Rows, count: int) -> Csr:
    """Group rows by their owner, in the given order; rows with owner -1 are dropped."""
    kept = order[owners[order] >= 0]
    return group(owners[kept], kept, count)


def _by_end(relations: Sequence[RelationEdge]) -> dict[str, list[RelationEdge]]:
    found: dict[str, list[RelationEdge]] = {}
    for edge in relations:
        for end in dict.fromkeys((edge.source, edge.target)):
            found.setdefault(end, []).append(edge)
    return found


def _names(entities: Sequence[EntityNames], topology: Topology, aliases: Aliases) -> dict[str, str]:
    """Map normalised names to the entities they most likely refer to: by exact title, alias, shortened title; page
    before bare entity; most cited; lowest uri.
    """
    uris = topology.entities[:]
    rows = dict(zip(uris, range(len(uris)), strict=True))
    bare = np.ones(len(uris), dtype=bool)
    bare[topology.pages] = False
    rank = list(zip(bare.tolist(), (-np.diff(topology.cited_in.indptr)).tolist(), uris, strict=True))
    best: dict[str, tuple[int, tuple[bool, int, str]]] = {}

    def means(name: str | None, kind: int, row: int) -> None:
        if name:
            meaning = (kind, rank[row])
            if name not in best or meaning < best[name]:
                best[name] = meaning

    for row, (name, short) in enumerate(entities):
        means(name, 0, row)
        means(short, 2, row)
    for name, short, leads_to in aliases.values():
        if leads_to is not None and leads_to in rows:
            means(name, 1, rows[leads_to])
            means(short, 2, rows[leads_to])
    return {name: meaning[1][-1] for name, meaning in best.items()}
