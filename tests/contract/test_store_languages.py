"""A store keeps which languages its documents are in."""

from __future__ import annotations

from tests.contract.graphs import embed_pending, graph
from tests.contract.state import state_of
from trivium.graph.protocols import GraphStore


def test_languages_come_back_as_they_were_and_leave_the_graph_as_it_was(store: GraphStore) -> None:
    """There are none at first; the last ones hold, whatever is written or removed."""
    assert store.languages is None
    store.write([graph("A", [("one", ["B"])])])
    embed_pending(store)
    before = state_of(store)
    for languages in ("de", "auto de en"):
        store.set_languages(languages)
        assert store.languages == languages
    assert state_of(store) == before
    store.delete(["A"])
    assert store.languages == "auto de en"
    store.set_languages(None)
    assert store.languages is None
