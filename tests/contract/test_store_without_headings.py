"""Chunks embedded without their headings: the same in every store."""

from __future__ import annotations

import numpy as np
import pytest

from tests.contract.graphs import graph
from trivium.embedding.store_embedder import StoreEmbedder
from trivium.errors import EmbedderMismatchError
from trivium.graph.protocols import GraphStore
from trivium.graph.schema import Label
from trivium.index.indexer import Indexer
from trivium.testing import HashEmbedder
from trivium.types import EmbedderIdentity

SAID = "It has two. They are small."


def indexer(store: GraphStore) -> Indexer:
    """What fills the store."""
    return Indexer(store, StoreEmbedder(store, HashEmbedder()))


def test_the_vector_of_a_chunk_is_that_of_its_text_alone(store: GraphStore) -> None:
    """Chunks that say the same under different headings have one vector; the page, the section and what is cited have
    theirs. Sentences are embedded without headings, too."""
    store.write(
        [graph("Mars", [("red", ["Sun"])], {"Moons": [(SAID, [])]}), graph("Venus", [(SAID, [])])],
        "blocks",
    )
    filler = indexer(store)
    assert filler.embed(headings=False) == 7
    assert filler.embed_sentences() == 4
    store.refresh()
    assert store.embedder == EmbedderIdentity("hash", "1+no-headings", 64)
    assert not store.pending_texts() and not store.pending_sentences()
    red, said, mars, section, sun = HashEmbedder().embed(["red", SAID, "Mars", "Mars#Moons", "Sun"])
    chunks = store.vectors(Label.CHUNK, ["Mars#chunk-1", "Mars#Moons#chunk-1", "Venus#chunk-1"])
    assert np.array_equal(chunks, [red, said, said])
    assert np.array_equal(store.vectors(Label.ENTITY, ["Mars", "Sun"]), [mars, sun])
    assert np.array_equal(store.vectors(Label.SUBCHAPTER, ["Mars#Moons"]), [section])
    both = store.sentence_vectors(["Mars#Moons#chunk-1", "Venus#chunk-1"]).codes
    assert np.array_equal(both[:2], both[2:])
    assert store.checker().check() == []


def test_a_store_keeps_to_it(store: GraphStore) -> None:
    """A page that comes later is embedded so by itself, and only what is new is; with headings is refused."""
    store.write([graph("Mars", [("red", [])])])
    indexer(store).embed(headings=False)
    store.write([graph("Venus", [("white", [])])])
    assert indexer(store).embed() == 2
    assert np.array_equal(store.vectors(Label.CHUNK, ["Venus#chunk-1"]), HashEmbedder().embed(["white"]))


def test_a_store_with_headings_keeps_to_them(store: GraphStore) -> None:
    """It is refused before anything is embedded."""
    store.write([graph("Mars", [("red", [])])])
    indexer(store).embed()
    with pytest.raises(EmbedderMismatchError, match="with headings"):
        indexer(store).embed(headings=False)
    assert store.embedder == EmbedderIdentity("hash", "1", 64)
