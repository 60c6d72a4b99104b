"""Approximate search against exact search, in one go and after many small changes."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from tests.contract.graphs import graph
from trivium.graph.arrays import vector_index
from trivium.graph.page_graph import PageGraph
from trivium.graph.records import Vectors, rank_key
from trivium.graph.schema import Hop, Label
from trivium.graph.sqlite import EmbeddedStore
from trivium.types import EmbedderIdentity

DIMENSION = 16
IDENTITY = EmbedderIdentity("clusters", "1", DIMENSION)


def _vectors(count: int, seed: int) -> Vectors:
    """Unit vectors in 20 clusters, as texts of one subject are."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((20, DIMENSION))
    vectors = centres[random.integers(0, 20, count)] + 0.7 * random.standard_normal((count, DIMENSION))
    units: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return units


def _fill(store: EmbeddedStore, seed: int) -> None:
    texts = list(store.pending_texts())
    if texts:
        store.put_vectors(texts, _vectors(len(texts), seed))


def _page(number: int) -> PageGraph:
    return graph(
        f"Page {number}",
        [(f"chunk {i} of {number}", [f"Page {i}", f"Thing {number % 7}"]) for i in range(20)],
    )


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EmbeddedStore:
    """1,000 chunks on 50 pages, all labels indexed."""
    monkeypatch.setenv("TRIVIUM_APPROXIMATE_FROM", "20")
    store = EmbeddedStore.create(tmp_path / "s")
    store.set_embedder(IDENTITY)
    store.write([_page(number) for number in range(50)])
    _fill(store, 1)
    return store


def _recall(store: EmbeddedStore, label: Label, k: int) -> float:
    shares = []
    for question in _vectors(30, 99):
        exact = {n.uri for n in store.nearest([label], question, k, exact=True)}
        found = {n.uri for n in store.nearest([label], question, k)}
        shares.append(len(exact & found) / len(exact))
    return float(np.mean(shares))


def test_approximate_search_finds_what_exact_search_finds(store: EmbeddedStore) -> None:
    """At least 99 % of the ten nearest, with the same scores in the same order."""
    current = store._current()
    assert {label for label in Label if current.scans(label)} == {Label.SUBCHAPTER}
    for label in (Label.CHUNK, Label.PAGE, Label.ENTITY):
        assert _recall(store, label, 10) >= 0.99
    question = _vectors(1, 7)[0]
    found = store.nearest([Label.CHUNK], question, 50)
    assert found == sorted(found, key=lambda n: rank_key(n.score, n.uri))
    scores = {n.uri: n.score for n in store.nearest([Label.CHUNK], question, 1000, exact=True)}
    assert [n.score for n in found] == [scores[n.uri] for n in found]


@pytest.mark.parametrize("dimension", [1, 16, 384])
def test_bytes_keep_the_direction_of_a_vector(dimension: int) -> None:
    """Cosine with the vector above .9999 however long it is and whatever one large number it has, which is 127 or -127;
    what has no direction stays zeros."""
    random = np.random.default_rng(dimension)
    vectors = random.standard_normal((50, dimension)) * np.geomspace(1e-6, 1e6, 50)[:, None]
    codes = vector_index.quantise(vectors.astype(np.float32))
    assert codes.dtype == np.int8
    assert (np.abs(codes.astype(int)).max(axis=1) == 127).all()
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(codes.astype(float), axis=1)
    assert (np.vecdot(vectors, codes.astype(float)) / lengths > 0.9999).all()
    assert not vector_index.quantise(np.zeros((2, dimension), dtype=np.float32)).any()
    outlier = _vectors(1, 3)[0] / 10
    outlier[0] = -1.0
    assert vector_index.quantise(outlier)[0] == -127


def test_exact_search_is_the_sort_of_all_cosines(store: EmbeddedStore) -> None:
    """Whether a label is scanned whole or in blocks."""
    uris = store.chunk_uris()
    vectors = store.vectors(Label.CHUNK, uris).astype(np.float64)
    for question in _vectors(5, 5):
        cosines = vectors @ question.astype(np.float64)
        expected = sorted(zip(cosines, uris, strict=True), key=lambda pair: rank_key(*pair))[:10]
        assert [n.uri for n in store.nearest([Label.CHUNK], question, 10, exact=True)] == [
            uri for _, uri in expected
        ]


