"""Graphs among passages, against numbers worked out by hand and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest

from tests.retrievers.world import ask, page, store_of, unit
from trivium.graph.records import TermCounts, TermStatistics
from trivium.retrievers.lexical import tfidf
from trivium.retrievers.passage_graph import centred, passage_graph, shared, strongest, word_vectors


def test_what_all_passages_have_in_common_does_not_join_them_once_centred() -> None:
    """Three vectors that share a large first number: their cosines are all above .9; without the mean the first two
    point the same way and the third the other."""
    vectors = np.array([[1.0, 0.2, 0.0], [1.0, 0.2, 0.0], [1.0, -0.4, 0.0]])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert (vectors @ vectors.T).min() > 0.8
    around = centred(vectors) @ centred(vectors).T
    assert around[0, 1] == pytest.approx(1) and around[0, 2] == pytest.approx(-1)


def test_passages_that_cite_the_same_or_are_of_one_page_are_joined() -> None:
    """Of A cites {Sun, Moon} and is of A: {A, Moon, Sun}; B's {B, Sun}; A's second cites nothing: {A}.
    A1-B: 1 / sqrt(3 * 2); A1-A2: 1 / sqrt(3 * 1); A2-B: nothing."""
    store = store_of(
        [page("A", lead=[("one", ["Sun", "Moon"]), ("two", [])]), page("B", lead=[("three", ["Sun"])])], {}
    )
    graph = passage_graph(ask(store), ["A#chunk-1", "B#chunk-1", "A#chunk-2", "no such"], "links", "cosine")
    expected = np.zeros((4, 4))
    expected[0, 1] = expected[1, 0] = 1 / np.sqrt(6)
    expected[0, 2] = expected[2, 0] = 1 / np.sqrt(3)
    np.testing.assert_allclose(graph, expected)


def test_both_is_the_mean_of_links_and_similarity() -> None:
    texts = {"A#chunk-1": unit(0.6), "A#chunk-2": unit(0.8), "B#chunk-1": unit(0.5, axis=2)}
    store = store_of(
        [page("A", lead=[("one", ["Sun"]), ("two", [])]), page("B", lead=[("three", ["Sun"])])], texts
    )
    query, uris = ask(store), list(texts)
    mean = (
        passage_graph(query, uris, "links", "cosine") + passage_graph(query, uris, "similarity", "cosine")
    ) / 2
    np.testing.assert_allclose(passage_graph(query, uris, "both", "cosine"), mean)
    assert mean[0, 1] == pytest.approx((1 / np.sqrt(2) + 0.6 * 0.8 + 0.8 * 0.6) / 2, abs=1e-6)


def test_words_join_as_scikit_learn_says() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = ["red planet with two moons", "two small moons", "red wine", "nothing alike"]
    store = store_of([page(f"Page {number}", lead=[(text, [])]) for number, text in enumerate(texts)], {})
    query = ask(store)
    uris = [f"Page {number}#chunk-1" for number in range(4)]
    # Theirs adds one to the number of documents too, and takes logarithms of the ratio: idf is given instead.
    documents = [query.analyzer.terms(f"Page {number} {text}") for number, text in enumerate(texts)]
    theirs = TfidfVectorizer(analyzer=lambda terms: terms, smooth_idf=False).fit(documents)
    frequency = {term: sum(term in document for document in documents) for term in theirs.vocabulary_}
    theirs.idf_ = np.array([1 + np.log(4 / (frequency[term] + 1)) for term in sorted(theirs.vocabulary_)])
    rows = theirs.transform(documents).toarray()
    expected = np.maximum(rows @ rows.T, 0) - np.eye(4)
    np.testing.assert_allclose(passage_graph(query, uris, "similarity", "words"), expected, atol=1e-9)


def test_a_threshold_leaves_weak_edges_out_before_the_strongest_are_chosen() -> None:
    weights = np.array([[0, 0.9, 0.5], [0.9, 0, 0.2], [0.5, 0.2, 0]])
    assert strongest(weights, None, 0.5).tolist() == [[0, 0.9, 0.5], [0.9, 0, 0], [0.5, 0, 0]]
    assert strongest(weights, 1, 0.6).tolist() == [[0, 0.9, 0], [0.9, 0, 0], [0, 0, 0]]


def test_texts_without_words_and_empty_sets_have_no_edges() -> None:
    assert word_vectors([["a"], []], {"a": 1.0}).tolist() == [[1.0], [0.0]]
    assert not shared([[], []]).any()


def test_tf_idf_by_hand() -> None:
    """N = 3. The first term is in two chunks: idf = 1 + ln(3/3) = 1; the second in one: 1 + ln(3/2) = 1.4055.
    Chunk 1 has it 4 times in text and none in 4 words: 2/2 * 1. Chunk 2 both once, one of them in its heading, in 16
    words: (1 + 1.4055^2) / 4. Chunk 3 has no words at all."""
    none = np.empty((0, 3))
    counts = TermCounts(
        np.array([[4.0, 0], [1, 0], [0, 0]]),
        np.array([[0.0, 0], [0, 1], [0, 0]]),
        np.array([4.0, 12, 0]),
        np.array([0.0, 4, 0]),
        none,
    )
    scores = tfidf(counts, TermStatistics(chunks=3, mean_length=7.0, document_frequency=np.array([2.0, 1.0])))
    assert scores.tolist() == pytest.approx([1.0, (1 + (1 + np.log(1.5)) ** 2) / 4, 0.0])
