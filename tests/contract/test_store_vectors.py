"""Embeddings in the store, and what is near a question. Vectors lie in a plane: cosines are set by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.contract.graphs import embed_pending, graph
from trivium.common.iteration import batched
from trivium.errors import EmbedderMismatchError, StoreError
from trivium.graph.protocols import GraphStore
from trivium.graph.records import Reached, Vectors
from trivium.graph.schema import Hop, Label
from trivium.types import EmbedderIdentity

PLANE = EmbedderIdentity("plane", "1", 2)
QUESTION = np.array([1, 0], dtype=np.float32)


def at(cosine: float) -> Vectors:
    """A unit vector of that cosine with the question."""
    return np.array([cosine, math.sqrt(1 - cosine * cosine)], dtype=np.float32)


COSINES = {
    "A: one": 0.5,
    "A > S: two": 0.9,
    "A > S: three": 0.5,
    "B: four": -0.25,
    "A": 0.75,
    "B": 0.75,
    "A#S": 0.125,
    "X": 0.25,
    "Y": -0.5,
    "r": 0.5,
}


@pytest.fixture
def filled(store: GraphStore) -> GraphStore:
    """Two pages, every text but that of chunk "five" with a vector."""
    store.set_embedder(PLANE)
    store.write(
        [
            graph("A", [("one", ["X"])], {"S": [("two", []), ("three", ["Y", "B"])]}, relations=[("r", "X")]),
            graph("B", [("four", ["X", "Y"]), ("five", ["Y"])]),
        ]
    )
    store.put_vectors(list(COSINES), np.stack([at(cosine) for cosine in COSINES.values()]))
    return store


def test_pending_texts_are_distinct_and_in_a_fixed_order(store: GraphStore) -> None:
    """Chunks with their headings first, then pages, sections, entities, relation types."""
    store.write(
        [
            graph("B", [("same", ["X"]), ("same", ["C%23"])], relations=[("r", "X"), ("X", "A")]),
            graph("A", [("text", [])], {"S": [("under", [])]}),
        ]
    )
    assert list(store.pending_texts()) == [
        *("A: text", "A > S: under", "B: same"),
        *("A", "B"),
        "A#S",
        *("C#", "X"),
        "r",
    ]


def test_vectors_may_be_written_while_the_missing_texts_are_read(store: GraphStore) -> None:
    """How many there are is known before; each comes once, whatever was written meanwhile, and can be read again."""
    store.write([graph(f"P{n}", [("same", []), (f"{n}", ["Mars"])], {"S": [("same", [])]}) for n in range(9)])
    store.set_embedder(PLANE)
    pending = store.pending_texts()
    every = list(pending)
    assert len(pending) == len(every) == len(set(every)) > 9 * 4
    for part in batched(pending, 5):
        store.put_vectors(part, np.tile(np.eye(2, dtype=np.float32)[:1], (len(part), 1)))
    assert len(store.pending_texts()) == 0
    assert store.info().embedded == len(every)
    passages = store.pending_sentences()
    assert len(passages) == len(set(passages)) == store.count_pending_sentences() == 9 * 3
    for some in batched(passages, 5):
        store.put_sentences(some, [np.ones((1, 2), dtype=np.int8)] * len(some))
    assert not store.pending_sentences() and store.count_pending_sentences() == 0


def test_only_missing_texts_are_pending(filled: GraphStore) -> None:
    """And info counts them."""
    assert list(filled.pending_texts()) == ["B: five"]
    assert (filled.info().embedded, filled.info().to_embed) == (10, 1)
    assert filled.waiting_texts() == (1, 11)
    with filled.pinned() as pinned:
        assert pinned.waiting_texts() == (1, 11)
    assert filled.embedder == filled.info().embedder == PLANE


def test_a_vector_lives_as_long_as_a_node_has_its_text(filled: GraphStore) -> None:
    """A page that comes again with an unchanged chunk finds its vector; what went is to be embedded anew."""
    filled.write([graph("A", [("one", [])], {"S": [("new", [])]})])
    assert list(filled.pending_texts()) == ["A > S: new", "B: five"]
    filled.delete(["A"])
    filled.write([graph("A", [("one", [])])])
    assert list(filled.pending_texts()) == ["A: one", "B: five", "A"]


def test_vectors_of_texts_no_node_has_are_not_kept(filled: GraphStore) -> None:
    """They would never be pruned."""
    filled.put_vectors(["nobody's"], at(0.5)[None])
    assert filled.info().embedded == 10


def test_a_vector_put_again_is_replaced(filled: GraphStore) -> None:
    """The last one holds."""
    filled.put_vectors(["X"], at(1.0)[None])
    assert filled.vectors(Label.ENTITY, ["X"]).tolist() == [[1, 0]]
    assert filled.nearest([Label.ENTITY], QUESTION, 1)[0].uri == "X"


def test_vectors_come_back_by_uri_and_nan_where_there_is_none(filled: GraphStore) -> None:
    """A page is an entity, an entity is no page."""
    got = filled.vectors(Label.CHUNK, ["B#chunk-2", "A#S#chunk-1", "?"])
    assert got.dtype == np.float32
    assert np.isnan(got[[0, 2]]).all()
    assert got[1].tolist() == at(0.9).tolist()
    assert filled.vectors(Label.ENTITY, ["A", "X"]).tolist() == [at(0.75).tolist(), at(0.25).tolist()]
    assert np.isnan(filled.vectors(Label.PAGE, ["A", "X"])).tolist() == [[False] * 2, [True] * 2]
    assert filled.vectors(Label.SUBCHAPTER, ["A#S"]).tolist() == [at(0.125).tolist()]
    assert filled.vectors(Label.PAGE, []).shape == (0, 2)
    relations = filled.relation_vectors(["r", "X", "is_r_of"])
    assert relations[0].tolist() == at(0.5).tolist()
    assert np.isnan(relations[1:]).all()


@pytest.mark.parametrize("exact", [False, True])
def test_nearest_is_by_falling_cosine_then_uri(filled: GraphStore, exact: bool) -> None:
    """Nodes without a vector are not near anything; several labels make one list."""

    def uris(labels: list[Label], k: int) -> list[str]:
        return [node.uri for node in filled.nearest(labels, QUESTION, k, exact=exact)]

    assert uris([Label.CHUNK], 9) == ["A#S#chunk-1", "A#S#chunk-2", "A#chunk-1", "B#chunk-1"]
    assert uris([Label.CHUNK], 2) == ["A#S#chunk-1", "A#S#chunk-2"]
    assert uris([Label.CHUNK], 0) == []
    assert uris([Label.SUBCHAPTER, Label.PAGE], 9) == ["A", "B", "A#S"]
    assert uris([Label.PAGE, Label.ENTITY], 9) == ["A", "B", "X", "Y"]
    assert filled.nearest([Label.CHUNK], QUESTION, 1, exact=exact)[0].score == pytest.approx(0.9, abs=1e-7)


def test_cosines_that_differ_past_the_sixth_digit_are_ties(store: GraphStore) -> None:
    """A list does not hang on the last bit."""
    store.set_embedder(PLANE)
    store.write([graph("P", [("z", []), ("y", [])])])
    store.put_vectors(["P: z", "P: y"], np.stack([at(0.5), at(0.5 + 1e-7)]))
    assert [n.uri for n in store.nearest([Label.CHUNK], QUESTION, 1)] == ["P#chunk-1"]


@pytest.mark.parametrize("exact", [False, True])
def test_reach_orders_by_node_then_own_cosine_position_and_uri(filled: GraphStore, exact: bool) -> None:
    """Two pages tie at .75; a chunk without a vector comes last."""
    reached = filled.expand_nearest([Label.PAGE], QUESTION, 2, Hop.BELOW, None, exact=exact)
    assert [(r.uri, r.source_node, r.position) for r in reached] == [
        ("A#S#chunk-1", "A", 1),
        ("A#chunk-1", "A", 0),
        ("A#S#chunk-2", "A", 2),
        ("B#chunk-1", "B", 0),
        ("B#chunk-2", "B", 1),
    ]
    assert [r.score for r in reached] == pytest.approx([0.75] * 5, abs=1e-7)
    assert [r.cosine for r in reached[:4]] == pytest.approx([0.9, 0.5, 0.5, -0.25], abs=1e-7)
    assert math.isnan(reached[4].cosine)
    assert filled.expand_nearest([Label.PAGE], QUESTION, 2, Hop.BELOW, 2, exact=exact) == reached[:2]
    assert filled.expand_nearest([Label.PAGE], QUESTION, 2, Hop.BELOW, 0, exact=exact) == []


def test_a_chunk_reached_twice_appears_once_with_the_best_node(filled: GraphStore) -> None:
    """B and X lead to chunks that Y leads to as well."""

    def brief(reached: list[Reached]) -> list[tuple[str, str]]:
        return [(r.uri, r.source_node) for r in reached]

    expected = [("A#S#chunk-2", "B"), ("A#chunk-1", "X"), ("B#chunk-1", "X"), ("B#chunk-2", "Y")]
    assert brief(filled.expand_nearest([Label.ENTITY], QUESTION, 9, Hop.CITED_IN, None)) == expected
    assert brief(filled.expand_nearest([Label.ENTITY], QUESTION, 3, Hop.CITED_IN, None)) == expected[:3]
    sections = filled.expand_nearest([Label.SUBCHAPTER, Label.PAGE], QUESTION, 9, Hop.CHILD, 3)
    assert brief(sections) == [("A#chunk-1", "A"), ("B#chunk-1", "B"), ("B#chunk-2", "B")]


def test_similarities_by_hand(filled: GraphStore) -> None:
    """NaN where a view does not exist: no vector, no citation, no such chunk."""
    chunks = ["A#chunk-1", "A#S#chunk-1", "A#S#chunk-2", "B#chunk-2", "?"]
    found = filled.similarities(QUESTION, chunks)
    nan = math.nan
    for view, expected in (
        (found.chunk, [0.5, 0.9, 0.5, nan, nan]),
        (found.section, [0.75, 0.125, 0.125, 0.75, nan]),
        (found.page, [0.75, 0.75, 0.75, 0.75, nan]),
        (found.entity, [0.25, nan, 0.75, -0.5, nan]),
    ):
        np.testing.assert_allclose(view, expected, atol=1e-7)
    assert filled.similarities(QUESTION, []).chunk.shape == (0,)


def test_a_store_without_vectors_has_no_neighbours(store: GraphStore) -> None:
    """Before and after an embedder claimed it."""
    store.write([graph("A", [("one", ["B"])])])
    assert store.nearest([Label.CHUNK], QUESTION, 3) == []
    assert store.expand_nearest([Label.PAGE], QUESTION, 3, Hop.BELOW, 3) == []
    assert np.isnan(store.similarities(QUESTION, ["A#chunk-1"]).chunk).all()
    store.set_embedder(PLANE)
    assert store.nearest([Label.CHUNK], QUESTION, 3) == []
    assert np.isnan(store.vectors(Label.CHUNK, ["A#chunk-1"])).tolist() == [[True, True]]


def test_another_embedder_is_refused_once_one_filled_the_store(store: GraphStore) -> None:
    """A claim without vectors may be taken over."""
    other = EmbedderIdentity("plane", "2", 3)
    store.write([graph("A")])
    store.set_embedder(other)
    store.set_embedder(PLANE)
    store.put_vectors(["A"], QUESTION[None])
    store.set_embedder(PLANE)
    with pytest.raises(EmbedderMismatchError, match="plane"):
        store.set_embedder(other)
    assert store.embedder == PLANE


@pytest.mark.parametrize(
    "vectors",
    [
        np.ones((1, 3), dtype=np.float32),
        np.ones((2, 2), dtype=np.float32),
        np.array([[2, 0]], dtype=np.float32),
        np.array([[0, 0]], dtype=np.float32),
        np.array([[np.nan, 0]], dtype=np.float32),
        np.array([[np.inf, 0]], dtype=np.float32),
    ],
    ids=["dimension", "rows", "long", "zero", "nan", "infinite"],
)
def test_vectors_that_do_not_fit_are_refused(store: GraphStore, vectors: Vectors) -> None:
    """Nothing of them is kept."""
    store.write([graph("A")])
    store.set_embedder(PLANE)
    with pytest.raises(StoreError):
        store.put_vectors(["A"], vectors)
    assert list(store.pending_texts()) == ["A"]


def test_vectors_need_an_embedder(store: GraphStore) -> None:
    """Without it, vectors could not be compared with those of questions."""
    with pytest.raises(StoreError, match="set_embedder"):
        store.put_vectors(["A"], QUESTION[None])


def test_no_text_is_pending_after_all_were_given_vectors(store: GraphStore) -> None:
    """The order of filling ends."""
    store.write([graph("A", [("one", ["B"])], {"S": []}, relations=[("r", "C")])])
    embed_pending(store)
    assert list(store.pending_texts()) == []
