"""Vectors of the sentences of chunks: what is missing, what is kept, for how long."""

from __future__ import annotations

import numpy as np
import pytest

from tests.contract.graphs import graph
from trivium.errors import EmbedderMismatchError, StoreError
from trivium.graph.protocols import GraphStore
from trivium.graph.records import Codes, Passage
from trivium.types import EmbedderIdentity

PLANE = EmbedderIdentity("plane", "1", 2)
ONE, TWO = Passage(("A",), "one"), Passage(("A", "S"), "two")


def rows(*values: tuple[int, int]) -> Codes:
    """Vectors of some sentences."""
    return np.array(values, dtype=np.int8).reshape(-1, 2)


@pytest.fixture
def filled(store: GraphStore) -> GraphStore:
    """A page with two sentences in one chunk, and one in another; of a second page nothing is known yet."""
    store.set_embedder(PLANE)
    store.write([graph("A", [("one", [])], {"S": [("two", []), ("two", [])]}), graph("B", [("three", [])])])
    store.put_sentences([ONE, TWO], [rows((127, -128), (0, 5)), rows()])
    return store


def test_passages_are_pending_until_their_sentences_were_put(store: GraphStore) -> None:
    """Distinct, by page and position; headings as people read them."""
    store.write(
        [graph("B%23", [("same", []), ("same", [])]), graph("A", [("text", [])], {"S": [("text", [])]})]
    )
    pending = [Passage(("A",), "text"), Passage(("A", "S"), "text"), Passage(("B#",), "same")]
    assert list(store.pending_sentences()) == pending
    store.set_embedder(PLANE)
    store.put_sentences(pending[1:2], [rows()])
    assert list(store.pending_sentences()) == [pending[0], pending[2]]


def test_sentences_come_back_by_chunk_in_the_order_asked(filled: GraphStore) -> None:
    """Nothing for a chunk that has none, is unknown, or waits for its vectors."""
    found = filled.sentence_vectors(["B#chunk-1", "A#chunk-1", "?", "A#S#chunk-2", "A#chunk-1"])
    assert found.codes.dtype == np.int8
    assert found.codes.tolist() == [[127, -128], [0, 5], [127, -128], [0, 5]]
    assert found.starts.tolist() == [0, 0, 2, 2, 2, 4]
    assert filled.sentence_vectors([]).starts.tolist() == [0]
    assert list(filled.pending_sentences()) == [Passage(("B",), "three")]


def test_what_is_put_again_is_replaced(filled: GraphStore) -> None:
    """The last one holds, none included."""
    filled.put_sentences([ONE, TWO], [rows(), rows((1, 2))])
    found = filled.sentence_vectors(["A#chunk-1", "A#S#chunk-1"])
    assert (found.codes.tolist(), found.starts.tolist()) == ([[1, 2]], [0, 0, 1])


def test_sentences_live_as_long_as_a_chunk_has_their_text(filled: GraphStore) -> None:
    """A page that comes again with an unchanged chunk finds them; what went is to be embedded anew."""
    filled.write([graph("A", [("one", []), ("new", [])])])
    assert filled.sentence_vectors(["A#chunk-1"]).starts.tolist() == [0, 2]
    assert list(filled.pending_sentences()) == [Passage(("A",), "new"), Passage(("B",), "three")]
    filled.delete(["A"])
    filled.write([graph("A", [("one", [])])])
    assert list(filled.pending_sentences()) == [ONE, Passage(("B",), "three")]


def test_sentences_of_passages_no_chunk_has_are_not_kept(filled: GraphStore) -> None:
    """They would never be pruned."""
    filled.put_sentences([Passage(("C",), "later")], [rows((1, 1))])
    filled.write([graph("C", [("later", [])])])
    assert list(filled.pending_sentences()) == [Passage(("B",), "three"), Passage(("C",), "later")]


@pytest.mark.parametrize(
    "codes",
    [
        pytest.param([], id="too few"),
        pytest.param([np.ones((1, 3), dtype=np.int8)], id="another dimension"),
        pytest.param([np.ones((1, 2), dtype=np.float32)], id="another type"),
        pytest.param([np.ones(2, dtype=np.int8)], id="not a matrix"),
        pytest.param([rows((1, 0), (0, 0))], id="a zero"),
    ],
)
def test_what_are_no_sentence_vectors_is_refused(filled: GraphStore, codes: list[Codes]) -> None:
    """And nothing changes."""
    with pytest.raises(StoreError):
        filled.put_sentences([ONE], codes)
    assert filled.sentence_vectors(["A#chunk-1"]).codes.tolist() == [[127, -128], [0, 5]]


def test_sentences_come_after_the_embedder_and_bind_the_store_to_it(store: GraphStore) -> None:
    """Like vectors."""
    store.write([graph("A", [("one", [])])])
    with pytest.raises(StoreError):
        store.put_sentences([ONE], [rows()])
    assert store.sentence_vectors(["A#chunk-1"]).starts.tolist() == [0, 0]
    store.set_embedder(EmbedderIdentity("other", "1", 3))
    store.set_embedder(PLANE)
    store.put_sentences([ONE], [rows((1, 1))])
    with pytest.raises(EmbedderMismatchError):
        store.set_embedder(EmbedderIdentity("other", "1", 2))
