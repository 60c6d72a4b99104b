"""The parts of the embedded store on their own: sparse rows, SQL views."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.graphs import embed_pending, graph
from trivium.graph.arrays.array_files import group
from trivium.graph.page_graph import QuestionNode, RelationEdge
from trivium.graph.schema import RelationshipType
from trivium.graph.sqlite import EmbeddedStore


@given(pairs=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9))), asked=st.lists(st.integers(0, 4)))
def test_sparse_rows_keep_the_order_given(pairs: list[tuple[int, int]], asked: list[int]) -> None:
    """One row at a time or several at once."""
    expected = [[entry for owner, entry in pairs if owner == row] for row in range(5)]
    table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    csr = group(table[:, 0], table[:, 1], 5)
    assert [csr.row(row).tolist() for row in range(5)] == expected
    entries, counts = csr.rows(np.array(asked, dtype=np.int64))
    assert entries.tolist() == [entry for row in asked for entry in expected[row]]
    assert counts.tolist() == [len(expected[row]) for row in asked]


def test_nothing_is_left_of_a_store_whose_pages_were_all_removed(tmp_path: Path) -> None:
    """Not a row, but for who filled it and how often it was written. (The index of words keeps entries of pages that are
    gone, ``test_words.py``.)"""
    with EmbeddedStore.create(tmp_path / "s") as store:
        store.write(
            [graph("A (x)", [("one", ["B"])], {"S": [("two", ["a"])]}, aliases=["a"], relations=[("r", "C")])]
        )
        store.add_relations({"A (x)": [RelationEdge("E", "s", "F")]})
        store.set_types({"A (x)": "t", "B": "t", "E": "t"})
        embed_pending(store)
        store.write([graph("A (x)", [("three", ["D"])])])
        store.add_relations({"A (x)": [RelationEdge("E", "s", "F")]})
        store.delete(["A (x)"])
    database = sqlite3.connect(tmp_path / "s" / "graph.db")
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    tables = [name for name in tables if not name.startswith("page_words")]
    rows = {name: database.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables}
    database.close()
    kept = {"meta", "generation", "change", "sqlite_sequence"}
    assert {name for name, count in rows.items() if count} == kept


def test_every_relationship_is_a_view_for_people_who_explore_the_database(tmp_path: Path) -> None:
    """Source and target by uri, derived ones included; as many as info() counts."""
    with EmbeddedStore.create(tmp_path / "s") as store:
        store.write(
            [
                graph(
                    "A",
                    [("one", ["B", "b"]), ("two", [])],
                    {"S": [("three", ["X"])], "S#T": [("four", ["A"])]},
                    relations=[("r", "b"), ("r", "B")],
                ),
                graph("B", aliases=["b"]),
            ]
        )
        store.put_questions({"A": [QuestionNode("nq-1", "what?", (), ("A#S#chunk-1", "A#chunk-2"))]})
        counts = store.info().relationships
    database = sqlite3.connect(tmp_path / "s" / "graph.db")
    found = {
        str(kind): sorted(database.execute(f'SELECT * FROM "{kind}"').fetchall()) for kind in RelationshipType
    }
    database.close()
    cites = [("A#S#T#chunk-1", "A"), ("A#S#chunk-1", "X"), ("A#chunk-1", "B")]
    assert found == {
        "has_subchapter": [("A", "A#S"), ("A#S", "A#S#T")],
        "is_subchapter_of": [("A#S", "A"), ("A#S#T", "A"), ("A#S#T", "A#S")],
        "has_chunk": [
            ("A", "A#chunk-1"),
            ("A", "A#chunk-2"),
            ("A#S", "A#S#chunk-1"),
            ("A#S#T", "A#S#T#chunk-1"),
        ],
        "is_chunk_of": [
            ("A#S#T#chunk-1", "A"),
            ("A#S#T#chunk-1", "A#S"),
            ("A#S#T#chunk-1", "A#S#T"),
            ("A#S#chunk-1", "A"),
            ("A#S#chunk-1", "A#S"),
            ("A#chunk-1", "A"),
            ("A#chunk-2", "A"),
        ],
        "next": [("A#chunk-1", "A#chunk-2")],
        "previous": [("A#chunk-2", "A#chunk-1")],
        "cites": cites,
        "cited_in": sorted((entity, chunk) for chunk, entity in cites),
        "semantic_rel": [("A", "r", "B"), ("B", "is_r_of", "A")],
        "is_answer_of": [("A#S#chunk-1", "nq-1"), ("A#chunk-2", "nq-1")],
    }
    assert {kind: len(rows) for kind, rows in found.items()} == counts
