"""Updates the indexes of an earlier state in memory. The cost of a few changes depends on their number and on copying
memory, not on reading the store.

Rows of the database never change except those in its change log (:mod:`trivium.graph.embedded.changes`), and new rows
have higher numbers than all earlier ones. The resulting arrays equal those of
:func:`~trivium.graph.embedded.topology.build_topology`; vectors, sentences and terms are appended, and those of
removed nodes remain unused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.graph.arrays import Csr, Rows
from trivium.graph.embedded.changes import Changes
from trivium.graph.embedded.connection import Connection, as_json
from trivium.graph.embedded.node_patches import (
    Name,
    NodePatch,
    column,
    give_vectors,
    patch_nodes,
    read_names,
    settle,
)
from trivium.graph.embedded.topology import Nodes, Topology, own_ranges, page_of_entity, read_last_name
from trivium.graph.embedded.vectors import Matrix, new_vectors
from trivium.graph.moves import Moves
from trivium.graph.schema import Label

_CHUNKS = """
    SELECT c.id, c.uri, c.page_id, coalesce(c.section_id, -1), c.position, c.term_count, c.heading_count, c.text_id,
        coalesce(v.id, -1), c.heading_terms || ' ' || c.terms
    FROM chunk AS c LEFT JOIN vector AS v ON v.text_id = c.text_id WHERE c.id > ? ORDER BY +c.uri
    """
_SECTIONS = """
    SELECT s.id, s.uri, s.page_id, coalesce(v.id, -1)
    FROM section AS s LEFT JOIN vector AS v ON v.text_id = s.text_id WHERE s.id > ? ORDER BY +s.uri
    """


@dataclass(frozen=True, slots=True)
class TopologyPatch:
    """A topology after changes, and the data derived from them: the new rows of chunks (as in ``NodePatch``), the
    ``terms`` of new chunks, and (chunk number, text number) of chunks that are new or may have other sentences.
    """

    topology: Topology
    matrix: Matrix
    moves: Moves
    terms: list[str]
    texts: list[tuple[int, int]]


def patch_topology(
    connection: Connection, old: Topology, matrix: Matrix, changes: Changes, dimension: int
) -> TopologyPatch:
    """Compute the arrays of the state that the connection sees from those of the state before the changes."""
    nodes = old.nodes
    after = matrix.highest
    new = connection.execute("SELECT id, text_id FROM vector WHERE id > ? ORDER BY id", [after]).fetchall()
    blocks = list(new_vectors(connection, after, dimension))
    if new:
        matrix = Matrix(
            matrix.vectors.grown(np.concatenate(blocks)), np.concatenate([matrix.ids, column(new, 0)])
        )

    chunk_rows = connection.execute(_CHUNKS, [nodes[Label.CHUNK].highest]).fetchall()
    section_rows = connection.execute(_SECTIONS, [nodes[Label.SUBCHAPTER].highest]).fetchall()
    names = read_names(connection, changes, old.last_name)
    chunks = patch_nodes(
        nodes[Label.CHUNK], changes.chunk, [(row[1], row[0], row[8]) for row in chunk_rows], matrix
    )
    sections = patch_nodes(
        nodes[Label.SUBCHAPTER], changes.section, [(row[1], row[0], row[3]) for row in section_rows], matrix
    )
    entities = settle(nodes[Label.ENTITY], names, lambda name: name.is_entity, matrix)
    pages = settle(nodes[Label.PAGE], names, lambda name: name.is_page, matrix)
    patches = {
        Label.CHUNK: chunks,
        Label.SUBCHAPTER: sections,
        Label.PAGE: pages,
        Label.ENTITY: entities,
    }
    give_vectors(connection, patches, {*(text for _, text in new), *changes.vector}, matrix)

    facts = np.array([row[2:7] for row in chunk_rows], dtype=np.int64).reshape(-1, 5)
    graph = _Graph(old, chunks, sections, pages, entities, facts, column(section_rows, 2))
    topology = graph.topology(
        _cited(
            connection, chunks.nodes.ids[chunks.moves.added], _other_ends(nodes[Label.ENTITY], names, changes)
        ),
        _outlines(connection, {row[2] for row in section_rows}),
        {label: patch.nodes for label, patch in patches.items()},
        read_last_name(connection),
    )
    texts = [(row[0], row[7]) for row in chunk_rows]
    texts += connection.execute(
        "SELECT c.id, c.text_id FROM json_each(?) AS j JOIN chunk AS c ON c.text_id = j.value",
        [as_json(changes.sentences)],
    ).fetchall()
    return TopologyPatch(topology, matrix, chunks.moves, [row[9] for row in chunk_rows], texts)


_COUNTS = {
    Label.CHUNK: "SELECT count(*) FROM chunk WHERE id > ?",
    Label.SUBCHAPTER: "SELECT count(*) FROM section WHERE id > ?",
}


def count_new(connection: Connection, old: Topology, matrix: Matrix) -> int:
    """Return the number of chunks, sections, names and vectors added since."""
    counts = [(query, old.nodes[label].highest) for label, query in _COUNTS.items()]
    counts.append(("SELECT count(*) FROM name WHERE id > ?", old.last_name))
    counts.append(("SELECT count(*) FROM vector WHERE id > ?", matrix.highest))
    return sum(int(connection.execute(query, [after]).fetchone()[0]) for query, after in counts)


@dataclass(frozen=True, slots=True)
class _Citations:
    """Citations of ``chunks``: distinct (chunk number, number of the cited entity), by chunk and first appearance."""

    chunks: Rows
    pairs: Rows


def _other_ends(entities: Nodes, names: Sequence[Name], changes: Changes) -> list[int]:
    """Return the numbers of names through which citations of old chunks may now lead elsewhere."""
    changed = set(changes.name)
    some = [name for name in names if name.number in changed]
    was = entities.rows_of(np.array([name.number for name in some], dtype=np.int64)) >= 0
    return [name.number for name, entity in zip(some, was, strict=True) if not (entity and name.is_entity)]


def _cited(connection: Connection, new: Rows, names: Sequence[int]) -> _Citations:
    """Return the citations of ``new`` chunks and of the chunks that cite one of the ``names``."""
    citing = [
        number
        for (number,) in connection.execute(
            "SELECT DISTINCT t.chunk_id FROM json_each(?) AS j JOIN citation AS t ON t.name_id = j.value",
            [as_json(names)],
        )
    ]
    chunks = np.union1d(new, np.array(citing, dtype=np.int64))
    pairs = connection.execute(
        "SELECT t.chunk_id, coalesce(n.leads_to, n.id) FROM json_each(?) AS j JOIN citation AS t ON t.chunk_id = j.value"
        " JOIN name AS n ON n.id = t.name_id ORDER BY t.chunk_id, t.ordinal",
        [as_json(chunks.tolist())],
    )
    return _Citations(chunks, np.array(list(dict.fromkeys(pairs)), dtype=np.int64).reshape(-1, 2))


def _outlines(connection: Connection, pages: Iterable[int]) -> Rows:
    """Return (page number, section number) of all sections of pages, in document order."""
    rows = connection.execute(
        "SELECT s.page_id, s.id FROM json_each(?) AS j JOIN section AS s ON s.page_id = j.value"
        " ORDER BY s.page_id, s.position, s.uri",
        [as_json(sorted(pages))],
    )
    return np.array(rows.fetchall(), dtype=np.int64).reshape(-1, 2)


class _Graph:
    """The arrays between nodes. ``facts`` of new chunks are the numbers of page and section (-1), position, and
    lengths (text, headings); ``pages_of_sections`` are the numbers of the pages of new sections.
    """

    def __init__(
        self,
        old: Topology,
        chunks: NodePatch,
        sections: NodePatch,
        pages: NodePatch,
        entities: NodePatch,
        facts: Rows,
        pages_of_sections: Rows,
    ) -> None:
        self._old = old
        self._chunks, self._sections, self._pages, self._entities = chunks, sections, pages, entities
        page, section = pages.nodes.rows_of(facts[:, 0]), sections.nodes.rows_of(facts[:, 1])
        moves = chunks.moves
        self._page = moves.carry(old.page, page, pages.moves)
        self._section = moves.carry(old.section, section, sections.moves)
        self._position = moves.carry(old.position, facts[:, 2])
        self._terms = moves.carry(old.terms, facts[:, 3:])
        self._all_terms = old.all_terms - int(old.terms[moves.gone].sum()) + int(facts[:, 3:].sum())
        page = pages.nodes.rows_of(pages_of_sections)
        self._section_page = sections.moves.carry(old.section_page, page, pages.moves)
        entity = entities.nodes.rows_of(pages.nodes.ids[pages.moves.added])
        self._page_entity = pages.moves.carry(old.page_entity, entity, entities.moves)

    def topology(
        self, cited: _Citations, outlines: Rows, nodes: dict[Label, Nodes], last_name: int
    ) -> Topology:
        """Assemble the topology. ``outlines`` are (page number, section number), in document order, of pages with new
        sections.
        """
        old, chunks, entities = self._old, self._chunks, self._entities
        count = len(chunks.nodes.ids)
        page_chunks = old.page_chunks.patched(self._pages.moves, chunks.moves, self._chunks_of_pages())
        page = self._pages.nodes.rows_of(outlines[:, 0])
        section = self._sections.nodes.rows_of(outlines[:, 1])
        page_sections = old.page_sections.patched(
            self._pages.moves, self._sections.moves, _by_owner(page, section)
        )

        citing = chunks.nodes.rows_of(cited.chunks)
        chunk, entity = chunks.nodes.rows_of(cited.pairs[:, 0]), entities.nodes.rows_of(cited.pairs[:, 1])
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
            last_name=last_name,
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

    def _before(self, patch: NodePatch, rows: Iterable[int]) -> dict[int, int]:
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
