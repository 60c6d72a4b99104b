"""Relations have the embedding of their type, mirrored ones too, whenever relation and vector came."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.contract.graphs import graph
from trivium.graph.page_graph import RelationEdge
from trivium.graph.protocols import GraphStore
from trivium.graph.records import Vectors
from trivium.types import EmbedderIdentity

PLANE = EmbedderIdentity("plane", "1", 2)
COSINES = {"moon": 0.5, "found by": 0.75, "is_moon_of": -0.25}
MOON = RelationEdge("Mars", "moon", "Phobos")
OF_MARS = RelationEdge("Phobos", "is_moon_of", "Mars")
FOUND = RelationEdge("Phobos", "found by", "Hall")


def at(cosine: float) -> Vectors:
    """A unit vector of that cosine with the first axis."""
    return np.array([cosine, math.sqrt(1 - cosine * cosine)], dtype=np.float32)


def embed(store: GraphStore) -> None:
    """Every text that waits; those without a cosine of their own point along the second axis."""
    texts = list(store.pending_texts())
    if texts:
        store.put_vectors(texts, np.stack([at(COSINES.get(text, 0.0)) for text in texts]))
    store.refresh()


@pytest.fixture
def filled(store: GraphStore) -> GraphStore:
    """Mars has a moon, whose discoverer is not stored yet."""
    store.set_embedder(PLANE)
    store.write([graph("Mars", [("red", ["Phobos", "Hall"])], relations=[("moon", "Phobos")])])
    embed(store)
    return store


def of(store: GraphStore, *relations: RelationEdge) -> list[list[float]]:
    return store.relation_embeddings(relations).tolist()


def test_a_relation_and_its_mirror_have_the_vector_of_the_type(filled: GraphStore) -> None:
    """In the order asked, also twice."""
    moon = at(0.5).tolist()
    assert of(filled, OF_MARS, MOON, OF_MARS) == [moon] * 3


def test_what_is_no_relation_has_none(filled: GraphStore) -> None:
    """Another type, the wrong way round, ends that are not known."""
    wrong = [FOUND, RelationEdge("Phobos", "moon", "Mars"), RelationEdge("Mars", "is_moon_of", "Phobos")]
    found = filled.relation_embeddings([*wrong, RelationEdge("X", "moon", "Y")])
    assert found.shape == (4, 2) and np.isnan(found).all()
    assert filled.relation_embeddings([]).shape == (0, 2)


def test_a_relation_that_comes_later_has_it_at_once_where_the_type_is_known(filled: GraphStore) -> None:
    filled.write([graph("Venus", [("hot", [])], relations=[("moon", "Neith")])])
    later = RelationEdge("Venus", "moon", "Neith")
    assert of(filled, later, RelationEdge("Neith", "is_moon_of", "Venus")) == [at(0.5).tolist()] * 2


def test_a_relation_of_a_new_type_has_it_once_the_type_is_embedded(filled: GraphStore) -> None:
    filled.write([graph("Phobos", [("small", ["Hall"])], relations=[("found by", "Hall")])])
    assert np.isnan(filled.relation_embeddings([FOUND])).all()
    embed(filled)
    mirror = RelationEdge("Hall", "is_found by_of", "Phobos")
    assert of(filled, FOUND, mirror) == [at(0.75).tolist()] * 2
    assert of(filled, MOON) == [at(0.5).tolist()]


def test_relations_that_were_added_have_it_too(filled: GraphStore) -> None:
    """As DBpedia's are."""
    filled.add_relations({"Mars": [FOUND]})
    embed(filled)
    assert of(filled, FOUND) == [at(0.75).tolist()]


def test_another_vector_of_the_type_is_that_of_its_relations(filled: GraphStore) -> None:
    filled.put_vectors(["moon"], np.stack([at(0.25)]))
    filled.refresh()
    assert of(filled, MOON, OF_MARS) == [at(0.25).tolist()] * 2


def test_a_relation_stated_under_the_name_of_a_mirror_has_its_own(filled: GraphStore) -> None:
    """Phobos says itself that it is_moon_of Mars: that is a type like any other, and comes before the mirror."""
    filled.write([graph("Phobos", [("small", ["Mars"])], relations=[("is_moon_of", "Mars")])])
    embed(filled)
    assert of(filled, OF_MARS, MOON) == [at(-0.25).tolist(), at(0.5).tolist()]


def test_it_goes_with_the_relation(filled: GraphStore) -> None:
    filled.write([graph("Mars", [("blue", ["Phobos"])])])
    assert np.isnan(filled.relation_embeddings([MOON, OF_MARS])).all()


def test_a_store_without_vectors_has_none(store: GraphStore) -> None:
    store.write([graph("Mars", [("red", ["Phobos"])], relations=[("moon", "Phobos")])])
    store.refresh()
    assert store.relation_embeddings([MOON]).shape == (1, 0)
