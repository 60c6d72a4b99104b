"""Updates the arrays of nodes after changes: which nodes exist, their rows, and their vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trivium.graph.arrays import Rows
from trivium.graph.embedded.changes import Changes
from trivium.graph.embedded.connection import Connection, as_json
from trivium.graph.embedded.topology import Nodes
from trivium.graph.embedded.vectors import Matrix
from trivium.graph.moves import Moves
from trivium.graph.schema import Label

_NAME = """
    SELECT n.id, n.uri, n.leads_to IS NULL, coalesce(v.id, -1), p.id IS NOT NULL
    FROM name AS n LEFT JOIN vector AS v ON v.text_id = n.text_id LEFT JOIN page AS p ON p.id = n.id
    """


@dataclass(frozen=True, slots=True)
class NodePatch:
    """The nodes of a label after changes, and where the rows of the earlier ones are now. New nodes are sorted by uri.
    Only the column of vectors may still be written to: it is not shared with the earlier state.
    """

    nodes: Nodes
    moves: Moves


@dataclass(frozen=True, slots=True)
class Name:
    """A name that is new or has changed. For a removed name ``is_entity`` and ``is_page`` are both false."""

    number: int
    uri: str = ""
    is_entity: bool = False
    vector: int = -1
    is_page: bool = False


def read_names(connection: Connection, changes: Changes, after: int) -> list[Name]:
    """Return the names that changed, became pages or were removed, and those above a number."""
    listed = sorted({*changes.name, *changes.page})
    rows = connection.execute(
        f"{_NAME} JOIN json_each(?) AS j ON n.id = j.value WHERE n.id <= ?", [as_json(listed), after]
    )
    found = {row[0]: row for row in rows}
    found |= {row[0]: row for row in connection.execute(f"{_NAME} WHERE n.id > ?", [after])}
    names = [
        Name(number, uri, bool(entity), vector, bool(page))
        for number, uri, entity, vector, page in found.values()
    ]
    return [*names, *(Name(number) for number in listed if number not in found)]


def settle(old: Nodes, names: Sequence[Name], belongs: Callable[[Name], bool], matrix: Matrix) -> NodePatch:
    """Update the nodes of a label whose nodes are names."""
    there = old.rows_of(np.array([name.number for name in names], dtype=np.int64)) >= 0
    gone = [name.number for name, known in zip(names, there, strict=True) if known and not belongs(name)]
    new = sorted(
        (name.uri, name.number, name.vector)
        for name, known in zip(names, there, strict=True)
        if belongs(name) and not known
    )
    patch = patch_nodes(old, gone, new, matrix)
    rows = patch.nodes.rows_of(np.array([name.number for name in names], dtype=np.int64))
    vectors = matrix.rows_of(np.array([name.vector for name in names], dtype=np.int64))
    patch.nodes.vector[rows[rows >= 0]] = vectors[rows >= 0]  # some have another text
    return patch


def patch_nodes(
    old: Nodes, gone: Sequence[int], new: Sequence[tuple[str, int, int]], matrix: Matrix
) -> NodePatch:
    """Remove the nodes with numbers ``gone`` and insert ``new`` ones (uri, number, vector number), which are sorted
    by uri.
    """
    rows = old.rows_of(np.array(gone, dtype=np.int64))
    rows = np.sort(rows[rows >= 0])
    uris, moves = old.uris.patched(rows, [uri for uri, _, _ in new])
    if moves.unchanged:
        return NodePatch(replace(old, vector=old.vector.copy()), moves)
    ids = moves.carry(old.ids, column(new, 1))
    vector = moves.carry(old.vector, matrix.rows_of(column(new, 2)))
    later = moves.added[np.argsort(ids[moves.added])]
    ranks = Moves.of(
        len(old.ids),
        np.searchsorted(old.rising, np.sort(old.ids[rows])),
        np.searchsorted(old.rising, ids[later]),
    )
    by_id, rising = ranks.carry(old.by_id, later, moves), ranks.carry(old.rising, ids[later])
    return NodePatch(Nodes(uris, ids, by_id, vector, rising), moves)


_OF_TEXTS = {
    table: f"SELECT x.id, coalesce(v.id, -1) FROM json_each(?) AS j JOIN {table} AS x ON x.text_id = j.value"  # noqa: S608
    " LEFT JOIN vector AS v ON v.text_id = x.text_id"
    for table in ("chunk", "section", "name")
}
"""Queries for the nodes of a text and their current vectors."""
_TABLES = {Label.CHUNK: "chunk", Label.SUBCHAPTER: "section", Label.PAGE: "name", Label.ENTITY: "name"}


def give_vectors(
    connection: Connection, patches: Mapping[Label, NodePatch], texts: Iterable[int], matrix: Matrix
) -> None:
    """Assign the current vectors of ``texts`` to their nodes."""
    wanted = [as_json(sorted(texts))]
    found = {
        table: np.array(connection.execute(query, wanted).fetchall(), dtype=np.int64).reshape(-1, 2)
        for table, query in _OF_TEXTS.items()
    }
    for label, patch in patches.items():
        numbers, vectors = found[_TABLES[label]].T
        rows = patch.nodes.rows_of(numbers)
        patch.nodes.vector[rows[rows >= 0]] = matrix.rows_of(vectors[rows >= 0])


def column(rows: Sequence[Sequence[Any]], place: int) -> Rows:
    """Return one column of rows from the database."""
    return np.array([row[place] for row in rows], dtype=np.int64)
