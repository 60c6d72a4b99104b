"""Indexes of an earlier state brought up to date in memory: what a few changes cost hangs on the changes, and on how fast
memory is copied, not on what it takes to read a store.

Rows of the database never change but for those that it lists (:mod:`trivium.graph.embedded.changes`), and what is new has
higher numbers than all before. The arrays come out as :func:`~trivium.graph.embedded.topology.build_topology` makes them;
vectors, sentences and terms are added below those that there are, and those of what is gone stay unused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.common.ragged import own_chunk_ranges
from trivium.graph.arrays import Csr, Rows
from trivium.graph.embedded.changes import Changes
from trivium.graph.embedded.connection import Connection, as_json
from trivium.graph.embedded.topology import Nodes, Topology
from trivium.graph.embedded.vectors import Matrix, new_vectors
from trivium.graph.schema import Label

_CHUNKS = """
    SELECT c.id, c.uri, c.page_id, coalesce(c.section_id, -1), c.position, c.term_count, c.heading_count, c.text_id,
        coalesce(v.id, -1), c.heading_terms || ' ' || c.terms
    FROM chunk AS c LEFT JOIN vector AS v ON v.text_id = c.text_id WHERE c.id > ? ORDER BY c.uri
    """
_SECTIONS = """
    SELECT s.id, s.uri, s.page_id, coalesce(v.id, -1)
    FROM section AS s LEFT JOIN vector AS v ON v.text_id = s.text_id WHERE s.id > ? ORDER BY s.uri
    """
_NAME = """
    SELECT n.id, n.uri, n.leads_to IS NULL, coalesce(v.id, -1), p.id IS NOT NULL
    FROM name AS n LEFT JOIN vector AS v ON v.text_id = n.text_id LEFT JOIN page AS p ON p.id = n.id
    """


@dataclass(frozen=True, slots=True)
class _NodePatch:
    """Where the nodes of a label are now: ``moved`` (old rows,), -1 where they are gone; ``added`` are the rows of those
    that came, in the order of their uris."""

    nodes: Nodes
    moved: Rows
    added: Rows


@dataclass(frozen=True, slots=True)
class TopologyPatch:
    """A topology after changes, and what else follows from them: where the chunks are now (as in ``_NodePatch``), the
    ``terms`` of those that came, numbers of chunks with their texts that came or may have other sentences, and by label
    the numbers of nodes that came or may have another vector."""

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
    """The arrays of the state that the connection sees, from those of the state that the changes were listed from."""
    nodes = old.nodes
    after = _highest(matrix.ids)
    new = connection.execute("SELECT id, text_id FROM vector WHERE id > ? ORDER BY id", [after]).fetchall()
    blocks = list(new_vectors(connection, after, dimension))
    if new:
        matrix = Matrix(
            matrix.vectors.grown(np.concatenate(blocks)), np.concatenate([matrix.ids, _numbers(new, 0)])
        )

    chunk_rows = connection.execute(_CHUNKS, [_highest(nodes[Label.CHUNK].ids)]).fetchall()
    section_rows = connection.execute(_SECTIONS, [_highest(nodes[Label.SUBCHAPTER].ids)]).fetchall()
    names = _names(connection, changes, _highest(nodes[Label.ENTITY].ids))
    chunks = _patch_nodes(
        nodes[Label.CHUNK], changes.chunk, [(row[1], row[0], row[8]) for row in chunk_rows], matrix
    )
    sections = _patch_nodes(
        nodes[Label.SUBCHAPTER], changes.section, [(row[1], row[0], row[3]) for row in section_rows], matrix
    )
    entities = _settle(nodes[Label.ENTITY], names, lambda name: name.is_entity, matrix)
    pages = _settle(nodes[Label.PAGE], names, lambda name: name.is_page, matrix)
    patches = {
        Label.CHUNK: chunks,
        Label.SUBCHAPTER: sections,
        Label.PAGE: pages,
        Label.ENTITY: entities,
    }
    fresh = _give_vectors(connection, patches, {*(text for _, text in new), *changes.vector}, matrix)
    for label in (Label.PAGE, Label.ENTITY):
        fresh[label] = np.union1d(fresh[label], np.array(changes.name, dtype=np.int64))

    graph = _Graph(old, chunks, sections, pages, entities)
    facts = np.array([row[2:7] for row in chunk_rows], dtype=np.int64).reshape(-1, 5)
    graph.place_chunks(facts)
    graph.place_sections(_numbers(section_rows, 2))
    topology = graph.topology(
        _cited(connection, chunks.nodes.ids[chunks.added], _other_ends(nodes[Label.ENTITY], names, changes)),
        _outlines(connection, {row[2] for row in section_rows}),
        {label: patch.nodes for label, patch in patches.items()},
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
    Label.ENTITY: "SELECT count(*) FROM name WHERE id > ?",
}


def count_new(connection: Connection, old: Topology, matrix: Matrix) -> int:
    """How many chunks, sections, names and vectors came since."""
    counts = [(query, old.nodes[label].ids) for label, query in _COUNTS.items()]
    counts.append(("SELECT count(*) FROM vector WHERE id > ?", matrix.ids))
    return sum(int(connection.execute(query, [_highest(ids)]).fetchone()[0]) for query, ids in counts)


@dataclass(frozen=True, slots=True)
class _Name:
    """A name that is new or has changed; of one that is gone neither holds."""

    number: int
    uri: str = ""
    is_entity: bool = False
    vector: int = -1
    is_page: bool = False


def _names(connection: Connection, changes: Changes, after: int) -> list[_Name]:
    """The names that changed, became pages or are no more, and those above a number."""
    listed = sorted({*changes.name, *changes.page})
    rows = connection.execute(
        f"{_NAME} JOIN json_each(?) AS j ON n.id = j.value WHERE n.id <= ?", [as_json(listed), after]
    )
    found = {row[0]: row for row in rows}
    found |= {row[0]: row for row in connection.execute(f"{_NAME} WHERE n.id > ?", [after])}
    names = [
        _Name(number, uri, bool(entity), vector, bool(page))
        for number, uri, entity, vector, page in found.values()
    ]
    return [*names, *(_Name(number) for number in listed if number not in found)]


def _settle(
    old: Nodes, names: Sequence[_Name], belongs: Callable[[_Name], bool], matrix: Matrix
) -> _NodePatch:
    """The nodes of a label whose nodes are names."""
    there = old.rows_of(np.array([name.number for name in names], dtype=np.int64)) >= 0
    gone = [name.number for name, known in zip(names, there, strict=True) if known and not belongs(name)]
    new = sorted(
        (name.uri, name.number, name.vector)
        for name, known in zip(names, there, strict=True)
        if belongs(name) and not known
    )
    patch = _patch_nodes(old, gone, new, matrix)
    rows = patch.nodes.rows_of(np.array([name.number for name in names], dtype=np.int64))
    vectors = matrix.rows_of(np.array([name.vector for name in names], dtype=np.int64))
    patch.nodes.vector[rows[rows >= 0]] = vectors[rows >= 0]  # some have another text
    return patch


def _patch_nodes(
    old: Nodes, gone: Sequence[int], new: Sequence[tuple[str, int, int]], matrix: Matrix
) -> _NodePatch:
    """Without the nodes with numbers ``gone``, and with ``new`` ones (uri, number, number of the vector) in the order of
    their uris."""
    rows = old.rows_of(np.array(gone, dtype=np.int64))
    uris, moved, added = old.uris.patched(np.sort(rows[rows >= 0]), [uri for uri, _, _ in new])
    stays = moved >= 0
    ids, vector = (np.empty(len(uris), dtype=np.int64) for _ in range(2))
    ids[moved[stays]], ids[added] = old.ids[stays], _numbers(new, 1)
    vector[moved[stays]], vector[added] = old.vector[stays], matrix.rows_of(_numbers(new, 2))
    kept = moved[old.by_id]
    kept = kept[kept >= 0]
    later = added[np.argsort(ids[added])]
    by_id = np.insert(kept, np.searchsorted(ids[kept], ids[later]), later)
    return _NodePatch(Nodes(uris, ids, by_id, vector), moved, added)


_OF_TEXTS = {
    table: f"SELECT x.id, coalesce(v.id, -1) FROM json_each(?) AS j JOIN {table} AS x ON x.text_id = j.value"  # noqa: S608
    " LEFT JOIN vector AS v ON v.text_id = x.text_id"
    for table in ("chunk", "section", "name")
}
"""Nodes by their texts, and the vectors that they have now."""
_TABLES = {Label.CHUNK: "chunk", Label.SUBCHAPTER: "section", Label.PAGE: "name", Label.ENTITY: "name"}


def _give_vectors(
    connection: Connection, patches: Mapping[Label, _NodePatch], texts: Iterable[int], matrix: Matrix
) -> dict[Label, Rows]:
    """Point the nodes with one of the ``texts`` to the vector that it has now. Returns by label the numbers of nodes that
    came, or were pointed to one."""
    wanted = [as_json(sorted(texts))]
    found = {
        table: np.array(connection.execute(query, wanted).fetchall(), dtype=np.int64).reshape(-1, 2)
        for table, query in _OF_TEXTS.items()
    }
    fresh: dict[Label, Rows] = {}
    for label, patch in patches.items():
        numbers, vectors = found[_TABLES[label]].T
        rows = patch.nodes.rows_of(numbers)
        patch.nodes.vector[rows[rows >= 0]] = matrix.rows_of(vectors[rows >= 0])
        fresh[label] = np.union1d(patch.nodes.ids[patch.added], numbers[rows >= 0])
    return fresh


@dataclass(frozen=True, slots=True)
class _Citations:
    """Distinct (number of a chunk, of the entity that it cites), by chunk and first appearance, of ``chunks``."""

    chunks: Rows
    pairs: Rows


def _other_ends(entities: Nodes, names: Sequence[_Name], changes: Changes) -> list[int]:
    """Numbers of names that citations of old chunks may lead elsewhere by than before."""
    changed = set(changes.name)
    some = [name for name in names if name.number in changed]
    was = entities.rows_of(np.array([name.number for name in some], dtype=np.int64)) >= 0
    return [name.number for name, entity in zip(some, was, strict=True) if not (entity and name.is_entity)]


def _cited(connection: Connection, new: Rows, names: Sequence[int]) -> _Citations:
    """What ``new`` chunks cite, and those that cite one of the ``names``."""
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
    """(page, section) by number of all sections of pages, in document order."""
    rows = connection.execute(
        "SELECT s.page_id, s.id FROM json_each(?) AS j JOIN section AS s ON s.page_id = j.value"
        " ORDER BY s.page_id, s.position, s.uri",
        [as_json(sorted(pages))],
    )
    return np.array(rows.fetchall(), dtype=np.int64).reshape(-1, 2)


class _Graph:
    """The arrays between nodes, while they are made."""

    def __init__(
        self, old: Topology, chunks: _NodePatch, sections: _NodePatch, pages: _NodePatch, entities: _NodePatch
    ) -> None:
        self._old = old
        self._chunks, self._sections, self._pages, self._entities = chunks, sections, pages, entities

    def place_chunks(self, new: Rows) -> None:
        """``new``: the numbers of page and section (-1), position and lengths (text, headings) of chunks that came."""
        old, chunks = self._old, self._chunks
        pages, sections = self._pages.nodes, self._sections.nodes
        self._page = _carry(chunks, _follow(self._pages.moved, old.page), pages.rows_of(new[:, 0]))
        self._section = _carry(
            chunks, _follow(self._sections.moved, old.section), sections.rows_of(new[:, 1])
        )
        self._position = _carry(chunks, old.position, new[:, 2])
        self._terms = _carry(chunks, old.terms, new[:, 3:])

    def place_sections(self, pages: Rows) -> None:
        """``pages``: numbers of those that the sections which came are of."""
        self._section_page = _carry(
            self._sections,
            _follow(self._pages.moved, self._old.section_page),
            self._pages.nodes.rows_of(pages),
        )
        entity = self._entities.nodes.rows_of(self._pages.nodes.ids[self._pages.added])
        self._page_entity = _carry(self._pages, _follow(self._entities.moved, self._old.page_entity), entity)

    def topology(self, cited: _Citations, outlines: Rows, nodes: dict[Label, Nodes]) -> Topology:
        """All of it; ``outlines`` are (page, section) by number, in document order, of pages with sections that came."""
        old, chunks, entities = self._old, self._chunks, self._entities
        count, entity_count = len(chunks.nodes.ids), len(entities.nodes.ids)
        page_chunks = old.page_chunks.patched(
            self._pages.moved, len(self._pages.nodes.ids), chunks.moved, self._chunks_of_pages()
        )
        page, section = (
            self._pages.nodes.rows_of(outlines[:, 0]),
            self._sections.nodes.rows_of(outlines[:, 1]),
        )
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
        links = old.links.patched(
            np.concatenate([chunks.moved, np.where(entities.moved < 0, -1, entities.moved + count)]),
            count + entity_count,
            np.concatenate([chunks.moved, np.where(entities.moved < 0, -1, entities.moved + count)]),
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
        """The chunks, by position, of the pages that got some."""
        old, chunks, moved = self._old, self._chunks, self._pages.moved
        pages = np.unique(self._page[chunks.added])
        before = np.full(len(self._pages.nodes.ids), -1, dtype=np.int64)
        before[moved[moved >= 0]] = np.flatnonzero(moved >= 0)
        new = _by_owner(self._page[chunks.added], chunks.added)
        lists: dict[int, Rows] = {}
        for page in pages.tolist():
            kept = (
                old.page_chunks.row(int(before[page])) if before[page] >= 0 else np.empty(0, dtype=np.int64)
            )
            rows = np.concatenate([_follow(chunks.moved, kept), new[page]])
            rows = rows[rows >= 0]
            lists[page] = rows[np.lexsort((rows, self._position[rows]))]
        return lists

    def _renewed_entities(self, citing: Rows, entity: Rows) -> Rows:
        """Entities that chunks which are looked at anew cite now or have cited before."""
        before = np.flatnonzero(np.isin(self._chunks.moved, citing) & (self._chunks.moved >= 0))
        cited = _follow(self._entities.moved, self._old.cites.rows(before)[0])
        return np.union1d(cited[cited >= 0], entity)

    def _citing(self, entities: Rows, anew: Rows, chunk: Rows, entity: Rows) -> dict[int, Rows]:
        """For entities the chunks that cite them, by page and position: those of before, but for the ones that were
        looked at ``anew``, and what was found of these."""
        moved = self._entities.moved
        before = np.full(len(self._entities.nodes.ids), -1, dtype=np.int64)
        before[moved[moved >= 0]] = np.flatnonzero(moved >= 0)
        order = np.argsort(entity, kind="stable")
        new = _by_owner(entity[order], chunk[order])
        lists: dict[int, Rows] = {}
        for row in entities.tolist():
            kept = (
                self._old.cited_in.row(int(before[row])) if before[row] >= 0 else np.empty(0, dtype=np.int64)
            )
            rows = _follow(self._chunks.moved, kept)
            rows = rows[(rows >= 0) & ~np.isin(rows, anew)]
            rows = np.concatenate([rows, new.get(row, rows[:0])])
            lists[row] = rows[np.lexsort((rows, self._position[rows], self._page[rows]))]
        return lists

    def _own_chunks(self, entity: int, page_chunks: Csr) -> NDArray[np.int32]:
        """The chunks of the page that an entity is."""
        row = int(np.searchsorted(self._page_entity, entity))  # both in uri order
        if row < len(self._page_entity) and self._page_entity[row] == entity:
            own: NDArray[np.int32] = page_chunks.row(row)
            return own
        return np.empty(0, dtype=np.int32)


def _by_owner(owners: Rows, entries: Rows) -> dict[int, Rows]:
    """Entries by owner, in the order given."""
    found: dict[int, list[int]] = {}
    for owner, entry in zip(owners.tolist(), entries.tolist(), strict=True):
        found.setdefault(owner, []).append(entry)
    return {owner: np.array(own, dtype=np.int64) for owner, own in found.items()}


def _follow(moved: Rows, rows: NDArray[Any]) -> Rows:
    """Where rows are now; -1 stays."""
    if not len(moved):
        return np.full(len(rows), -1, dtype=np.int64)
    followed: Rows = np.where(rows < 0, -1, moved[rows])
    return followed


def _carry(patch: _NodePatch, old: NDArray[Any], new: Rows) -> Rows:
    """A column (n,) or (n, c) of nodes after changes, from that before and the values of those that came."""
    stays = patch.moved >= 0
    column = np.empty((len(patch.nodes.ids), *old.shape[1:]), dtype=np.int64)
    column[patch.moved[stays]], column[patch.added] = old[stays], new
    return column


def _numbers(rows: Sequence[Sequence[Any]], column: int) -> Rows:
    return np.array([row[column] for row in rows], dtype=np.int64)


def _highest(ids: Rows) -> int:
    return int(ids.max(initial=0))
