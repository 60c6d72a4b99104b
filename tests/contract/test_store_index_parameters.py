"""How vector indexes are made is kept with the store, and changing it makes them anew without losing anything."""

from __future__ import annotations

import numpy as np
import pytest

from tests.contract.graphs import graph
from trivium.graph.protocols import GraphStore
from trivium.graph.schema import Label
from trivium.settings.index_parameters import IndexParameters
from trivium.types import EmbedderIdentity

PLANE = EmbedderIdentity("plane", "1", 2)
EAST = np.array([1, 0], dtype=np.float32)


def test_a_new_store_says_nothing_of_them(store: GraphStore) -> None:
    assert store.index_parameters == IndexParameters()
    assert store.info().index == {}


def test_what_is_kept_is_what_was_set_until_it_is_taken_back(store: GraphStore) -> None:
    wide = IndexParameters(connectivity=32, expansion_add=200, quantized=False)
    store.set_index_parameters(wide)
    store.set_index_parameters(wide)
    assert store.index_parameters == wide
    assert store.info().index == {"connectivity": 32, "expansion_add": 200, "quantized": False}
    store.set_index_parameters(IndexParameters())
    assert store.index_parameters == IndexParameters()


@pytest.mark.parametrize("quantized", [True, False])
def test_what_is_nearest_is_found_by_indexes_made_anew(store: GraphStore, quantized: bool) -> None:
    """Before, after, and after a further page. Neo4j ranks by what the index holds: by bytes two numbers are not told
    apart well, but all are found."""
    angles = {f"P{number}": number / 10 for number in range(8)}

    def vectors(texts: list[str]) -> np.ndarray:
        at = [angles.get(text.partition(":")[0], 1.5) for text in texts]
        return np.stack([np.cos(at), np.sin(at)], axis=1).astype(np.float32)

    def add(name: str) -> None:
        store.write([graph(name, [("text", [])])])
        texts = list(store.pending_texts())
        store.put_vectors(texts, vectors(texts))
        store.refresh()

    def nearest(k: int) -> list[str]:
        found = [one.uri for one in store.nearest([Label.CHUNK], EAST, k)]
        return sorted(found) if quantized else found

    chunks = [f"{name}#chunk-1" for name in angles]
    store.set_embedder(PLANE)
    for name in list(angles)[:7]:
        add(name)
    assert [one.uri for one in store.nearest([Label.CHUNK], EAST, 3)] == chunks[:3]
    store.set_index_parameters(IndexParameters(connectivity=8, expansion_add=64, quantized=quantized))
    store.refresh()
    assert nearest(7) == chunks[:7]
    add("P7")
    assert nearest(8) == chunks
