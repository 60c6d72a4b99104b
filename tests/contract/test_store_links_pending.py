"""A store keeps whether pages are still to be looked through for names that came or went."""

from __future__ import annotations

from tests.contract.graphs import graph
from tests.contract.state import state_of
from trivium.graph.protocols import GraphStore


def test_it_is_kept_until_it_is_taken_back_and_leaves_the_graph_as_it_was(store: GraphStore) -> None:
    assert not store.links_pending
    store.write([graph("A", [("one", ["B"])])])
    before = state_of(store)
    for pending in (True, True, False, True):
        store.set_links_pending(pending)
        assert store.links_pending == pending
    assert state_of(store) == before
    store.delete(["A"])
    assert store.links_pending
