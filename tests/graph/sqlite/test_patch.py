"""Arrays brought up to date in memory are those that building them gives, and what has not changed is not copied."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contract.graphs import IDENTITY, embed_pending, graph, pages
from tests.graph.sqlite.patching import patched_store
from trivium.graph.arrays import row_moves as moves
from trivium.graph.arrays.array_files import Csr
from trivium.graph.arrays.topology import Nodes, Topology, build_topology, load_topology
from trivium.graph.page_graph import PageGraph
from trivium.graph.schema import Label
from trivium.graph.sqlite import EmbeddedStore, load_index
from trivium.graph.sqlite.index_rows import SqliteRows
from trivium.graph.sqlite.open_database import open_database

Arrays = dict[str, np.ndarray[Any, Any]]

_titles = st.sampled_from(("A", "B", "C", "a", "A (x)", "é"))
_steps = st.lists(
    st.tuples(st.lists(pages, max_size=3), st.lists(_titles, max_size=2), st.booleans()),
    min_size=1,
    max_size=5,
)


def _of_nodes(label: Label, nodes: Nodes) -> Arrays:
    uris = np.array(list(nodes.uris), dtype=object)
    return {
        f"{label} uris": uris,
        **{f"{label} {name}": getattr(nodes, name) for name in ("ids", "by_id", "rising")},
    }


def _arrays(topology: Topology) -> Arrays:
    """All arrays but the rows of vectors: the matrix keeps those of nodes that went."""
    found: Arrays = {}
    for label, nodes in topology.nodes.items():
        found |= _of_nodes(label, nodes)
    for name in ("page", "section", "position", "terms", "page_entity", "section_page", "own_chunks"):
        found[name] = getattr(topology, name)
    for name in ("page_chunks", "page_sections", "cites", "cited_in", "links"):
        lists: Csr = getattr(topology, name)
        found |= {f"{name} indptr": lists.indptr, f"{name} indices": lists.indices}
    return found | {"numbers": np.array([topology.all_terms, topology.last_name])}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    first=st.lists(pages, min_size=1, max_size=4),
    steps=_steps,
    way=st.sampled_from(("compared", "few", "table")),
)
def test_patched_arrays_are_those_that_are_built(
    first: list[PageGraph], steps: list[tuple[list[PageGraph], list[str], bool]], way: str
) -> None:
    """After every change, in each of the ways in which rows are followed: values, types and order."""
    with patched_store() as (patches, folder, store):
        patches.setattr(moves, "_BLOCK", 3)  # even a few rows fill several
        patches.setattr(moves, "FEW", 10**6 if way == "few" else 0)
        patches.setattr(moves, "MOST_COMPARED", 0 if way == "table" else 10**6)
        for shortest in ("SHORTEST_COPIED", "SHORTEST_FOLLOWED"):
            patches.setattr(moves, shortest, 10**6 if way == "table" else 0)
        store.set_embedder(IDENTITY)
        store.write(first)
        store.refresh()
        for written, deleted, embedded in steps:
            store.write(written)
            store.delete(deleted)
            if embedded:
                embed_pending(store)
            store.refresh()
            with (
                closing(open_database(folder / "s", read_only=True)) as database,
                database.reading() as connection,
            ):
                build_topology(SqliteRows(connection), folder, np.empty(0, dtype=np.int64))
            built, patched = _arrays(load_topology(folder)), _arrays(store._current().topology)
            for name, array in built.items():
                assert patched[name].dtype == array.dtype, name
                assert patched[name].tolist() == array.tolist(), name


def test_vectors_alone_change_no_array_of_the_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are shared with the state before; only the rows of vectors are new."""
    for most in ("MOST_PATCHED", "MOST_WHILE_BUILDING"):
        monkeypatch.setattr(load_index, most, 1e6)
    with EmbeddedStore.create(tmp_path / "s") as store:
        store.set_embedder(IDENTITY)
        store.write([graph("A", [("red moon", ["B"])], {"S": [("blue", ["C"])]}), graph("B", [("text", [])])])
        store.refresh()
        before = store._current().topology
        embed_pending(store)
        after = store._current().topology
        assert after is not before and (after.nodes[Label.CHUNK].vector >= 0).all()
        assert all(after.nodes[label].uris is nodes.uris for label, nodes in before.nodes.items())
        old, new = _arrays(before), _arrays(after)
        assert [name for name in old if new[name] is not old[name]] == [
            *(f"{label} uris" for label in before.nodes),  # made by this test
            "numbers",
        ]
