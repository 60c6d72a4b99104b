"""Closeness is the mean of a chunk's cosine and that of its best sentence; vector, walk and diffusion go by it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.memory_store import MemoryStore
from tests.retrievers.world import SOLAR, ask, page, store_of, unit
from trivium.embedding.embedder import quantize_int8
from trivium.graph.records import Passage, SentenceVectors
from trivium.graph.schema import embedding_text
from trivium.graph.stored_vectors import sentence_texts
from trivium.retrievers.chunk_cache import best_sentence, closeness
from trivium.retrievers.diffusion import DiffusionRetriever
from trivium.retrievers.vector_retrievers import VectorRetriever
from trivium.retrievers.walk import WalkRetriever, WalkSettings

COSINES = {"Mars#Moons#chunk-1": 0.5, "Mars#Moons#chunk-2": 0.6, "Earth#chunk-1": 0.4}


def with_sentences(store: MemoryStore, cosines: dict[str, list[float]]) -> MemoryStore:
    """The store, knowing the cosines of the sentences of chunks by their text."""
    passages = list(store.pending_sentences())
    rows = [np.array([unit(c) for c in cosines.get(p.text, ())], np.float32).reshape(-1, 4) for p in passages]
    store.put_sentences(passages, [quantize_int8(each) for each in rows])
    return store


def test_the_best_sentence_of_a_chunk_lifts_it() -> None:
    """(.5 + .9) / 2 passes .6 and its sentences' (.6 + .1) / 2; a chunk without sentences keeps its own .4."""
    store = store_of(SOLAR, COSINES)
    assert [c.uri for c in VectorRetriever().retrieve(ask(store), 2)] == [
        "Mars#Moons#chunk-2",
        "Mars#Moons#chunk-1",
    ]
    with_sentences(store, {"It has two moons.": [0.1, 0.9], "Hall found them.": [0.1, -0.3]})
    found = VectorRetriever().retrieve(ask(store), 3)
    assert [c.uri for c in found] == ["Mars#Moons#chunk-1", "Earth#chunk-1", "Mars#Moons#chunk-2"]
    assert [c.score for c in found] == pytest.approx([0.7, 0.4, 0.35], abs=3e-3)
    assert VectorRetriever().score(ask(store), [c.uri for c in found]).tolist() == [c.score for c in found]


def test_equal_closeness_is_ordered_by_uri() -> None:
    """As everywhere."""
    pages = [page(title, lead=[("text", [])]) for title in "BA"]
    found = VectorRetriever().retrieve(ask(store_of(pages, {"B#chunk-1": 0.5, "A#chunk-1": 0.5})))
    assert [c.uri for c in found] == ["A#chunk-1", "B#chunk-1"]


def test_the_walk_and_the_diffusion_start_from_the_closest() -> None:
    """One seed: the chunk whose sentence is close, not the one whose vector is nearest."""
    store = store_of(SOLAR, COSINES)
    walk = WalkRetriever(WalkSettings(seed_chunks=1, entity_share=0))
    assert walk.retrieve(ask(store), 1)[0].uri == "Mars#Moons#chunk-2"
    with_sentences(store, {"It has two moons.": [0.9]})
    assert walk.retrieve(ask(store), 1)[0].uri == "Mars#Moons#chunk-1"
    assert DiffusionRetriever().retrieve(ask(store), 1)[0].uri == "Mars#Moons#chunk-1"


def test_the_sentences_of_a_chunk_are_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many views and lists have it."""
    store = store_of(SOLAR, COSINES)
    asked: list[str] = []
    read = store.sentence_vectors
    monkeypatch.setattr(store, "sentence_vectors", lambda uris: asked.extend(uris) or read(uris))
    query = ask(store)
    query.closest_chunks(3)
    query.closeness(["Earth#chunk-1", "Earth#Life#chunk-1", "Earth#chunk-1"])
    query.closest_chunks(60)
    assert sorted(asked) == sorted(set(store.chunk_uris()))


def test_what_is_unknown_says_nothing() -> None:
    """No sentences: the chunk's own cosine. No vector of the chunk: no closeness, whatever its sentences say."""
    chunk, sentence = np.array([0.5, 0.5, np.nan]), np.array([0.7, np.nan, 0.7])
    np.testing.assert_allclose(closeness(chunk, sentence), [0.6, 0.5, np.nan])
    none = SentenceVectors(np.zeros((0, 4), np.int8), np.zeros(3, np.int64))
    assert np.isnan(best_sentence(none, unit(1.0))).tolist() == [True, True]


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=6),
    st.integers(0, 2**32 - 1),
    st.sampled_from([4, 384]),
)
def test_the_best_sentence_is_the_highest_cosine(counts: list[int], seed: int, d: int) -> None:
    """Of each chunk by itself, to what eight bits can tell: .01 in four dimensions, less in many."""
    generator = np.random.default_rng(seed)
    rows = generator.standard_normal((sum(counts), d)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True) if len(rows) else 1
    question = generator.standard_normal(d).astype(np.float32)
    question /= np.linalg.norm(question)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    best = best_sentence(SentenceVectors(quantize_int8(rows), starts), question)
    for place, (first, last) in enumerate(pairwise(starts)):
        if first == last:
            assert np.isnan(best[place])
        else:
            assert best[place] == pytest.approx(
                (rows[first:last] @ question).max(), abs=0.01 if d == 4 else 3e-3
            )


def test_cosines_of_sentences_are_as_precise_as_those_of_chunks() -> None:
    """To 1e-14, and the same bits for a chunk by itself as among others: their mean is ranked."""
    generator = np.random.default_rng(3)
    rows = generator.integers(-127, 128, size=(9, 384), dtype=np.int8)
    question = generator.standard_normal(384).astype(np.float32)
    question /= np.linalg.norm(question)
    best = best_sentence(SentenceVectors(rows, np.arange(10)), question)
    exact = [
        float(row.astype(np.longdouble) @ question / np.sqrt((row.astype(np.longdouble) ** 2).sum()))
        for row in rows
    ]
    np.testing.assert_allclose(best, exact, rtol=0, atol=1e-14)
    alone = [best_sentence(SentenceVectors(rows[i : i + 1], np.arange(2)), question)[0] for i in range(9)]
    assert alone == best.tolist()


def test_a_sentence_is_embedded_under_the_headings_of_its_passage() -> None:
    """None where there is one sentence, which is the passage; scraps are left out."""
    assert sentence_texts(Passage(("Mars", "Moons"), "It has two moons. They are small.\n12.")) == [
        "Mars > Moons: It has two moons.",
        "Mars > Moons: They are small.",
    ]
    one = Passage(("Mars",), "It is red.")
    assert sentence_texts(one) == []
    assert embedding_text(one.headings, one.text) == "Mars: It is red."