def test_an_index_that_grew_and_shrank_still_finds_what_is_there(store: EmbeddedStore) -> None:
    """Pages come and go for several rounds; nothing that went is ever found."""
    for step in range(6):
        store.delete([f"Page {step}", f"Page {step + 20}"])
        store.write([_page(50 + step), graph(f"Page {step + 30}", [("new", [])])])
        _fill(store, 10 + step)
        there = set(store.chunk_uris())
        for question in _vectors(5, step):
            assert {n.uri for n in store.nearest([Label.CHUNK], question, 100)} <= there
        assert _recall(store, Label.CHUNK, 10) >= 0.99
        assert _recall(store, Label.PAGE, 5) >= 0.99


def test_stale_neighbours_do_not_crowd_out_those_that_are_left(store: EmbeddedStore) -> None:
    """All that was nearest goes, few enough that the index is kept: the next ones are found."""
    question = _vectors(1, 3)[0]
    gone = list(dict.fromkeys(n.uri.split("#")[0] for n in store.nearest([Label.CHUNK], question, 4)))[:3]
    store.delete(gone)
    expected = store.nearest([Label.CHUNK], question, 900, exact=True)
    found = store.nearest([Label.CHUNK], question, 900)
    assert len(found) == 900
    assert found[:100] == expected[:100]


def test_the_same_store_gives_the_same_ranking_twice(store: EmbeddedStore, tmp_path: Path) -> None:
    """Two stores filled alike answer alike, approximate search included."""
    with EmbeddedStore.create(tmp_path / "t") as twin:
        twin.set_embedder(IDENTITY)
        twin.write([_page(number) for number in range(50)])
        _fill(twin, 1)
        for question in _vectors(10, 2):
            assert store.nearest([Label.CHUNK], question, 20) == twin.nearest([Label.CHUNK], question, 20)
            assert store.expand_nearest([Label.ENTITY], question, 5, Hop.CITED_IN, 30) == twin.expand_nearest(
                [Label.ENTITY], question, 5, Hop.CITED_IN, 30
            )
        assert store.keyword_search(["chunk", "7"], 30) == twin.keyword_search(["chunk", "7"], 30)


def test_the_first_of_many_reached_chunks_are_the_same_as_of_all(store: EmbeddedStore) -> None:
    """A limit only cuts."""
    for question in _vectors(5, 4):
        everything = store.expand_nearest([Label.ENTITY], question, 5, Hop.CITED_IN, None)
        for limit in (1, 7, 40, 10_000):
            assert (
                store.expand_nearest([Label.ENTITY], question, 5, Hop.CITED_IN, limit) == everything[:limit]
            )


def test_threads_may_read_while_one_writes(store: EmbeddedStore) -> None:
    """Every read sees some committed state, none fails."""
    errors: list[BaseException] = []
    done = threading.Event()

    def read(seed: int) -> None:
        try:
            while not done.is_set():
                question = _vectors(1, seed)[0]
                uris = [n.uri for n in store.nearest([Label.CHUNK], question, 10)]
                assert len(uris) == 10
                store.similarities(question, uris)
                store.keyword_search(["chunk"], 5)
                assert store.info().nodes["Page"] >= 50
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for number in range(50, 54):
        store.write([_page(number)])
        _fill(store, number)
    done.set()
    for thread in threads:
        thread.join()
    assert errors == []


def test_an_answer_does_not_depend_on_what_was_asked_before(store: EmbeddedStore) -> None:
    """A wider search of the same question finds more, and leaves the narrower one as it was."""
    for question in _vectors(20, 4):
        first = store.nearest([Label.CHUNK], question, 50)
        assert len(store.nearest([Label.CHUNK], question, 800)) == 800
        assert store.nearest([Label.CHUNK], question, 50) == first


def test_a_node_that_is_back_without_a_vector_is_not_found(store: EmbeddedStore) -> None:
    """An entity becomes a redirect and, when its page goes, an entity again whose vector is gone."""
    store.refresh()
    store.write([graph("Host", [("text", [])])])
    store.add_aliases({"Host": ["Thing 3"]})
    _fill(store, 2)
    store.refresh()
    store.delete(["Host"])
    for question in _vectors(5, 6):
        found = store.nearest([Label.ENTITY], question, 400)
        assert not any(np.isnan(node.score) for node in found)
        assert len(store.nearest([Label.ENTITY], question, 5)) == 5
