"""A store keeps what cut its pages, and mixes no two."""

from __future__ import annotations

import pytest

from tests.contract.graphs import graph
from tests.contract.state import state_of
from trivium.errors import ChunkerMismatchError
from trivium.graph.protocols import GraphStore


def test_the_chunker_comes_with_the_first_page(store: GraphStore) -> None:
    """There is none before; pages that come without one are blocks."""
    assert store.chunker is None
    store.write([], "fixed:300/50")
    assert store.chunker is None
    store.write([graph("A", [("one", ["B"])])], "sentence:200")
    assert store.chunker == "sentence:200"
    store.write([graph("B")])
    assert store.chunker == "sentence:200"


def test_another_one_is_refused_and_writes_nothing(store: GraphStore) -> None:
    """Also where the stored pages came before there was a choice."""
    store.write([graph("A")])
    assert store.chunker == "blocks"
    store.write([graph("B")], "blocks")
    before = state_of(store)
    with pytest.raises(ChunkerMismatchError, match="blocks, not by fixed:300/50"):
        store.write([graph("C")], "fixed:300/50")
    assert state_of(store) == before and store.chunker == "blocks"


def test_a_store_without_pages_takes_any(store: GraphStore) -> None:
    """When the last page has gone, the choice is free again."""
    store.write([graph("A")], "fixed:300/50")
    store.delete(["A"])
    assert store.chunker is None
    store.write([graph("A")], "blocks")
    assert store.chunker == "blocks"
