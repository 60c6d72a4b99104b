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

from trivium.common.ragged import own_chunk_ranges
from trivium.graph.arrays import Csr, Rows
from trivium.graph.embedded.changes import Changes
from trivium.graph.embedded.connection import Connection, as_json
from trivium.graph.embedded.node_patches import (
    Name,
    NodePatch,
    column,
    give_vectors,
    highest,
    patch_nodes,
    read_names,
    settle,
)
from trivium.graph.embedded.topology import Nodes, Topology, page_of_entity, read_last_name
from trivium.graph.embedded.vectors import Matrix, new_vectors
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
    ``terms`` of new chunks, (chunk number, text number) of chunks that are new or may have other sentences, and by
    label the numbers of nodes that are new or may have another vector.
    """

    topology: Topology
    matrix: Matrix
    moved: Rows
    added: Rows
    terms: list[str]
    texts: list[tuple[int, int]]
    fresh: dict[Label, Rows]


def patch_topology(
    connection: Connection, old: Topology, matrix: Matrix, changes: Changes, dimension: int
) -> TopologyPatch:
    """Compute the arrays of the state that the connection sees from those of the state before the changes."""
    nodes = old.nodes
    after = highest(matrix.ids)
    new = connection.execute("SELECT id, text_id FROM vector WHERE id > ? ORDER BY id", [after]).fetchall()
    blocks = list(new_vectors(connection, after, dimension))
    if new:
        matrix = Matrix(
            matrix.vectors.grown(np.concatenate(blocks)), np.concatenate([matrix.ids, column(new, 0)])
        )

    chunk_rows = connection.execute(_CHUNKS, [highest(nodes[Label.CHUNK].ids)]).fetchall()
    section_rows = connection.execute(_SECTIONS, [highest(nodes[Label.SUBCHAPTER].ids)]).fetchall()
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
    fresh = give_vectors(connection, patches, {*(text for _, text in new), *changes.vector}, matrix)
    for label in (Label.PAGE, Label.ENTITY):
        fresh[label] = np.union1d(fresh[label], np.array(changes.name, dtype=np.int64))

    facts = np.array([row[2:7] for row in chunk_rows], dtype=np.int64).reshape(-1, 5)
    graph = _Graph(old, chunks, sections, pages, entities, facts, column(section_rows, 2))
    topology = graph.topology(
        _cited(connection, chunks.nodes.ids[chunks.added], _other_ends(nodes[Label.ENTITY], names, changes)),
        _outlines(connection, {row[2] for row in section_rows}),
        {label: patch.nodes for label, patch in patches.items()},
        read_last_name(connection),
    )
    texts = [(row[0], row[7]) for row in chunk_rows]
    texts += connection.execute(
        "SELECT c.id, c.text_id FROM json_each(?) AS j JOIN chunk AS c ON c.text_id = j.value",
        [as_json(changes.sentences)],
    ).fetchall()
    return TopologyPatch(
        topology, matrix, chunks.moved, chunks.added, [row[9] for row in chunk_rows], texts, fresh
    )


_COUNTS = {
    Label.CHUNK: "SELECT count(*) FROM chunk WHERE id > ?",
    Label.SUBCHAPTER: "SELECT count(*) FROM section WHERE id > ?",
}


def count_new(connection: Connection, old: Topology, matrix: Matrix) -> int:
    """Return the number of chunks, sections, names and vectors added since."""
    counts = [(query, highest(old.nodes[label].ids)) for label, query in _COUNTS.items()]
    counts.append(("SELECT count(*) FROM name WHERE id > ?", old.last_name))
    counts.append(("SELECT count(*) FROM vector WHERE id > ?", highest(matrix.ids)))
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
        self._page = _carry(chunks, _follow(pages.moved, old.page), page)
        self._section = _carry(chunks, _follow(sections.moved, old.section), section)
        self._position = _carry(chunks, old.position, facts[:, 2])
        self._terms = _carry(chunks, old.terms, facts[:, 3:])
        page = pages.nodes.rows_of(pages_of_sections)
        self._section_page = _carry(sections, _follow(pages.moved, old.section_page), page)
        entity = entities.nodes.rows_of(pages.nodes.ids[pages.added])
        self._page_entity = _carry(pages, _follow(entities.moved, old.page_entity), entity)

    def topology(
        self, cited: _Citations, outlines: Rows, nodes: dict[Label, Nodes], last_name: int
    ) -> Topology:
        """Assemble the topology. ``outlines`` are (page number, section number), in document order, of pages with new
        sections.
        """
        old, chunks, entities = self._old, self._chunks, self._entities
        count, entity_count = len(chunks.nodes.ids), len(entities.nodes.ids)
        page_chunks = old.page_chunks.patched(
            self._pages.moved, len(self._pages.nodes.ids), chunks.moved, self._chunks_of_pages()
        )
        page = self._pages.nodes.rows_of(outlines[:, 0])
        section = self._sections.nodes.rows_of(outlines[:, 1])
        page_sections = old.page_sections.patched(
            self._pages.moved, len(self._pages.nodes.ids), self._sections.moved, _by_owner(page, section)
        )

        citing = chunks.nodes.rows_of(cited.chunks)
        chunk, entity = chunks.nodes.rows_of(cited.pairs[:, 0]), entities.nodes.rows_of(cited.pairs[:, 1])
        lists = {row: np.empty(0, dtype=np.int64) for row in citing.tolist()} | _by_owner(chunk, entity)
        cites = old.cites.patched(chunks.moved, count, entities.moved, lists)
        renewed = self._renewed_entities(citing, entity)
        cited_in = old.cited_in.patched(
            entities.moved, entity_count, chunks.moved, self._citing(renewed, citing, chunk, entity)
        )

        own_page = self._page_entity[self._page]
        both = np.union1d(citing, chunks.added)
        nodes_moved = np.concatenate([chunks.moved, np.where(entities.moved < 0, -1, entities.moved + count)])
        links = old.links.patched(
            nodes_moved,
            count + entity_count,
            nodes_moved,
            {row: count + np.union1d(cites.row(row), own_page[row : row + 1]) for row in both.tolist()}
            | {
                count + row: np.union1d(cited_in.row(row), self._own_chunks(row, page_chunks))
                for row in np.union1d(renewed, own_page[chunks.added]).tolist()
            },
        )
        return Topology(
            nodes=nodes,
            page=self._page.astype(np.int32),
            section=self._section.astype(np.int32),
            position=self._position,
            terms=self._terms,
            mean_terms=float(self._terms.sum()) / max(1, len(self._terms)),
            last_name=last_name,
            page_entity=self._page_entity.astype(np.int32),
            section_page=self._section_page.astype(np.int32),
            page_chunks=page_chunks,
            page_sections=page_sections,
            cites=cites,
            cited_in=cited_in,
            links=links,
            own_chunks=own_chunk_ranges(own_page, entity_count),
        )

    def _chunks_of_pages(self) -> dict[int, Rows]:
        """Return the chunks, by position, of the pages with new chunks."""
        before = self._pages.before()
        lists: dict[int, Rows] = {}
        for page, new in _by_owner(self._page[self._chunks.added], self._chunks.added).items():
            rows = np.concatenate([self._listed(self._old.page_chunks, before[page]), new])
            lists[page] = rows[np.lexsort((rows, self._position[rows]))]
        return lists

    def _listed(self, lists: Csr, row: int) -> Rows:
        """Return the new rows of the chunks listed in an old row, without removed ones; empty for row -1."""
        if row < 0:
            return np.empty(0, dtype=np.int64)
        rows = _follow(self._chunks.moved, lists.row(row))
        return rows[rows >= 0]

    def _renewed_entities(self, citing: Rows, entity: Rows) -> Rows:
        """Return the entities that re-examined chunks cite now or cited before."""
        before = np.flatnonzero(np.isin(self._chunks.moved, citing) & (self._chunks.moved >= 0))
        cited = _follow(self._entities.moved, self._old.cites.rows(before)[0])
        return np.union1d(cited[cited >= 0], entity)

    def _citing(self, entities: Rows, anew: Rows, chunk: Rows, entity: Rows) -> dict[int, Rows]:
        """Return, by entity, the chunks that cite it, by page and position: the earlier ones except those re-examined
        (``anew``), plus the current citations of these.
        """
        before = self._entities.before()
        order = np.argsort(entity, kind="stable")
        new = _by_owner(entity[order], chunk[order])
        lists: dict[int, Rows] = {}
        for row in entities.tolist():
            kept = self._listed(self._old.cited_in, before[row])
            rows = np.concatenate([kept[~np.isin(kept, anew)], new.get(row, kept[:0])])
            lists[row] = rows[np.lexsort((rows, self._position[rows], self._page[rows]))]
        return lists

    def _own_chunks(self, entity: int, page_chunks: Csr) -> NDArray[np.int32]:
        """Return the chunks on an entity's own page."""
        row = page_of_entity(self._page_entity, entity)
        return page_chunks.row(row) if row >= 0 else np.empty(0, dtype=np.int32)


def _by_owner(owners: Rows, entries: Rows) -> dict[int, Rows]:
    """Group entries by owner, preserving their order."""
    found: dict[int, list[int]] = {}
    for owner, entry in zip(owners.tolist(), entries.tolist(), strict=True):
        found.setdefault(owner, []).append(entry)
    return {owner: np.array(own, dtype=np.int64) for owner, own in found.items()}


def _follow(moved: Rows, rows: NDArray[Any]) -> Rows:
    """Map rows to their new places; -1 stays -1."""
    if not len(moved):
        return np.full(len(rows), -1, dtype=np.int64)
    followed: Rows = np.where(rows < 0, -1, moved[rows])
    return followed


def _carry(patch: NodePatch, old: NDArray[Any], new: Rows) -> Rows:
    """Return a column (n,) or (n, c) of nodes after changes, from the old column and the values of new nodes."""
    stays = patch.moved >= 0
    carried = np.empty((len(patch.nodes.ids), *old.shape[1:]), dtype=np.int64)
    carried[patch.moved[stays]], carried[patch.added] = old[stays], new
    return carried
