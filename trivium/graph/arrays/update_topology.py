"""Brings the arrays of an earlier state up to date in memory. The cost of a few changes depends on their number and on
copying memory, not on reading the source.

The resulting arrays equal those of :func:`~trivium.graph.arrays.topology.build_topology`; vectors, sentences and terms
are appended, and those of removed nodes remain unused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.graph.arrays.array_files import Csr, Rows
from trivium.graph.arrays.row_moves import Moves
from trivium.graph.arrays.row_source import Changes, NodeRow
from trivium.graph.arrays.topology import Nodes, Topology, own_ranges, page_of_entity
from trivium.graph.arrays.vector_matrix import Matrix
from trivium.graph.schema import Label


@dataclass(frozen=True, slots=True)
class TopologyPatch:
    """A topology and its matrix after changes, and where the old rows of chunks are now."""

    topology: Topology
    matrix: Matrix
    moves: Moves


@dataclass(frozen=True, slots=True)
class _NodePatch:
    """The nodes of a label after changes, and where the rows of the earlier ones are now. New nodes are sorted by uri.
    Only the column of vectors may still be written to: it is not shared with the earlier state.
    """

    nodes: Nodes
    moves: Moves


def patch_topology(old: Topology, matrix: Matrix, changes: Changes) -> TopologyPatch:
    """Compute the arrays of a state from those of an earlier one and the changes since."""
    matrix = matrix.grown(changes.vector_numbers, changes.vectors)
    patches: dict[Label, _NodePatch] = {}
    for label, nodes in old.nodes.items():
        patch = _patch_nodes(nodes, changes.gone[label], changes.new[label], matrix)
        numbers, vectors = changes.given[label].T
        rows = patch.nodes.rows_of(numbers)
        patch.nodes.vector[rows[rows >= 0]] = matrix.rows_of(vectors[rows >= 0])
        patches[label] = patch
    graph = _Graph(old, patches, changes)
    topology = graph.topology(changes, {label: patch.nodes for label, patch in patches.items()})
    return TopologyPatch(topology, matrix, patches[Label.CHUNK].moves)


def _patch_nodes(old: Nodes, gone: Sequence[int], new: Sequence[NodeRow], matrix: Matrix) -> _NodePatch:
    """Remove the nodes with numbers ``gone`` and insert ``new`` ones, which are sorted by uri."""
    rows = old.rows_of(np.array(gone, dtype=np.int64))
    rows = np.sort(rows[rows >= 0])
    uris, moves = old.uris.patched(rows, [uri for uri, _, _ in new])
    if moves.unchanged:
        return _NodePatch(replace(old, vector=old.vector.copy()), moves)
    table = np.array([row[1:] for row in new], dtype=np.int64).reshape(-1, 2)
    ids = moves.carry(old.ids, table[:, 0])
    vector = moves.carry(old.vector, matrix.rows_of(table[:, 1]))
    later = moves.added[np.argsort(ids[moves.added])]
    ranks = Moves.of(
        len(old.ids),
        np.searchsorted(old.rising, np.sort(old.ids[rows])),
        np.searchsorted(old.rising, ids[later]),
    )
    by_id, rising = ranks.carry(old.by_id, later, moves), ranks.carry(old.rising, ids[later])
    return _NodePatch(Nodes(uris, ids, by_id, vector, rising), moves)


class _Graph:
    """The arrays between nodes."""

    def __init__(self, old: Topology, patches: Mapping[Label, _NodePatch], changes: Changes) -> None:
        self._old = old
        self._chunks, self._sections = patches[Label.CHUNK], patches[Label.SUBCHAPTER]
        self._pages, self._entities = patches[Label.PAGE], patches[Label.ENTITY]
        chunks, sections, pages, entities = self._chunks, self._sections, self._pages, self._entities
        facts = changes.chunks
        page, section = pages.nodes.rows_of(facts[:, 0]), sections.nodes.rows_of(facts[:, 1])
        moves = chunks.moves
        self._page = moves.carry(old.page, page, pages.moves)
        self._section = moves.carry(old.section, section, sections.moves)
        self._position = moves.carry(old.position, facts[:, 2])
        self._terms = moves.carry(old.terms, facts[:, 3:])
        self._all_terms = old.all_terms - int(old.terms[moves.gone].sum()) + int(facts[:, 3:].sum())
        page = pages.nodes.rows_of(changes.section_pages)
        self._section_page = sections.moves.carry(old.section_page, page, pages.moves)
        entity = entities.nodes.rows_of(pages.nodes.ids[pages.moves.added])
        self._page_entity = pages.moves.carry(old.page_entity, entity, entities.moves)

    def topology(self, changes: Changes, nodes: dict[Label, Nodes]) -> Topology:
        """Assemble the topology."""
        old, chunks, entities = self._old, self._chunks, self._entities
        count = len(chunks.nodes.ids)
        page_chunks = old.page_chunks.patched(self._pages.moves, chunks.moves, self._chunks_of_pages())
        page = self._pages.nodes.rows_of(changes.outlines[:, 0])
        section = self._sections.nodes.rows_of(changes.outlines[:, 1])
        page_sections = old.page_sections.patched(
            self._pages.moves, self._sections.moves, _by_owner(page, section)
        )

        citing = chunks.nodes.rows_of(changes.citing)
        chunk, entity = (
            chunks.nodes.rows_of(changes.citations[:, 0]),
            entities.nodes.rows_of(changes.citations[:, 1]),
        )
        lists = {row: np.empty(0, dtype=np.int64) for row in citing.tolist()} | _by_owner(chunk, entity)
        cites = old.cites.patched(chunks.moves, entities.moves, lists)
        renewed = self._renewed_entities(citing, entity)
        cited_in = old.cited_in.patched(
            entities.moves, chunks.moves, self._citing(renewed, citing, chunk, entity)
        )

        both = np.union1d(citing, chunks.moves.added)
        owning = self._page_entity[self._page[chunks.moves.added]]
        nodes_moves = chunks.moves.beside(entities.moves)
        links = old.links.patched(
            nodes_moves,
            nodes_moves,
            {
                row: count + np.union1d(cites.row(row), self._page_entity[self._page[row : row + 1]])
                for row in both.tolist()
            }
            | {
                count + row: np.union1d(cited_in.row(row), self._own_chunks(row, page_chunks))
                for row in np.union1d(renewed, owning).tolist()
            },
        )
        return Topology(
            nodes=nodes,
            page=self._page,
            section=self._section,
            position=self._position,
            terms=self._terms,
            all_terms=self._all_terms,
            last_name=changes.last_name,
            page_entity=self._page_entity,
            section_page=self._section_page,
            page_chunks=page_chunks,
            page_sections=page_sections,
            cites=cites,
            cited_in=cited_in,
            links=links,
            own_chunks=self._own_ranges(),
        )

    def _own_ranges(self) -> Rows:
        if (
            self._page is self._old.page
            and self._page_entity is self._old.page_entity
            and self._entities.moves.unchanged
        ):
            return self._old.own_chunks
        return own_ranges(self._page, self._page_entity, len(self._entities.nodes.ids))

    def _chunks_of_pages(self) -> dict[int, Rows]:
        """Return the chunks, by position, of the pages with new chunks."""
        added = self._chunks.moves.added
        new = _by_owner(self._page[added], added)
        lists: dict[int, Rows] = {}
        for page, old in self._before(self._pages, new).items():
            rows = np.concatenate([self._listed(self._old.page_chunks, old), new[page]])
            lists[page] = rows[np.lexsort((rows, self._position[rows]))]
        return lists

    def _before(self, patch: _NodePatch, rows: Iterable[int]) -> dict[int, int]:
        """Map new rows of nodes to their old ones, -1 for new nodes."""
        now = np.fromiter(rows, dtype=np.int64)
        return dict(zip(now.tolist(), patch.moves.back(now).tolist(), strict=True))

    def _listed(self, lists: Csr, row: int) -> Rows:
        """Return the new rows of the chunks listed in an old row, without removed ones; empty for row -1."""
        if row < 0:
            return np.empty(0, dtype=np.int64)
        rows = self._chunks.moves.follow(lists.row(row))
        return rows[rows >= 0].astype(np.int64)

    def _renewed_entities(self, citing: Rows, entity: Rows) -> Rows:
        """Return the entities that re-examined chunks cite now or cited before."""
        before = self._chunks.moves.back(citing)
        cited = self._entities.moves.follow(self._old.cites.rows(before[before >= 0])[0])
        return np.union1d(cited[cited >= 0], entity).astype(np.int64)

    def _citing(self, entities: Rows, anew: Rows, chunk: Rows, entity: Rows) -> dict[int, Rows]:
        """Return, by entity, the chunks that cite it, by page and position: the earlier ones except those re-examined
        (``anew``), plus the current citations of these.
        """
        order = np.argsort(entity, kind="stable")
        new = _by_owner(entity[order], chunk[order])
        lists: dict[int, Rows] = {}
        for row, old in self._before(self._entities, entities.tolist()).items():
            kept = self._listed(self._old.cited_in, old)
            rows = np.concatenate([kept[~np.isin(kept, anew)], new.get(row, kept[:0])])
            lists[row] = rows[np.lexsort((rows, self._position[rows], self._page[rows]))]
        return lists

    def _own_chunks(self, entity: int, page_chunks: Csr) -> NDArray[np.int32]:
        """Return the chunks on an entity's own page."""
        row = page_of_entity(self._page_entity, entity)
        return page_chunks.row(row) if row >= 0 else np.empty(0, dtype=np.int32)


def _by_owner(owners: NDArray[np.integer[Any]], entries: Rows) -> dict[int, Rows]:
    """Group entries by owner, preserving their order."""
    found: dict[int, list[int]] = {}
    for owner, entry in zip(owners.tolist(), entries.tolist(), strict=True):
        found.setdefault(owner, []).append(entry)
    return {owner: np.array(own, dtype=np.int64) for owner, own in found.items()}
