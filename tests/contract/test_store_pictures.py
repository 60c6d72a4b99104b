"""Vectors of pictures: whose they are, what is missing, what is kept and for how long."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.contract.graphs import graph
from trivium.errors import EmbedderMismatchError, StoreError
from trivium.graph.filter_language import parse
from trivium.graph.page_graph import PageGraph
from trivium.graph.protocols import GraphStore
from trivium.graph.records import Vectors
from trivium.types import EmbedderIdentity

PLANE = EmbedderIdentity("plane", "1", 2)
EAST, NORTH = (1.0, 0.0), (0.0, 1.0)


def page(title: str, *pictures: bytes) -> PageGraph:
    """A page whose chunks stand for pictures, or for none where they are empty."""
    made = graph(title, [(f"text {number}", []) for number in range(len(pictures))], source=f"{title}.html")
    chunks = [replace(c, thumbnail=p) for c, p in zip(made.chunks, pictures, strict=True)]
    return replace(made, chunks=tuple(chunks), content_hash=repr((title, pictures)))


def rows(*values: tuple[float, float]) -> Vectors:
    """Vectors of some pictures."""
    return np.array(values, dtype=np.float32).reshape(-1, 2)


@pytest.fixture
def filled(store: GraphStore) -> GraphStore:
    """Three pictures on two pages, all with vectors."""
    store.write([page("B", b"\0b", b""), page("A", b"", b"a1", b"a2")])
    store.set_image_embedder(PLANE)
    store.put_picture_vectors(store.thumbnails(store.pending_pictures()), rows(EAST, NORTH, EAST))
    return store


def test_a_store_without_pictures_has_no_vectors_of_them(store: GraphStore) -> None:
    """And takes none before it has an image embedder."""
    store.write([page("A", b"")])
    assert store.image_embedder is None and store.pending_pictures() == []
    assert store.picture_vectors().uris == ()
    with pytest.raises(StoreError, match="no image embedder yet"):
        store.put_picture_vectors({"A#chunk-1": b""}, rows(EAST))


def test_vectors_come_back_by_uri(filled: GraphStore) -> None:
    """Those of the whole store at once, and within a condition those of chunks that match."""
    assert filled.image_embedder == PLANE and filled.pending_pictures() == []
    found = filled.picture_vectors()
    assert found.uris == ("A#chunk-2", "A#chunk-3", "B#chunk-1")
    assert found.vectors.tolist() == rows(EAST, NORTH, EAST).tolist() and found.vectors.dtype == np.float32
    within = filled.within(parse("source = 'B.html'")).picture_vectors()
    assert (within.uris, within.vectors.tolist()) == (("B#chunk-1",), [list(EAST)])


def test_a_changed_picture_loses_its_vector(filled: GraphStore) -> None:
    """Those of other pages stay; removed ones go."""
    filled.write([page("A", b"", b"other", b"a2"), page("B", b"\0b", b"")])
    assert filled.pending_pictures() == ["A#chunk-2", "A#chunk-3"]
    assert filled.picture_vectors().uris == ("B#chunk-1",)
    filled.delete(["B"])
    assert filled.picture_vectors().uris == ()


def test_a_vector_of_a_picture_that_has_changed_meanwhile_is_left_out(filled: GraphStore) -> None:
    """Unknown chunks, too. What is put again is replaced."""
    read = filled.thumbnails(["A#chunk-2", "B#chunk-1"])
    filled.write([page("A", b"", b"other")])
    filled.put_picture_vectors({**read, "?": b"a1"}, rows(EAST, NORTH, NORTH))
    found = filled.picture_vectors()
    assert (found.uris, found.vectors.tolist()) == (("B#chunk-1",), [list(NORTH)])
    assert filled.pending_pictures() == ["A#chunk-2"]


def test_another_image_embedder_is_refused(filled: GraphStore) -> None:
    """Unless no picture has a vector."""
    with pytest.raises(EmbedderMismatchError, match=r"'plane' \(version 1, 2 dimensions\) and cannot take"):
        filled.set_image_embedder(replace(PLANE, version="2"))
    with pytest.raises(StoreError, match=r"expected vectors of shape \(1, 2\)"):
        filled.put_picture_vectors({"B#chunk-1": b"\0b"}, np.eye(1, 3, dtype=np.float32))
    filled.set_image_embedder(PLANE)
    filled.delete(["A", "B"])
    filled.set_image_embedder(replace(PLANE, version="2"))
    assert filled.image_embedder == replace(PLANE, version="2")
