"""A store keeps which fusion was decided on for it."""

from __future__ import annotations

from tests.contract.graphs import embed_pending, graph
from tests.contract.state import state_of
from trivium.graph.protocols import GraphStore


def test_a_decision_comes_back_as_it_was_and_can_be_taken_back(store: GraphStore) -> None:
    """There is none at first; the last one holds; it is text, whatever it says."""
    assert store.fusion_decision is None
    for decision in ('{"fusion": "convex"}', "'; DROP TABLE meta; -- \n\u202e𝕌nicode", ""):
        store.set_fusion_decision(decision)
        assert store.fusion_decision == decision
    store.set_fusion_decision(None)
    assert store.fusion_decision is None


def test_a_decision_leaves_the_graph_as_it_was(store: GraphStore) -> None:
    """And the graph leaves the decision as it was."""
    store.write([graph("A", [("one", ["B"])])])
    embed_pending(store)
    before = state_of(store)
    store.set_fusion_decision("convex")
    assert state_of(store) == before
    store.delete(["A"])
    assert store.fusion_decision == "convex"
